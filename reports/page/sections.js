// ---- sections.js: what was found, what was put to the test, and how to repeat it --------------------

// The program's exit status: how it is called, and its look. What stands in the look is also said in words.
const VERDICTS = {
    0: { look: 'held', glyph: 'held', words: 'every promise held' },
    1: { look: 'broken', glyph: 'broken', words: 'a promise was broken' },
    2: { look: 'broken', glyph: 'broken', words: 'it stopped, and no promise covers that' },
    3: { look: 'broken', glyph: 'broken', words: 'not deterministic' },
    4: { look: 'open', glyph: 'open', words: 'incomplete' },
};
const NO_VERDICT = { look: 'open', glyph: 'open', words: 'no verdict' };

// How a clause, a run or a planted bug stands.
const STATUSES = {
    held: { look: 'held', glyph: 'held' },
    found: { look: 'held', glyph: 'held' },
    broken: { look: 'broken', glyph: 'broken' },
    survived: { look: 'broken', glyph: 'broken' },
    'not shown': { look: 'open', glyph: 'open' },
    'broken, as expected': { look: 'held', glyph: 'held' },
    elsewhere: { look: 'quiet', glyph: 'elsewhere' },
    equivalent: { look: 'quiet', glyph: 'elsewhere' },
};

function status(word) {
    if (isMissing(word)) return notMeasured();
    const known = STATUSES[word] ?? { look: 'quiet', glyph: 'open' };
    return element('span', { class: `status ${known.look}` }, glyph(known.glyph), word);
}

function sum(rows, key) {
    const measured = rows.map((row) => row[key]).filter((value) => !isMissing(value));
    return measured.length === 0 ? null : measured.reduce((total, value) => total + value, 0);
}

const countOf = (rows, isCounted) => rows.filter(isCounted).length;
const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

const WORLDS = [['sim', 'Simulation'], ['real', 'PostgreSQL']];

// ---- verdict ----------------------------------------------------------------------------------------

function verdictSection(data) {
    const verdict = data.verdict ?? {};
    const known = VERDICTS[verdict.status] ?? NO_VERDICT;
    const words = verdictWords(data);
    const look = isPlantedOnly(data) && known.look === 'broken' ? 'planted-only' : known.look;
    return element('section', { id: 'verdict', class: `verdict ${look}`, 'aria-labelledby': 'verdict-title' },
        element('p', { class: 'overline' }, data.title ?? 'Assay', madeOn(data.made)),
        element('h1', { id: 'verdict-title' }, glyph(known.glyph), capital(words)),
        plantedNotice(data),
        isMissing(verdict.status) ? null
            : element('p', { class: 'aside' }, `Exit status ${verdict.status}${words === known.words ? '' : `: ${verdict.outcome ?? known.words}`}.`),
        reasonsOf(verdict),
        element('ul', { class: 'tiles' }, tiles(data)),
        boundOf(data.bound));
}

/** The bugs that runs and findings of this report had planted, each once. */
function plantedNames(data) {
    return [...new Set([...listOf(data.runs), ...listOf(data.findings)].map((row) => row.sabotage).filter((name) => !isMissing(name)))];
}

const isEveryRunPlanted = (data) => listOf(data.runs).every((row) => !isMissing(row.sabotage) || isMissing(row.scenario));

/** What breaks only where a bug was planted is no finding about the protocol. */
function isPlantedOnly(data) {
    const findings = listOf(data.findings);
    return plantedNames(data).length > 0 && (findings.length > 0 || isEveryRunPlanted(data)) && findings.every((finding) => !isMissing(finding.sabotage));
}

/** The program's words: every reason, the worst first, a planted bug by its name. */
function verdictWords(data) {
    return data.verdict?.words ?? (VERDICTS[data.verdict?.status] ?? NO_VERDICT).words;
}

/** All reasons, where the headline has room for a few only. */
function reasonsOf(verdict) {
    const reasons = listOf(verdict.reasons);
    if (reasons.length === 0) return null;
    return element('ul', { class: 'reasons' }, reasons.map((reason) => element('li', {}, reason.text,
        reason.status === 0 ? null : element('small', {}, ` (status ${reason.status})`))));
}

