// Reports to open in the browser, as JSON (the same that `assay report` writes): one of a campaign that
// passed, one of a campaign that failed, one with a finding of 5,000 steps, one whose texts are hostile
// and one that holds next to nothing. Schedules, clauses, faults and sabotages come from the program
// itself; what a report counts beyond that is made up, from hashes, so that it is always the same.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const LONG = 5000;
export const SEED = '18446744073709551615'; // a number in the data: browser.mjs takes its quotes away
const BREACH_STEP = 14;

export function makeFixtures(assay, folder) {
    const program = (...args) => run(assay, args);
    const finding = realFinding(program, folder);
    const passing = passingReport(program);
    return {
        passing,
        failing: failingReport(passing, [finding, crashFinding(program, folder), { ...finding, name: 'no-schedule', schedules: {}, count: null }]),
        long: failingReport(passing, [longFinding(program)]),
        hostile: hostileReport(passing, finding),
        bare: { version: 1 },
    };
}

// A broken promise gives status 1, which is what is wanted of it.
function run(assay, args) {
    try {
        return execFileSync(assay, args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
    } catch (error) {
        if (error.status === 1) return error.stdout;
        throw error;
    }
}

const jsonLines = (text) => text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));

/** A number from a text, below `limit`: the same always. */
function made(text, limit) {
    let hash = 2166136261;
    for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0), 16777619) >>> 0;
    return hash % limit;
}

// ---- traces -----------------------------------------------------------------------------------------

/** Events as `assay run --trace --json` prints them, as a trace of the report. */
function traceOf(program, events, breach = null) {
    const lanes = [...new Set(['client', 'worker 1', 'worker 2', ...events.map((event) => event.actor), 'the world'])]
        .filter((name) => name !== 'the world').concat('the world');
    const messages = messageBook();
    const trace = { lanes, messages: messages.list, events: [] };
    for (const event of events) trace.events.push(eventOf(event, lanes, messages));
    if (breach) trace.events.at(-1).breach = breach;
    return packed(program, trace);
}

/** A trace as finding.json has it: each text once, no member that is null, and for each kind of ledger what its digits mean. */
function packed(program, trace) {
    const places = new Map();
    const ledgers = {};
    const place = (text) => {
        if (!places.has(text)) places.set(text, places.size);
        return places.get(text);
    };
    const isThere = ([, value]) => value !== null && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0);
    const events = trace.events.map((event) => ({ ...Object.fromEntries(Object.entries(event).filter(isThere)), what: place(event.what), told: place(event.told),
        changes: event.changes.map((change) => {
            if (change.as) for (const value of [change.before, change.after]) noteMeanings(program, ledgers, change.as, value);
            return { ...change, row: place(change.row) };
        }) }));
    return { steps: events.length, lanes: trace.lanes, messages: trace.messages, texts: [...places.keys()], ledgers, events };
}

function noteMeanings(program, ledgers, as, value) {
    for (const [index, field] of reading(program, value, as).entries()) {
        ledgers[as] ??= [];
        ledgers[as][index] ??= { name: field.name, from: field.digit - 1, length: field.digits.length, meanings: {} };
        ledgers[as][index].meanings[field.digits] = field.meaning;
    }
}

function eventOf(event, lanes, messages) {
    const what = event.what;
    const outcome = outcomeOf(event);
    const isCrash = /^dies/.test(event.outcome) || /^crash/.test(event.fault ?? '');
    const subject = /^(?:claim|ack) (.*)$/.exec(what)?.[1];
    return {
        step: event.step, now: event.now, lane: lanes.indexOf(event.actor), turn: turnOf(event, isCrash), what,
        fault: event.fault ?? null, outcome, told: event.outcome, committed: event.committed, crashed: isCrash,
        claims: what.startsWith('claim') && event.committed ? messages.known(subject) : null,
        acks: what.startsWith('ack') && event.committed ? messages.known(subject) : null,
        publishes: publishedBy(event).map((name) => messages.add(name)),
        changes: changesOf(event), breach: null,
    };
}