const plantedWords = (name) => ['The bug ', element('code', {}, name), ' was planted on purpose: this shows that the checks find it, not that the protocol has it.'];

function plantedNotice(data) {
    const names = plantedNames(data);
    if (names.length === 0) return null;
    const real = countOf(listOf(data.findings), (finding) => isMissing(finding.sabotage));
    const planted = listOf(data.findings).length - real;
    const list = names.flatMap((name, index) => [index > 0 ? ', ' : null, element('code', {}, name)]);
    const runs = `${isEveryRunPlanted(data) ? 'Every run' : 'Some runs'} had a bug planted on purpose`;
    if (planted + real === 0) return element('p', { class: 'planted' }, `${runs}, to see whether the checks find it: `, list, '.');
    return element('p', { class: 'planted' }, `${runs}: `, list,
        `. ${counted(planted, 'finding')} ${planted === 1 ? 'is of it and shows' : 'are of planted bugs and show'} that the checks find ${planted === 1 ? 'it' : 'them'}, not that the protocol has a bug; `,
        element('strong', {}, real === 0 ? 'none is real' : `${counted(real, 'finding')} ${real === 1 ? 'is' : 'are'} real`), '.');
}

function madeOn(made) {
    if (isMissing(made)) return null;
    return element('time', { datetime: made }, made.replace('T', ' ').replace(/:\d\dZ$/, ' UTC').replace('Z', ' UTC'));
}

function boundOf(bound) {
    return isMissing(bound) || isMissing(bound.words) ? null : element('p', { class: 'bound' }, bound.words);
}

/** A figure that people look for, with what is missing from it, and where the rest of it stands. */
function tile(place, label, value, note, isOpen = false) {
    return element('li', {}, element('a', { href: `#${place}`, class: isOpen ? 'tile open' : 'tile' },
        element('span', { class: 'label' }, label), element('span', { class: 'value' }, value),
        element('span', { class: 'note' }, isOpen ? glyph('open') : null, note)));
}

function tiles(data) {
    return [findingsTile(data), runsTile(data), promisesTile(data), faultsTile(data), ...WORLDS.map((world) => pointsTile(data, world)),
        machinesTile(data), killsTile(data)];
}

function findingsTile(data) {
    if (isMissing(data.findings)) return tile('findings', 'Findings', notMeasured(), 'not recorded here');
    const all = listOf(data.findings);
    const findings = all.filter((finding) => finding.kind !== 'expected');
    const runs = sum(findings, 'count');
    const expected = all.length - findings.length;
    return tile('findings', 'Findings', formatNumber(findings.length),
        findings.length === 0 ? (expected === 0 ? 'nothing was broken' : `${formatNumber(expected)} where a scenario is there to make them`) : runs === null ? 'see below' : `in ${counted(runs, 'run')}`,
        findings.length > 0);
}

function runsTile(data) {
    const runs = sum(listOf(data.runs), 'runs');
    const steps = sum(listOf(data.runs), 'steps');
    return tile('runs', 'Runs', figure(runs), steps === null ? 'steps were not counted' : counted(steps, 'step'));
}

function promisesTile(data) {
    const clauses = listOf(data.clauses);
    if (clauses.length === 0) return tile('promises', 'Promises held', notMeasured(), 'not judged here');
    const held = countOf(clauses, (clause) => clause.status === 'held');
    const broken = countOf(clauses, (clause) => clause.status === 'broken');
    const open = countOf(clauses, (clause) => clause.status === 'not shown');
    const expected = countOf(clauses, (clause) => clause.status === 'broken, as expected');
    const note = [broken && `${broken} broken`, expected && `${expected} broken as expected`, open && `${open} not shown`].filter(Boolean).join(', ');
    return tile('promises', 'Promises held', share(held, clauses.length), note || 'nothing unchecked', note !== '');
}

function share(part, whole) {
    return [formatNumber(part), element('small', {}, ` of ${formatNumber(whole)}`)];
}

function firedIn(fault) {
    return (fault.sim ?? 0) + (fault.real ?? 0);
}