function turnOf(event, isCrash) {
    if (event.actor === 'the world') return /faults stop/.test(event.what) ? 'settle' : 'environment';
    if (/held up/.test(event.outcome)) return 'stops';
    if (/^waits/.test(event.outcome)) return 'waits';
    if (/stops for|paused/.test(`${event.what} ${event.outcome}`) || event.fault === 'pause') return 'pause';
    return isCrash && /before it/.test(event.outcome) ? 'crash' : 'transaction';
}

function outcomeOf(event) {
    if (/^unknown/.test(event.fault ?? '')) return 'unknown';
    if (/^committed/.test(event.outcome)) return 'committed';
    if (/refused/.test(event.outcome)) return 'refused';
    return /^(40|53|08|connection)/.test(event.fault ?? '') ? 'aborted' : null;
}

function publishedBy(event) {
    const twice = /^(.*): delivered twice/.exec(event.what)?.[1];
    if (twice) return [`${twice} (copy)`];
    const list = /published ([^;]*)/.exec(event.changed)?.[1];
    return list ? list.split(', ').map((name) => (name.includes(' of ') ? name : `Leg1 of ${name}`)) : [];
}

/** Messages by name; of two with one name the later is meant. */
function messageBook() {
    const list = [];
    const latest = new Map();
    const add = (name) => {
        latest.set(name, list.length);
        list.push({ id: list.length, name });
        return list.length - 1;
    };
    return { list, add, known: (name) => latest.get(name) ?? add(name) };
}

function changesOf(event) {
    const subject = / of (.*?)(?: \(copy\))?$/.exec(event.what)?.[1] ?? '';
    return [...event.changed.matchAll(/(job semaphore|[\w-]+) (\S+) -> (\S+?)(?=[;,]|$)/g)].map(([, name, before, after]) => {
        const isLedger = /^\d{15}$/.test(after);
        const row = name === 'GUID' ? `GUID ledger of ${subject}` : isLedger ? `activity ledger of ${name}` : name;
        const as = name === 'GUID' ? 'guid' : 'activity';
        return { row, column: isLedger ? 'ledger' : 'value', before, after, ...(isLedger && /^\d{15}$/.test(before) ? { as } : {}) };
    });
}

const readings = new Map(); // a ledger is decoded once
function reading(program, value, as) {
    const key = `${value} ${as}`;
    if (!readings.has(key)) readings.set(key, JSON.parse(program('decode', value, '--as', as, '--json')).parts[0].fields);
    return readings.get(key);
}

// ---- findings ---------------------------------------------------------------------------------------

/** The finding that README.md begins with: full, shrunk, and shrunk without its duplicate. */
function realFinding(program, folder) {
    const [full, shrunk, passing] = ['full', 'shrunk', 'passing'].map((name) => join(folder, `${name}.schedule.json`));
    const reproduce = ['run', 'tree-3', '--seed', '2', '--sabotage', 'trust-stale-read'];
    program(...reproduce, '--schedule', full);
    program('shrink', full, '--to', shrunk);
    const schedule = JSON.parse(readFileSync(shrunk, 'utf8'));
    schedule.choices = schedule.choices.filter(([kind]) => kind !== 'fault');
    writeFileSync(passing, JSON.stringify(schedule));
    const replayed = (file, ...more) => jsonLines(program('replay', file, '--trace', '--json', ...more)).filter((line) => line.type === 'event');
    return {
        name: 'tree-3-ACL-16-ledger', clause: 'ACL-16', scenario: 'tree-3', seed: 2, count: 3, parts_at: 9, reproduce: `assay ${reproduce.join(' ')}`,
        sentence: "Leg2's work was done more than once: at step 15, with Step 1 of trigger by worker 2, the GUID ledger of trigger went from 000010000000002 to 000020000000002.",
        clause_text: "Step 1: work, GUID +10B and the activity's work-done marker commit together, exactly once per GUID",
        schedules: { shrunk: traceOf(program, replayed(shrunk), 'ACL-16'), full: traceOf(program, replayed(full), 'ACL-16'),
            passing: traceOf(program, replayed(passing, '--edited')) },
    };
}

/** A run with crashes, lost answers and transactions that are held up, told as if its end broke a promise. */
function crashFinding(program) {
    const seeds = Array.from({ length: 60 }, (_, index) => index + 1);
    const runs = seeds.map((seed) => jsonLines(program('run', 'tree-7', '--seed', String(seed), '--trace', '--json')).filter((line) => line.type === 'event'));
    const kinds = (events) => new Set(events.map((event) => event.fault ?? (/held up/.test(event.outcome) ? 'held up' : /^waits/.test(event.outcome) ? 'waits' : null))).size;
    const richest = runs.reduce((best, events) => (kinds(events) > kinds(best) ? events : best));
    const trace = traceOf(program, richest, 'ACL-33');
    return { name: 'tree-7-ACL-33-data', clause: 'ACL-33', scenario: 'tree-7', seed: runs.indexOf(richest) + 1, count: 1, parts_at: null,
        reproduce: `assay run tree-7 --seed ${runs.indexOf(richest) + 1}`, sentence: 'A committed step is gone: what was made up for this test.',
        clause_text: 'What was committed stays committed', schedules: { full: trace }, left_out: [
            { schedule: 'shrunk', why: 'it was not made smaller' }, { schedule: 'passing', steps: 70, why: 'the page would have grown too large', file: 'findings/tree-7-ACL-33-data/finding.json' }] };
}

/** 5,000 events: runs of twenty jobs, one after the other. */
function longFinding(program) {
    const events = [];
    for (let seed = 1; events.length < LONG; seed += 1) {
        const more = jsonLines(program('run', 'jobs-20', '--seed', String(seed), '--trace', '--json')).filter((line) => line.type === 'event');
        events.push(...more.map((event) => ({ ...event, what: event.what.replace('faults stop; every worker starts anew', 'the next run') })));
    }
    events.length = LONG;
    events.forEach((event, index) => { event.step = index + 1; });
    return { name: 'long', clause: 'ACL-21', scenario: 'jobs-20', seed: 1, count: 1, parts_at: null, reproduce: 'assay run jobs-20 --seed 1',
        sentence: 'Five thousand steps and a promise that breaks at the end.', clause_text: 'made up', schedules: { shrunk: traceOf(program, events, 'ACL-21'), full: null, passing: null } };
}

// ---- reports ----------------------------------------------------------------------------------------

function passingReport(program) {
    const campaign = jsonLines(program('campaign', 'tree-3', 'tree-7', 'cycle', 'pending', '--seeds', '500', '--no-gates', '--json'));
    const summary = campaign.find((line) => line.type === 'summary');
    const scenarios = campaign.filter((line) => line.type === 'scenario');
    return {
        version: 1, title: 'campaign of 4 scenarios', made: '2026-11-16T15:00:00Z', verdict: { status: 0, words: 'every promise held' },
        provenance: { assay: '0.2.0', commit: 'bce0c62f2ab94a6ce76c0b7d9c01b3a8b9ed3f54', dirty: false, compiler: 'gcc 12.2.0', flags: '-O3 -g -std=c17',
            clauses_hash: '6a1f09c2d4e85b7f', errata_hash: '9b3d52e7a0c14f68', binary_hash: '1de4b07a93c25f86', system: 'Linux 6.1 x86_64', postgresql: '15.18 (Debian 15.18-0+deb12u1)',
            jobs: summary.jobs, versions: { choice: 2, schedule: 1 }, commands: [
                { command: 'assay campaign tree-3 tree-7 cycle pending --seeds 500 --out results', base_seed: 1, seeds: 2000, seed: null, runs: 2000, sabotage: null, status: 0 },
                { command: 'assay sweep tree-3 --seed 7', base_seed: null, seeds: null, seed: '7', runs: 115, sabotage: null, status: null }] },
        runs: scenarios.map((line) => ({ kind: 'campaign', scenario: line.scenario, seeds: 500, runs: line.runs, steps: line.steps,
            seconds: line.runs / 10000, findings: line.findings, digest: line.digest, status: 'held', sabotage: null }))
            .concat({ kind: 'real', scenario: 'tree-7', seeds: 20, runs: 20, steps: null, seconds: 14.2, findings: 0, digest: null, status: 0, sabotage: null }),
        clauses: clauseRows(program), faults: faultRows(program, scenarios), points: pointMaps(program), machines: machineMaps(), kills: killRows(program),
        bound: { seeds: 205000, words: '0 findings in 205,000 seeds of 4 scenarios, 51,250 of tree-3 and no fewer of any other. With 95% confidence, no bug is left that shows in more than 1 of 17,083 seeds of its scenario. Rarer ones may be' },
        throughput: [{ name: 'simulated steps', value: 468343, unit: 'steps/s', ratio: 41.5, against: 'SPIN, same model' },
            { name: 'seeds', value: 10314, unit: 'seeds/s', ratio: null, against: null },
            { name: 'Step 2 on PostgreSQL', value: 3120, unit: 'transactions/s', ratio: 0.84, against: 'pgbench, same server' }],
        coverage: { lines: 98.2, branches: 95, link: 'coverage/index.html' }, findings: [],
    };
}