function faultsTile(data) {
    const faults = listOf(data.faults);
    if (faults.length === 0) return tile('faults', 'Fault kinds fired', notMeasured(), 'not counted here');
    const fired = countOf(faults, (fault) => firedIn(fault) > 0);
    return tile('faults', 'Fault kinds fired', share(fired, faults.length),
        fired === faults.length ? `${formatNumber(faults.reduce((all, fault) => all + firedIn(fault), 0))} faults`
            : `${faults.length - fired} never occurred`, fired < faults.length);
}

function coverageTile(place, label, cells, none) {
    if (cells.length === 0) return tile(place, label, notMeasured(), 'not counted here');
    const met = countOf(cells, (cell) => cell > 0);
    return tile(place, label, share(met, cells.length),
        met === cells.length ? none.all : `${formatNumber(cells.length - met)} ${none.some}`, met < cells.length);
}

/** A tile a world: what was met in one of them says nothing of the other. */
function pointsTile(data, [key, title]) {
    const cells = listOf(data.points).flatMap((points) => listOf(points.cells)).map((cell) => cell[key]).filter((cell) => !isMissing(cell));
    return coverageTile('points', `Crash points, ${title === 'PostgreSQL' ? title : title.toLowerCase()}`, cells, { all: 'a crash at each', some: 'never crashed there' });
}

function machinesTile(data) {
    const cells = listOf(data.machines).flatMap((machine) => listOf(machine.cells).flat())
        .filter((cell) => Number.isInteger(cell));
    return coverageTile('machines', 'States × events', cells, { all: 'every pair was seen', some: 'not seen' });
}

function killsTile(data) {
    const kills = listOf(data.kills);
    if (kills.length === 0) return tile('kills', 'Planted bugs found', notMeasured(), plantedNames(data).length > 0 ? 'see the verdict' : 'none was hunted here');
    const found = countOf(kills, (kill) => kill.status === 'found');
    const equivalent = countOf(kills, (kill) => kill.status === 'equivalent');
    const notShown = countOf(kills, (kill) => kill.status === 'not shown');
    const survived = countOf(kills, (kill) => kill.status === 'survived');
    return tile('kills', 'Planted bugs found', share(found, Math.max(data.kills_of ?? 0, kills.length) - equivalent - notShown),
        survived > 0 ? `${survived} survived`
            : `and ${equivalent} equivalent${notShown > 0 ? `, ${notShown} not shown` : ''}`, survived > 0);
}

// ---- runs -------------------------------------------------------------------------------------------

function runsSection(data) {
    const rows = listOf(data.runs);
    if (rows.length === 0) return section('runs', 'Runs', notice('No runs were recorded in this report.'));
    const number = (title, key) => ({ title, number: true, cell: (row) => figure(row[key]), by: (row) => row[key] });
    return section('runs', 'Runs', table({
        label: 'Runs', name: ['entry', 'entries'], rows, columns: [
            { title: 'Scenario', cell: (row) => [textOr(row.scenario, 'all'), plantedIn(row)], by: (row) => row.scenario ?? '' },
            { title: 'Kind', cell: (row) => textOr(row.kind), by: (row) => row.kind },
            number('Seeds', 'seeds'), number('Runs', 'runs'), number('Steps', 'steps'), number('Seconds', 'seconds'),
            number('Findings', 'findings'),
            { title: 'Digest', code: true, cell: (row) => textOr(row.digest) },
            { title: 'Verdict', cell: (row) => runVerdict(row.status), by: (row) => row.status },
        ],
    }));
}

function plantedIn(row) {
    return isMissing(row.sabotage) ? null : element('small', {}, ` with ${row.sabotage}`);
}

/** A word, or the exit status that stands for it. */
function runVerdict(verdict) {
    if (typeof verdict !== 'number') return status(verdict);
    const known = VERDICTS[verdict] ?? NO_VERDICT;
    return element('span', { class: `status ${known.look}` }, glyph(known.glyph), known.words);
}

// ---- promises ---------------------------------------------------------------------------------------

function promisesSection(data) {
    const rows = listOf(data.clauses);
    if (rows.length === 0) return section('promises', 'Promises', notice('No promise was judged in this report.'));
    const list = table({
        label: 'Promises by clause', name: ['promise', 'promises'], rows,
        search: (row) => `${row.id} ${row.text ?? ''}`,
        choices: [
            { label: 'Family', all: 'every family', of: (row) => row.family },
            { label: 'Kind', all: 'every kind', of: (row) => row.kind },
            { label: 'Status', all: 'every status', of: (row) => row.status },
        ],
        extra: element('p', { class: 'aside' }, 'Simulation and PostgreSQL: how many times the promise applied ',
            'there and was checked. A dash: not measured here.'),
        columns: [
            { title: 'Clause', cell: (row) => row.id, by: (row) => row.id },
            { title: 'Promise', wide: true, cell: (row) => textOr(row.text) },
            { title: 'Kind', cell: (row) => textOr(row.kind), by: (row) => row.kind },
            { title: 'Simulation', number: true, cell: (row) => tested(row, 'sim'), by: (row) => row.sim },
            { title: 'PostgreSQL', number: true, cell: (row) => tested(row, 'real'), by: (row) => row.real },
            { title: 'Bugs found', number: true, about: 'planted bugs that this promise found first',
                cell: (row) => figure(row.sabotages), by: (row) => row.sabotages },
            { title: 'Status', cell: (row) => status(row.status), by: (row) => row.status },
        ],
    });
    return section('promises', 'Promises', families(rows, (family) => list.choose(0, family)), list);
}

/** How often a promise was put to the test; never is nothing to worry about if that is done elsewhere. */
function tested(row, world) {
    return row.status === 'elsewhere' ? figure(row[world]) : orNever(row[world]);
}

/** Zero is the figure that a reader must not miss. */
function orNever(count) {
    return count === 0 ? element('span', { class: 'never' }, '0') : figure(count);
}

function families(rows, choose) {
    const names = [...new Set(rows.map((row) => row.family).filter((name) => !isMissing(name)))];
    return element('ul', { class: 'families' }, names.map((name) => {
        const all = rows.filter((row) => row.family === name);
        const counts = ['held', 'broken', 'broken, as expected', 'not shown', 'elsewhere']
            .map((word) => [word, countOf(all, (row) => row.status === word)]).filter(([, count]) => count > 0);
        const words = counts.map(([word, count]) => `${count} ${word}`).join(', ');
        return element('li', {}, element('button', { type: 'button', onclick: () => choose(name) },
            element('strong', {}, name), ' ', element('span', { class: 'strip', 'aria-hidden': 'true' },
                counts.map(([word, count]) => stripPart(word, count))), element('span', {}, words)));
    }));
}

function stripPart(word, count) {
    const part = element('span', { class: STATUSES[word].look });
    part.style.flexGrow = String(count);
    return part;
}

// ---- faults -----------------------------------------------------------------------------------------

function faultsSection(data) {
    const rows = listOf(data.faults);
    if (rows.length === 0) return section('faults', 'Faults', notice('No faults were counted in this report.'));
    const most = (key) => Math.max(1, ...rows.map((row) => row[key] ?? 0));
    const world = (title, key) => ({ title, number: true, cell: (row) => bar(row[key], most(key)), by: (row) => row[key] });
    return section('faults', 'Faults fired', table({
        label: 'Faults fired, by kind', name: ['kind', 'kinds'], rows, columns: [
            { title: 'Kind', cell: (row) => row.kind, by: (row) => row.kind },
            { title: 'Group', cell: (row) => textOr(row.group), by: (row) => row.group },
            world('Simulation', 'sim'), world('PostgreSQL', 'real'),
        ],
    }), serverOf(data.server));
}