function clauseRows(program) {
    const judged = new Set(jsonLines(program('list', 'promises', '--json')).map((line) => line.id));
    const rows = jsonLines(program('list', 'clauses', '--json')).map((line) => ({ id: line.id, kind: line.kind, family: line.id.split('-')[0],
        text: line.promise, sim: judged.has(line.id) ? made(line.id, 90000) : null, real: judged.has(line.id) ? made(`${line.id} real`, 40) : null,
        status: judged.has(line.id) ? 'held' : 'elsewhere', sabotages: judged.has(line.id) ? made(`${line.id} kills`, 30) : null }));
    // As many as five specifications and their errata have, so that the table is as long as it will be.
    for (const family of ['EXT', 'OPS']) {
        for (let number = 1; rows.length < 341 && number <= 113; number += 1) {
            rows.push({ id: `${family}-${number}`, kind: 'path', family, text: `A promise that was made up for a long table, number ${number}`,
                sim: made(`${family}${number}`, 500), real: null, status: number % 40 === 0 ? 'not shown' : 'held', sabotages: 0 });
        }
    }
    return rows.map((row) => (row.status === 'not shown' ? { ...row, sim: 0 } : row));
}

function faultRows(program, scenarios) {
    return jsonLines(program('list', 'faults', '--json')).map((line) => ({ kind: line.name, group: line.group,
        sim: scenarios.reduce((all, scenario) => all + (scenario.fired[line.name] ?? 0), 0), real: line.group === 'crash' ? made(line.name, 80) : null }));
}

/** The table of a sweep, and made-up figures for PostgreSQL. */
function pointMaps(program) {
    const table = (depth) => program('sweep', 'tree-3', '--seed', '1', '--depth', String(depth)).split('\n').slice(1)
        .map((line) => /^(\S.*?)\s+(\d+)\s+(\d+)\s+(\d+)$/.exec(line)).filter(Boolean);
    const [first, second] = [table(1), table(2)];
    const sides = ['before begin', 'before commit', 'after commit'];
    const phases = second.map((row) => row[1]);
    const cells = [[1, first], [2, second]].flatMap(([depth, rows]) => rows.flatMap((row) => sides.map((_, side) => ({ phase: phases.indexOf(row[1]), side, depth,
        sim: Number(row[2 + side]), real: depth === 1 ? made(`${row[1]} ${side}`, 14) : null }))));
    return [{ protocol: 'activity', phases, sides, depths: [1, 2], cells }];
}

function machineMaps() {
    const rows = ['UNSEEN', 'DISPATCHED', 'IN_FLIGHT', 'RETRY_WAIT', 'CANCELLING', 'DONE', 'FAILED', 'HALTED'];
    const columns = ['dispatch', 'take', 'heartbeat', 'result', 'lapse', 'retry', 'cancel', 'illegal'];
    const cell = (row, column) => (made(`${row}/${column}`, 3) === 0 ? false : made(`${row}|${column}`, 12) === 0 ? 0 : made(`${column}.${row}`, 20000) + 1);
    const kinds = rows.map((_, row) => columns.map((__, column) => (column === 7 ? 'refused' : row === 7 ? 'same' : 'move')));
    return [{ name: 'seq', corner: 'from', kinds, seen: { move: 'transitions seen', refused: 'illegal pairs refused' }, rows, columns, cells: rows.map((row) => columns.map((column) => cell(row, column))) },
        { name: 'two-leg activity', rows: rows.slice(0, 4), columns: columns.slice(0, 5), cells: rows.slice(0, 4).map((row) => columns.slice(0, 5).map((column) => made(row + column, 700) + 1)) },
        { name: 'not run', rows: rows.slice(0, 2), columns: columns.slice(0, 2), cells: [[null, false], [false, null]] }];
}