/** What was really done to a server, and what became of commits: faults by the names that they have there. */
function serverOf(server) {
    if (isMissing(server)) return null;
    const lost = server.unknown_committed + server.unknown_lost;
    return element('div', { class: 'server' },
        element('h3', {}, 'On PostgreSQL'),
        element('p', {}, `${counted(server.acknowledged, 'commit')} acknowledged, ${formatNumber(server.forgotten)} of them lost. `,
            `${counted(lost, 'answer')} to COMMIT lost: ${formatNumber(server.unknown_committed)} had committed, ${formatNumber(server.unknown_lost)} had not. `,
            `Workers looked ${formatNumber(server.concluded_done + server.concluded_not_done)} of them up, and were wrong about ${formatNumber(server.misjudged)}.`),
        table({
            label: 'Faults on PostgreSQL, planned and taken effect', name: ['kind', 'kinds'], rows: listOf(server.faults), columns: [
                { title: 'Real fault', cell: (row) => row.kind, by: (row) => row.kind },
                { title: 'Planned', number: true, cell: (row) => figure(row.planned), by: (row) => row.planned },
                { title: 'Took effect', number: true, cell: (row) => (row.planned > 0 ? orNever(row.hit) : figure(row.hit)), by: (row) => row.hit },
            ],
        }),
        element('p', { class: 'aside' }, 'The table above counts the same faults by the names of the simulation. A kill at any instant has none there; where it struck a crash point, the map of crash points counts it.'));
}

function bar(count, most) {
    if (isMissing(count) || count === 0) return orNever(count);
    const filled = element('span', { class: 'bar', 'aria-hidden': 'true' });
    filled.style.setProperty('--share', `${(100 * count) / most}%`);
    return element('span', { class: 'barred' }, filled, element('span', { class: 'barred-number' }, formatNumber(count)));
}

// ---- heat maps --------------------------------------------------------------------------------------

const NOT_MEASURED = 'not measured here';
const IMPOSSIBLE = 'impossible';

/** A cell of a heat map: its number, on a ground that grows with the number's logarithm. */
function heatCell(count, most) {
    if (isMissing(count)) return element('td', { class: 'heat absent' }, notMeasured(NOT_MEASURED));
    if (count === false) return element('td', { class: 'heat impossible', title: IMPOSSIBLE },
        element('span', { 'aria-hidden': 'true' }, '·'), element('span', { class: 'unseen' }, IMPOSSIBLE));
    if (count === 0) return element('td', { class: 'heat zero', title: 'never' }, '0');
    const cell = element('td', { class: 'heat' }, formatNumber(count));
    cell.style.setProperty('--level', `${Math.round(8 + (52 * Math.log1p(count)) / Math.log1p(most))}%`);
    return cell;
}

function largest(counts) {
    return counts.reduce((most, count) => Math.max(most, count ?? 0), 1);
}

function legend(...more) {
    return element('p', { class: 'aside legend' },
        element('span', { class: 'swatch zero' }, '0'), ' never; ', element('span', { class: 'swatch ramp' }, 'few … many'),
        '; ', element('span', { class: 'swatch absent' }, '–'), ` ${NOT_MEASURED}`, more);
}

function pointsSection(data) {
    const all = listOf(data.points);
    if (all.length === 0) return section('points', 'Crash points', notice('Crash points were not counted in this report.'));
    return section('points', 'Crash points',
        element('p', { class: 'aside' }, 'How often a process died at each point: phase of the protocol, side of the commit, ',
            'and depth (2: died again while it recovered).'), legend(), all.map(pointMap));
}

function pointMap(points) {
    const sides = listOf(points.sides);
    const depths = listOf(points.depths);
    const at = new Map(listOf(points.cells).map((cell) => [`${cell.phase} ${cell.side} ${cell.depth}`, cell]));
    const most = WORLDS.map(([key]) => largest(listOf(points.cells).map((cell) => cell[key])));
    const columns = WORLDS.flatMap(([key], world) => depths.flatMap((depth) => sides.map((side, index) =>
        ({ key, most: most[world], depth, side: index, last: index === sides.length - 1 }))));
    const head = element('thead', {},
        element('tr', {}, element('td', { rowspan: 3, class: 'corner' }), WORLDS.map(([, title]) =>
            element('th', { scope: 'colgroup', colspan: depths.length * sides.length, class: 'edge' }, title))),
        element('tr', {}, WORLDS.flatMap(() => depths.map((depth) =>
            element('th', { scope: 'colgroup', colspan: sides.length, class: 'edge' }, `depth ${depth}`)))),
        element('tr', {}, WORLDS.flatMap(() => depths.flatMap(() => sides.map((side, index) =>
            element('th', { scope: 'col', class: index === sides.length - 1 ? 'edge' : null }, side))))));
    const body = listOf(points.phases).map((phase, row) => element('tr', {}, element('th', { scope: 'row' }, phase),
        columns.map((column) => {
            const cell = heatCell(at.get(`${row} ${column.side} ${column.depth}`)?.[column.key], column.most);
            cell.classList.toggle('edge', column.last);
            return cell;
        })));
    return heatTable(points.protocol, `Crash points of ${points.protocol}`, head, body, WORLDS.map(([key, title]) => metWords(points, key, title)).join('; '));
}

/** "PostgreSQL: 4 of 30 met" */
function metWords(points, key, title) {
    const cells = listOf(points.cells).map((cell) => cell[key]).filter((cell) => !isMissing(cell));
    return cells.length === 0 ? `${title}: ${NOT_MEASURED}` : `${title}: ${formatNumber(countOf(cells, (cell) => cell > 0))} of ${formatNumber(cells.length)} met`;
}

function heatTable(title, label, head, body, summary = null) {
    return element('div', { class: 'map' }, element('h3', {}, title), summary === null ? null : element('p', { class: 'map-summary' }, summary),
        sideways(label, element('table', { class: 'heatmap' }, element('caption', { class: 'unseen' }, label), head,
            element('tbody', {}, body))));
}

// What a cell of a machine shows: its look besides the colour, and its words.
const CELL_KINDS = {
    move: { mark: null, words: null },
    refused: { mark: '×', words: 'not legal: it must be refused' },
    same: { mark: '=', words: 'changes nothing' },
};

function machinesSection(data) {
    const all = listOf(data.machines);
    if (all.length === 0) return section('machines', 'State machines', notice('No state machine was watched in this report.'));
    const marks = ['refused', 'same'].flatMap((kind) => ['; ', element('span', { class: `swatch ${kind}` }, CELL_KINDS[kind].mark, ' 7'), ` ${CELL_KINDS[kind].words}`]);
    return section('machines', 'State machines',
        element('p', { class: 'aside' }, 'How often each event came in each state, in both worlds together.'),
        legend('; ', element('span', { class: 'swatch impossible' }, '·'), ` ${IMPOSSIBLE}`, marks), all.map(machineMap));
}

/** A NAME_WITH_UNDERSCORES may go on in the next line after each; no word is broken. */
function breakable(name) {
    return String(name).split(/(?<=_)/).flatMap((part, index) => (index === 0 ? [part] : [element('wbr'), part]));
}

function machineMap(machine) {
    const cells = listOf(machine.cells);
    if (cells.flat().every((cell) => cell === false || isMissing(cell))) {
        return element('div', { class: 'map' }, element('h3', {}, machine.name), notice('No run of its protocol was watched in this report.'));
    }
    const most = largest(cells.flat());
    const kindOf = (row, column) => machine.kinds?.[row]?.[column] ?? 'move';
    const head = element('thead', {}, element('tr', {}, element('th', { scope: 'col', class: 'corner' }, machine.corner ?? 'State'),
        listOf(machine.columns).map((column) => element('th', { scope: 'col' }, breakable(column)))));
    const body = listOf(machine.rows).map((state, row) => element('tr', {}, element('th', { scope: 'row' }, state),
        listOf(machine.columns).map((_, column) => machineCell(cells[row]?.[column], most, kindOf(row, column)))));
    return heatTable(machine.name, `States and events of ${machine.name}`, head, body, seenWords(machine, kindOf));
}

function machineCell(count, most, kind) {
    const cell = heatCell(count, most);
    const known = CELL_KINDS[kind];
    if (!Number.isInteger(count) || !known?.mark) return cell;
    cell.classList.add(kind);
    cell.title = `${known.words}: ${count === 0 ? 'never' : counted(count, 'time')}`;
    cell.prepend(element('span', { class: 'kind', 'aria-hidden': 'true' }, known.mark), element('span', { class: 'unseen' }, `${known.words}, `));
    return cell;
}