function killRows(program) {
    const clauses = ['ACL-2', 'ACL-16', 'ACL-17', 'ACL-21', 'ACL-29', 'ACL-30', 'ACL-32', 'SEQ-8', 'CUT-9', 'LEG-10'];
    const named = jsonLines(program('list', 'sabotages', '--json'));
    const enumerated = Array.from({ length: Math.max(0, 800 - named.length) }, (_, number) => ({ name: `activity-step2-drop-guard-${number}`, scenario: 'tree-3',
        about: 'a guard of the bundle is left out', equivalent: number % 5 === 0 ? 'another guard refuses the same' : null }));
    return [...named, ...enumerated].map((line) => {
        const median = Math.max(1, Math.round(10 ** (made(line.name, 3500) / 1000) / 4));
        return line.equivalent ? { sabotage: line.name, clause: null, oracle: null, scenario: line.scenario, tries: 1, found: 0, median: null, most: null, status: 'equivalent', why: line.equivalent }
            : { sabotage: line.name, clause: clauses[made(line.name, clauses.length)], oracle: ['ledger', 'semaphore', 'data'][made(line.name, 3)], scenario: line.scenario,
                tries: 5, found: 5, median, most: median * 3, status: 'found', why: line.about };
    });
}

function failingReport(passing, findings) {
    const broken = new Set(findings.map((finding) => finding.clause));
    return { ...passing, title: 'campaign of 4 scenarios, sabotage trust-stale-read', verdict: { status: 1, words: `${findings.length === 1 ? 'a promise was' : 'promises were'} broken` },
        clauses: passing.clauses.map((clause) => (broken.has(clause.id) ? { ...clause, status: 'broken' } : clause)), bound: null, coverage: null,
        provenance: { ...passing.provenance, dirty: true }, runs: passing.runs.map((row, index) => (index === 0 ? { ...row, findings: findings.length, status: 'broken', sabotage: 'trust-stale-read' } : row)), findings };
}

/** The report that the program itself makes of a small campaign; null: this one makes none. */
export function programReport(assay, folder, name, ...args) {
    const out = join(folder, name);
    run(assay, [...args, '--out', out]);
    return existsSync(join(out, 'report.html')) ? readFileSync(join(out, 'report.html'), 'utf8') : null;
}

/** Texts that would be markup if they were not kept from it, and links that would leave the disk. */
function hostileReport(passing, finding) {
    const evil = '</script><script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'"><!-- <script>';
    const report = structuredClone(failingReport(passing, [finding]));
    report.title = evil;
    report.verdict.words = evil;
    report.clauses[0].text = evil;
    report.clauses[1].family = '__proto__';
    report.kills[0].why = evil;
    Object.assign(report.provenance.commands[0], { command: evil, base_seed: SEED });
    report.coverage = { lines: 1, branches: null, link: 'javascript:document.title="owned"' };
    Object.assign(report.findings[0], { name: `a&b=c#${evil}`, sentence: evil, reproduce: evil, sabotage: evil,
        left_out: [{ schedule: evil, why: evil, file: evil }] });
    const { shrunk } = report.findings[0].schedules;
    shrunk.events.at(-1).what = shrunk.texts.push(evil) - 1;
    shrunk.events[5].what = 4711; // a text that there is not
    report.findings[0].schedules.shrunk.events[3].lane = 77; // a lane that there is not
    report.findings[0].schedules.shrunk.events[4].claims = 4711; // and a message
    return report;
}

export { BREACH_STEP };