/** "12 of 12 transitions seen, 51 of 51 illegal pairs refused": a part for each kind that has words. */
function seenWords(machine, kindOf) {
    const parts = Object.entries(machine.seen ?? {}).map(([kind, words]) => {
        const cells = listOf(machine.cells).flatMap((row, at) => row.filter((cell, column) => Number.isInteger(cell) && kindOf(at, column) === kind));
        return `${formatNumber(countOf(cells, (cell) => cell > 0))} of ${formatNumber(cells.length)} ${words}`;
    });
    return parts.length === 0 ? null : parts.join(', ');
}

// ---- planted bugs -----------------------------------------------------------------------------------

function killsSection(data) {
    const rows = listOf(data.kills);
    if (rows.length === 0) {
        return section('kills', 'Planted bugs', notice('No planted bug was hunted in this report.'), boundOf(data.bound));
    }
    const number = (title, key, about) => ({ title, about, number: true, cell: (row) => figure(row[key]), by: (row) => row[key] });
    return section('kills', 'Planted bugs', killSummary(rows), boundOf(data.bound), needed(rows), table({
        label: 'Planted bugs', name: ['planted bug', 'planted bugs'], rows,
        search: (row) => `${row.sabotage} ${row.clause ?? ''} ${row.why ?? ''} ${row.scenario ?? ''}`,
        choices: [
            { label: 'Status', all: 'every status', of: (row) => row.status },
            { label: 'Oracle', all: 'every oracle', of: (row) => row.oracle },
        ],
        columns: [
            { title: 'Planted bug', code: true, cell: (row) => row.sabotage, by: (row) => row.sabotage },
            { title: 'Found by', cell: (row) => textOr(row.clause, 'no promise'), by: (row) => row.clause },
            { title: 'Oracle', cell: (row) => textOr(row.oracle, 'no oracle'), by: (row) => row.oracle },
            { title: 'Scenario', cell: (row) => textOr(row.scenario, 'none'), by: (row) => row.scenario },
            number('Median', 'median', 'schedules needed to find it, median over the tries'),
            number('Most', 'most', 'schedules needed to find it, the most over the tries'),
            { title: 'Tries', about: 'how often it was hunted, each time from another base seed', number: true, cell: triesOf, by: (row) => row.tries },
            { title: 'Status', cell: (row) => status(row.status), by: (row) => row.status },
            { title: 'Why', wide: true, cell: (row) => textOr(row.why, 'no reason is given') },
        ],
    }));
}

/** How often it was hunted; and how often found, if not every time. */
function triesOf(row) {
    return isMissing(row.found) || row.found === row.tries || row.status === 'equivalent' || row.status === 'not shown' ? figure(row.tries) : `${row.found} of ${row.tries}`;
}

function killSummary(rows) {
    const counts = ['found', 'equivalent', 'not shown', 'survived'].map((word) => [word, countOf(rows, (row) => row.status === word)]);
    return element('p', { class: 'summary' }, `${counted(rows.length, 'bug')} planted: `,
        counts.flatMap(([word, count], index) => [index > 0 ? ', ' : null,
            count === 0 ? `none ${word}`
                : element('span', { class: `status ${STATUSES[word].look}` }, glyph(STATUSES[word].glyph), `${formatNumber(count)} ${word}`)]), '.');
}

/** How many bugs needed how many schedules, a bar for each power of ten. */
function needed(rows) {
    const found = rows.filter((row) => row.status === 'found' && !isMissing(row.median));
    if (found.length === 0) return null;
    const bounds = [1, 10, 100, 1000, 10000, Infinity];
    const titles = ['1', '2–10', '11–100', '101–1,000', '1,001–10,000', 'more'];
    const counts = bounds.map((bound, index) =>
        countOf(found, (row) => row.median <= bound && row.median > (bounds[index - 1] ?? -1)));
    const last = counts.findLastIndex((count) => count > 0);
    const most = Math.max(...counts);
    return element('table', { class: 'needed' }, element('caption', {}, 'Schedules needed to find a planted bug (median)'),
        element('tbody', {}, counts.slice(0, last + 1).map((count, index) => element('tr', {},
            element('th', { scope: 'row' }, titles[index]), element('td', {}, count === 0 ? '0' : bar(count, most))))));
}

// ---- throughput and coverage ------------------------------------------------------------------------

function speedSection(data) {
    const rows = listOf(data.throughput);
    const speeds = rows.length === 0 ? notice('Throughput was not measured here.') : table({
        label: 'Throughput', name: ['figure', 'figures'], rows, columns: [
            { title: 'What', cell: (row) => row.name },
            { title: 'Figure', number: true, cell: (row) => [figure(row.value), ' ', element('small', {}, row.unit ?? '')] },
            { title: 'Ratio', number: true, cell: (row) => (isMissing(row.ratio) ? notMeasured('no ratio') : `${formatNumber(row.ratio)} ×`) },
            { title: 'Against', cell: (row) => textOr(row.against, 'nothing') },
        ],
    });
    return section('speed', 'Throughput and code coverage', speeds, codeCoverage(data.coverage));
}

function codeCoverage(coverage) {
    if (isMissing(coverage)) return notice('Code coverage was not measured here; ./test --coverage does.');
    const percent = (value) => (isMissing(value) ? notMeasured() : element('strong', {}, `${formatNumber(value)} %`));
    return element('p', { class: 'summary' }, 'Code coverage: ', percent(coverage.lines), ' of lines, ',
        percent(coverage.branches), ' of branches', isMissing(localLink(coverage.link)) ? null
            : [' (', element('a', { href: localLink(coverage.link) }, 'lcov report'), ')'], '.');
}

/** Only a file beside this one is linked, whatever the data say: it moves with the page, and no other does. */
function localLink(link) {
    return isMissing(link) || /^[a-z][a-z0-9+.-]*:|^[/\\]/i.test(link) ? null : link;
}

// ---- provenance -------------------------------------------------------------------------------------

const PROVENANCE = [
    ['assay', 'Assay'], ['commit', 'Commit'], ['dirty', 'Tree'], ['compiler', 'Compiler'], ['flags', 'Flags'],
    ['system', 'System'], ['postgresql', 'PostgreSQL'], ['jobs', 'Threads'], ['versions', 'Versions'],
    ['clauses_hash', 'Clauses'], ['errata_hash', 'Errata'], ['binary_hash', 'Program'],
];

function repeatSection(data) {
    const provenance = data.provenance ?? {};
    return section('repeat', 'Reproduce', commandTable(listOf(provenance.commands)),
        element('dl', { class: 'facts' }, PROVENANCE.map(([key, title]) => element('div', {},
            element('dt', {}, title), element('dd', {}, provenanceValue(key, provenance[key]))))),
        element('div', { class: 'signature' }, ['Name', 'Date', 'Signature'].map((word) => element('span', {}, word))));
}

/** Every command that this report is made of, and the seeds of each. */
function commandTable(rows) {
    if (rows.length === 0) return notice('The command was not recorded.');
    return table({
        label: 'Commands', name: ['command', 'commands'], rows, columns: [
            { title: 'Command', cell: (row) => (isMissing(row.command) ? notMeasured('not recorded') : command(row.command)) },
            { title: 'Seeds', cell: seedsOf },
            { title: 'Runs', number: true, cell: (row) => (isMissing(row.runs) ? notMeasured('not counted') : figure(row.runs)) },
            { title: 'Ended', cell: (row) => runVerdict(isMissing(row.status) ? 'killed' : row.status) },
        ],
    });
}

/** "1,000 drawn, base seed 1", "seed 7": what was drawn, or given. */
function seedsOf(row) {
    const drawn = isMissing(row.seeds) ? null : `${formatNumber(row.seeds)} drawn`;
    const base = isMissing(row.base_seed) ? null : `base seed ${row.base_seed}`;
    const given = isMissing(row.seed) ? null : `seed ${row.seed}`;
    return given ?? ([drawn, base].filter(Boolean).join(', ') || notMeasured('it takes no seed'));
}

function provenanceValue(key, value) {
    if (isMissing(value)) return notMeasured('not recorded');
    if (key === 'dirty') {
        return value ? element('span', { class: 'status open' }, glyph('open'), 'dirty: it had changes that no commit holds') : 'clean';
    }
    if (key === 'versions') return Object.entries(value).map(([what, version]) => `${what} ${version}`).join(', ');
    return typeof value === 'number' ? formatNumber(value) : String(value);
}
