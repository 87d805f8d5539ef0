// Reports in a real browser. usage: node browser.mjs WRITE_PAGE ASSAY FOLDER CHROMIUM
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { contrastProblems, emptyBoxes, namelessControls, sidewaysScroll, watch } from './checks.mjs';
import { BREACH_STEP, LONG, SEED, makeFixtures, programReport } from './fixtures.mjs';

const [writePage, assay, folder, executablePath] = process.argv.slice(2);
const shots = join(folder, 'screenshots');
const work = join(folder, 'pages');
const FINDING = 'finding=tree-3-ACL-16-ledger';
const LOOKS = {
    passing: [['light', 1280], ['dark', 1280], ['dark', 400]],
    failing: [['light', 1280], ['dark', 1280], ['light', 400]],
    bare: [['light', 400], ['dark', 1280]],
    hostile: [['light', 400]],
};
const SIZE_MAX = 3 * 1024 * 1024;
const PATIENCE_MS = 120000; // on a machine that is busy with other tests
const ROWS_MAX = 80; // in the page at a time, however long the schedule is

// ---- the pages --------------------------------------------------------------------------------------

function writePages() {
    for (const path of [shots, work]) {
        rmSync(path, { recursive: true, force: true });
        mkdirSync(path, { recursive: true });
    }
    const fixtures = makeFixtures(assay, work);
    for (const [name, data] of Object.entries(fixtures)) {
        writeFileSync(fileOf(name), execFileSync(writePage, { input: JSON.stringify(data).replaceAll(`"${SEED}"`, SEED), maxBuffer: 1 << 28 }));
    }
    return fixtures;
}

const fileOf = (name) => join(work, `${name}.html`);

/** The report that the program makes of a verb. */
function writeReport(name, ...args) {
    const report = programReport(assay, work, name, ...args);
    assert.ok(report !== null, 'the program writes a report');
    assert.ok(report.length < SIZE_MAX);
    writeFileSync(fileOf(name), report);
}

/** Opens a page, does something with it and asks that nothing went wrong meanwhile. */
async function visit(browser, name, { hash = '', ...options }, act) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...options });
    page.setDefaultTimeout(PATIENCE_MS);
    const address = pathToFileURL(fileOf(name)).href;
    const problems = watch(page, address);
    await page.goto(address + (hash && `#${hash}`));
    await act(page, problems);
    await page.close();
    assert.deepEqual(problems, [], name);
}

const textOf = (page, selector) => page.locator(selector).first().innerText();
const currentStep = (page) => textOf(page, '.step-row.current .step-number').then(Number);
const press = async (page, ...keys) => { for (const key of keys) await page.keyboard.press(key); };
/** Asks by the clock, not by the frames that the page draws: a page that is not in sight may draw none. */
const until = (page, condition, given) => page.waitForFunction(condition, given, { polling: 50 });
const linkOf = (page, words) => until(page, (wanted) => location.hash.includes(wanted), words);

/** Flags that lie over the lane of the store or the queue. */
const flagsOverShared = (page) => page.evaluate(() => {
    const shared = [...document.querySelectorAll('.lane-head')].filter((head) => ['store', 'queue'].includes(head.textContent)).map((head) => head.getBoundingClientRect());
    return [...document.querySelectorAll('.flag')].filter((flag) => {
        const { left, right } = flag.getBoundingClientRect();
        return shared.some((lane) => left < lane.right && right > lane.left);
    }).map((flag) => flag.textContent);
});

async function assertSound(page, about) {
    assert.deepEqual(await flagsOverShared(page), [], about);
    assert.deepEqual(await contrastProblems(page), [], about);
    assert.deepEqual(await emptyBoxes(page), [], about);
    assert.deepEqual(await sidewaysScroll(page), [], about);
    assert.deepEqual(await namelessControls(page), [], about);
}

// ---- the tests --------------------------------------------------------------------------------------

const tests = {
    async 'every report is sound, wide and narrow, light and dark'(browser) {
        for (const [name, looks] of Object.entries(LOOKS)) {
            for (const [colorScheme, width] of looks) {
                await visit(browser, name, { colorScheme, viewport: { width, height: 900 } }, async (page) => {
                    await assertSound(page, `${name}, ${colorScheme}, ${width}`);
                    if (name !== 'hostile') await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`), fullPage: true });
                });
            }
        }
    },

    async 'a campaign that passed says so first'(browser, { passing }) {
        await visit(browser, 'passing', {}, async (page) => {
            assert.equal(await textOf(page, 'h1'), 'Every promise held');
            assert.match(await page.title(), /every promise held/);
            assert.match(await textOf(page, '#findings'), /No promise was broken/);
            assert.match(await textOf(page, '.verdict'), /0 findings in 205,000 seeds/);
            assert.match(await textOf(page, '#kills'), /0 findings in 205,000 seeds/);
            assert.match(await textOf(page, '#repeat'), new RegExp(passing.provenance.commit));
            assert.equal(await page.locator('#speed a').getAttribute('href'), 'coverage/index.html');
            assert.match(await textOf(page, '#machines .map:last-child'), /not run\s+No run of its protocol was watched/);
            const cells = passing.machines[0].cells.flat();
            assert.equal(await page.locator('#machines .heat.impossible').count(), cells.filter((cell) => cell === false).length);
            assert.equal(await page.locator('#machines .heat.zero').count(), cells.filter((cell) => cell === 0).length);
            await press(page, 'j', '?'); // no viewer, so no key does anything
        });
    },

    async 'promises can be searched, chosen and sorted'(browser, { passing }) {
        await visit(browser, 'passing', {}, async (page) => {
            const rows = page.locator('#promises tbody tr:visible');
            assert.equal(await rows.count(), 25);
            await page.getByRole('button', { name: `Show all ${passing.clauses.length} promises` }).click();
            assert.equal(await rows.count(), passing.clauses.length);
            await page.locator('#promises input').fill('semaphore');
            const matching = passing.clauses.filter((clause) => `${clause.id} ${clause.text}`.toLowerCase().includes('semaphore'));
            assert.equal(await rows.count(), matching.length);
            await page.locator('#promises input').fill('no such words');
            assert.match(await rows.first().innerText(), /No promises match/);
            await page.locator('#promises input').fill('');
            await page.locator('.families button', { hasText: 'SEQ' }).click();
            assert.equal(await rows.count(), passing.clauses.filter((clause) => clause.family === 'SEQ').length);
            await page.locator('#promises .sort', { hasText: 'Simulation' }).click();
            const figures = (await page.locator('#promises tbody td:nth-child(4)').allInnerTexts()).map((text) => (/\d/.test(text) ? Number(text.replaceAll(',', '')) : -1));
            assert.deepEqual(figures, [...figures].sort((a, b) => b - a));
            assert.equal(await page.locator('#promises th[aria-sort]').getAttribute('aria-sort'), 'descending');
        });
    },

    async 'the viewer steps through a finding by keyboard'(browser) {
        await visit(browser, 'failing', {}, async (page) => {
            assert.equal(await currentStep(page), BREACH_STEP); // it starts where the promise breaks
            assert.match(await textOf(page, '.detail'), /Here ACL-16 breaks/);
            assert.deepEqual(await page.locator('.change').first().locator('.values mark').allInnerTexts(), ['1', '2']);
            assert.match(await textOf(page, '.fields tr.changed'), /work done\s+yes → neither 0 nor 1/);
            await press(page, 'k', 'k');
            assert.equal(await currentStep(page), BREACH_STEP - 2);
            await press(page, 'j');
            assert.equal(await currentStep(page), BREACH_STEP - 1);
            await press(page, 'p'); // the duplicate, which changes no ledger
            assert.match(await textOf(page, '.standing'), /activity ledger of trigger\s+001100000000001\s+since 10/);
            await page.locator('.diagram').focus();
            await press(page, 'Home');
            assert.equal(await currentStep(page), 1);
            await press(page, 'ArrowDown', 'ArrowRight', 'ArrowUp');
            assert.equal(await currentStep(page), 2);
            assert.match(await page.locator(`#${await page.locator('.diagram').getAttribute('aria-activedescendant')}`).getAttribute('aria-label'), /^Step 2, worker 1, claim/);
            await press(page, 'n');
            assert.equal(await currentStep(page), 11); // the duplicate
            await press(page, 'End', 'ArrowDown');
            assert.equal(await currentStep(page), BREACH_STEP);
            await linkOf(page, `${FINDING}&schedule=shrunk&step=${BREACH_STEP}`);
        });
    },

    async 'schedules are switched, and the passing one shows where it parts'(browser, { failing }) {
        await visit(browser, 'failing', {}, async (page) => {
            const tab = () => textOf(page, '[role=tab][aria-selected=true]');
            await press(page, ']');
            assert.match(await tab(), /^Full/);
            assert.equal(await currentStep(page), failing.findings[0].schedules.full.events.length);
            await press(page, ']');
            assert.match(await tab(), /^Nearest passing/);
            assert.equal(await currentStep(page), failing.findings[0].parts_at);
            assert.match(await textOf(page, '.flag'), /the passing run goes another way here/);
            await linkOf(page, 'schedule=passing&step=9');
            await press(page, ']', '[', '[');
            assert.match(await tab(), /^Full/);
        });
    },

    async 'a deep link opens the finding, the schedule and the step'(browser) {
        await visit(browser, 'failing', { hash: `${FINDING}&schedule=full&step=7` }, async (page) => {
            assert.equal(await currentStep(page), 7);
            assert.match(await textOf(page, '[role=tab][aria-selected=true]'), /^Full/);
            assert.ok(await page.locator('.step-row.current').isVisible());
            await press(page, 'ArrowDown'); // the diagram has the focus
            assert.equal(await currentStep(page), 8);
            await page.evaluate(() => { location.hash = '#finding=tree-7-ACL-33-data&step=40'; });
            await until(page, () => document.querySelector('.viewer-header').textContent.includes('ACL-33'));
            assert.equal(await currentStep(page), 40);
            await page.evaluate(() => { window.setTimeout = (act) => { window.due = act; }; });
            await press(page, 'ArrowDown');
            await page.evaluate(() => { // the link to this step is due just when another one is followed
                location.hash = '#finding=no-schedule';
                window.due();
            });
            await until(page, () => document.querySelector('.viewer-header').textContent.includes('No schedule'));
            assert.ok(!await page.locator('.stage').isVisible());
            await press(page, 'j', 'n', ']');
            await page.evaluate(() => { location.hash = '#finding=tree-7-ACL-33-data&step=3'; });
            await until(page, () => document.querySelector('.step-row.current .step-number')?.textContent === '3');
            await page.evaluate(() => { location.hash = '#finding=unknown&step=-3'; });
            await page.evaluate(() => { location.hash = '#kills'; });
        });
        await visit(browser, 'failing', { hash: `${FINDING}&schedule=nonsense&step=999999` }, async (page) => {
            assert.equal(await currentStep(page), BREACH_STEP);
        });
    },

    async 'help opens and closes by keyboard'(browser) {
        await visit(browser, 'failing', {}, async (page) => {
            await press(page, '?');
            assert.ok(await page.locator('dialog.help').isVisible());
            assert.deepEqual(await contrastProblems(page), []);
            await press(page, 'j', 'Escape');
            assert.ok(!await page.locator('dialog.help').isVisible());
            assert.equal(await currentStep(page), BREACH_STEP);
        });
    },

    async 'five thousand steps: only those in sight are in the page'(browser) {
        await visit(browser, 'long', {}, async (page) => {
            const rows = () => page.locator('.step-row').count();
            assert.equal(await currentStep(page), LONG);
            await assertSound(page);
            assert.ok(await rows() < ROWS_MAX);
            await page.locator('.diagram').focus();
            await press(page, 'Home');
            await press(page, ...new Array(250).fill('ArrowDown')); // faster than addresses may change
            assert.equal(await currentStep(page), 251);
            await press(page, 'PageDown');
            assert.ok(await currentStep(page) > 255);
            await page.locator('.overview').click({ position: { x: 8, y: 340 } });
            const middle = await currentStep(page);
            assert.ok(middle > LONG / 4 && middle < (LONG * 3) / 4);
            await page.locator('.diagram').evaluate((box) => { box.scrollTop = 1000 * 42; });
            await until(page, () => document.querySelector('#step-1003'));
            assert.ok(await rows() < ROWS_MAX);
            assert.ok(await page.locator('.lines *').count() < 40 * ROWS_MAX);
            await press(page, 'n');
            const mark = await currentStep(page);
            assert.ok(mark > middle);
            await linkOf(page, `step=${mark}`);
            await page.locator('.viewer').screenshot({ path: join(shots, 'long-viewer.png') });
        });
    },

    async 'texts of the data stay texts'(browser, { hostile }) {
        await visit(browser, 'hostile', {}, async (page) => {
            assert.ok((await page.title()).includes('<script>'));
            assert.equal(await page.locator('main script, main img').count(), 0);
            assert.equal(await page.locator('#speed a[href]').count(), 0);
            assert.equal(await textOf(page, '.viewer-header h3'), hostile.findings[0].sentence);
            await press(page, ...new Array(BREACH_STEP).fill('k'), 'j');
            await page.locator('.findings a').click(); // a name that is no word of a link
            await until(page, () => location.hash.startsWith('#finding=a'));
            assert.equal(await currentStep(page), BREACH_STEP);
        });
    },

    async 'a seed of 64 bits is shown to the last digit'(browser) {
        await visit(browser, 'hostile', {}, async (page) => {
            assert.match(await textOf(page, '#repeat'), new RegExp(`base seed ${SEED}\\b`));
        });
    },

    async 'reports that the program makes are opened as well'(browser) {
        const campaign = ['campaign', 'tree-3', '--seeds', '200', '--no-gates'];
        const made = { held: campaign, broken: [...campaign, '--sabotage', 'trust-stale-read'] };
        for (const [name, args] of Object.entries(made)) {
            writeReport(name, ...args);
            await visit(browser, name, {}, async (page) => {
                await assertSound(page, name);
                if (name === 'held') return;
                assert.match(await textOf(page, 'h1'), /^4 breaches by planted bugs were caught: trust-stale-read breaks ACL-16,/);
                assert.match(await textOf(page, '#verdict .planted'), /^Every run had a bug planted on purpose.*none is real/);
                assert.match(await textOf(page, '#repeat tbody tr'), /assay campaign tree-3 .*200 drawn, base seed 1/s);
                const last = await currentStep(page);
                assert.equal(await page.locator('.step-row.breach').count(), 1);
                assert.ok(await page.locator('.values mark').count() > 0);
                assert.match(await textOf(page, '.fields tr.changed'), /work done\s+yes → neither 0 nor 1/);
                await press(page, 'k');
                assert.equal(await currentStep(page), last - 1);
                await press(page, ']', ']');
                assert.match(await textOf(page, '[role=tab][aria-selected=true]'), /^Nearest passing/);
                await page.screenshot({ path: join(shots, 'program-viewer.png') });
            });
        }
        return null;
    },

    async 'a flag lies over no lane that has something to show, whoever broke the promise'(browser) {
        // One worker beside the client; and the first lane of a protocol that has no client.
        writeReport('pipeline', 'run', 'pipeline', '--seed', '23', '--sabotage', 'pipeline-status-without-cas');
        writeReport('seq', 'run', 'seq', '--seed', '57', '--sabotage', 'late-result-accepted');
        for (const name of ['pipeline', 'seq']) {
            await visit(browser, name, {}, async (page) => {
                assert.match(await textOf(page, '.flag.broken'), /^\S+ breaks$/);
                await assertSound(page, name);
                assert.match(await textOf(page, '.viewer-header h3'), name === 'seq' ? /went from IN_FLIGHT to/ : /went from cut_applied to reviewed_approve/);
            });
        }
    },

    async 'a long finding of the program is all there, and a new ledger shows its digits'(browser) {
        // An oracle is silent, so that the finding is not made smaller.
        writeReport('unshrunk', 'run', 'thresholds', '--seed', '36', '--sabotage', 'job-state-first', '--without', 'data');
        await visit(browser, 'unshrunk', {}, async (page) => {
            await assertSound(page);
            const last = await currentStep(page);
            assert.ok(last > 500, `${last} steps`);
            assert.match(await textOf(page, '[role=tab][aria-selected=true]'), new RegExp(`^Full ${last} steps`));
            assert.match(await textOf(page, '.left-out-all'), /The shrunk schedule is not in this page: it was not made smaller\..*The nearest passing schedule is not in this page/s);
            await press(page, 'k', 'k');
            assert.equal(await currentStep(page), last - 2);
            const created = await page.evaluate(() => {
                const { events, texts } = JSON.parse(document.getElementById('data').textContent).findings[0].schedules.full;
                return events.find((event) => event.committed && event.changes?.some((change) => change.as === 'guid' && !change.before && texts[change.row])).step;
            });
            await page.evaluate((step) => { location.hash = `${location.hash.split('&step')[0] || '#finding=thresholds-ACL-30-ledger'}&step=${step}`; }, created);
            await until(page, (step) => document.querySelector('.step-row.current .step-number')?.textContent === String(step), created);
            const change = page.locator('.change', { hasText: 'GUID ledger' }).first();
            assert.match(await change.innerText(), /before\s+no such row\s+after\s+0{14}1\s/);
            assert.match(await change.locator('.fields').innerText(), /attempt counter\s+1 of 99,999,999/);
        });
    },

    async 'what does not fit into the page is said, with its file'(browser) {
        const scenario = join(work, 'jobs-150.yaml');
        writeFileSync(scenario, `name: jobs-150
about: more steps than a page draws
commits: literal
jobs: 150
workers: 4
graph: {trigger: [left, right]}
faults: {crash: 1/20, unknown: 1/40, abort: 1/40, duplicate: 1/40, pause: 1/60, delay: 1/40, server: 1/200, clock: 1/200}
limits: {crashes: 12, unknowns: 6, aborts: 8, duplicates: 8, pauses: 6, delays: 8, restarts: 2}
expect: pass
`);
        writeReport('too-long', 'run', scenario, '--seed', '10', '--sabotage', 'fresh-guid');
        await visit(browser, 'too-long', {}, async (page) => {
            await assertSound(page);
            assert.match(await textOf(page, '[role=tab][aria-selected=true]'), /^Shrunk/);
            const said = /The full schedule \(([\d,]+) steps\) is not in this page: it has more than 5000 steps\. It is in (findings\/\S+\/schedule\.json) beside it\./
                .exec(await textOf(page, '.left-out-all'));
            assert.ok(said, await textOf(page, '.left-out-all'));
            assert.ok(Number(said[1].replace(',', '')) > 5000);
            assert.ok(statSync(join(work, 'too-long', said[2])).size > 0);
        });
        await visit(browser, 'failing', { hash: 'finding=tree-7-ACL-33-data' }, async (page) => {
            assert.match(await textOf(page, '.left-out-all'), /passing schedule \(70 steps\) is not in this page: the page would have grown too large\. It is in findings\/tree-7-ACL-33-data\/finding\.json/);
        });
    },

    async 'a tab that is clicked keeps the focus, and arrows go on stepping'(browser) {
        await visit(browser, 'failing', {}, async (page) => {
            for (const name of ['Full', 'Nearest passing', 'Shrunk']) {
                await page.getByRole('tab', { name }).click();
                assert.match(await page.evaluate(() => document.activeElement.textContent), new RegExp(`^${name}`));
                const before = await currentStep(page);
                await press(page, 'ArrowUp');
                assert.equal(await currentStep(page), Math.max(1, before - 1), name);
            }
        });
    },

    async 'crash points are told for each world, and legal moves apart from pairs that are refused'(browser, { passing }) {
        await visit(browser, 'passing', {}, async (page) => {
            const tile = (words) => page.locator('.tile', { hasText: words }).innerText();
            for (const [words, key] of [['Crash points, simulation', 'sim'], ['Crash points, PostgreSQL', 'real']]) {
                const cells = passing.points[0].cells.map((cell) => cell[key]).filter((cell) => cell !== null);
                assert.match(await tile(words), new RegExp(`${cells.filter((cell) => cell > 0).length} of ${cells.length}`), words);
            }
            const { cells, kinds } = passing.machines[0];
            const of = (kind) => cells.flatMap((row, at) => row.filter((cell, column) => cell !== false && kinds[at][column] === kind));
            const met = (kind) => `${of(kind).filter((cell) => cell > 0).length} of ${of(kind).length}`;
            assert.equal(await textOf(page, '.map-summary >> nth=1'), `${met('move')} transitions seen, ${met('refused')} illegal pairs refused`);
            assert.equal(await page.locator('#machines .heat.refused').count(), of('refused').length);
        });
    },

    async 'every command is told, with its seeds, and the versions'(browser) {
        await visit(browser, 'passing', {}, async (page) => {
            const rows = await page.locator('#repeat tbody tr').allInnerTexts();
            assert.equal(rows.length, 2);
            assert.match(rows[0], /--seeds 500 --out results.*2,000 drawn, base seed 1/s);
            assert.match(rows[1], /sweep tree-3 --seed 7.*seed 7.*killed/s);
            assert.match(await textOf(page, '#repeat'), /Versions\s+choice 2, schedule 1/);
        });
    },

    async 'what was not measured is said'(browser) {
        await visit(browser, 'bare', {}, async (page) => {
            assert.equal(await textOf(page, 'h1'), 'No verdict');
            assert.match(await textOf(page, '#findings'), /not recorded/); // and not: nothing was broken
            assert.equal(await page.locator('section').count(), 10);
            assert.ok(await page.locator('.notice:visible').count() >= 8);
        });
    },

    async 'the reader chooses light or dark, and the choice stays'(browser) {
        await visit(browser, 'failing', { colorScheme: 'light' }, async (page) => {
            const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
            const light = await ground();
            await page.locator('.scheme').click();
            assert.equal(await ground(), light);
            await page.locator('.scheme').click();
            assert.notEqual(await ground(), light);
            assert.deepEqual(await contrastProblems(page), []);
            await page.reload();
            assert.notEqual(await ground(), light);
        });
    },

    async 'on paper every row is there and nothing to press'(browser, { failing }) {
        await visit(browser, 'failing', { colorScheme: 'dark' }, async (page) => {
            await page.emulateMedia({ media: 'print' });
            assert.equal(await page.locator('#promises tbody tr:visible').count(), failing.clauses.length);
            assert.equal(await page.locator('button:visible:not(.sort):not(.families button)').count(), 0);
            assert.ok(await page.locator('.signature').isVisible());
            assert.match(await textOf(page, '.paper'), /here ACL-16 breaks/);
            await page.pdf({ path: join(shots, 'failing.pdf'), format: 'A4', margin: { top: '15mm', bottom: '15mm', left: '12mm', right: '12mm' } });
        });
    },

    async 'the viewer, to be looked at'(browser) {
        const looks = [['shrunk', 'light', `${FINDING}&step=14`], ['shrunk', 'dark', `${FINDING}&step=14`],
            ['passing', 'light', `${FINDING}&schedule=passing&step=9`], ['crashes', 'dark', 'finding=tree-7-ACL-33-data&step=70']];
        for (const [name, colorScheme, hash] of looks) {
            await visit(browser, 'failing', { colorScheme, hash }, async (page) => {
                assert.deepEqual(await contrastProblems(page), []);
                await page.screenshot({ path: join(shots, `viewer-${name}-${colorScheme}.png`) });
            });
        }
    },

    async 'a report is small'() {
        for (const name of ['passing', 'failing']) assert.ok(statSync(fileOf(name)).size < SIZE_MAX, name);
        assert.ok(statSync(fileOf('bare')).size < 200 * 1024); // the page itself
    },

    // A check that finds nothing must have been able to find something.
    async 'the checks see a page that is spoilt'(browser) {
        const spoilt = {
            contrast: ['<style>.aside { color: #999 !important }</style>', contrastProblems],
            empty: ['<table><tbody><tr><td></td></tr></tbody></table>', emptyBoxes],
            wide: ['<div style="width: 5000px">x</div>', sidewaysScroll],
            nameless: ['<button></button>', namelessControls],
            image: ['<img src="http://127.0.0.1:9/x">', null],
            script: ['<script>throw new Error("planted")</script>', null],
        };
        const sound = readFileSync(fileOf('failing'), 'utf8');
        for (const [name, [markup, check]] of Object.entries(spoilt)) {
            writeFileSync(fileOf(`spoilt-${name}`), sound.replace('<main', `${markup}<main`));
            await visit(browser, `spoilt-${name}`, {}, async (page, problems) => {
                const seen = check ? await check(page) : problems.splice(0);
                assert.notEqual(seen.length, 0, `a page with ${markup} is taken for sound`);
            });
        }
        // Without its policy the page would let a request through, and that is seen as well.
        writeFileSync(fileOf('spoilt-policy'), sound.replace(/<meta http-equiv[^\n]*/, '').replace('<main', '<img src="missing.png"><main'));
        await visit(browser, 'spoilt-policy', {}, async (page, problems) => {
            assert.ok(problems.splice(0).some((problem) => problem.startsWith('request:')));
        });
    },
};

// ---- running them -----------------------------------------------------------------------------------

async function main() {
    const fixtures = writePages();
    const browser = await chromium.launch({ executablePath, timeout: PATIENCE_MS, args: ['--no-sandbox'] }); // root needs that
    let failures = 0;
    for (const [name, test] of Object.entries(tests)) {
        const start = performance.now();
        try {
            const skipped = await test(browser, fixtures); // a reason, if it was
            console.log(`${skipped ? `skipped (${skipped})` : 'ok'}      ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
        } catch (error) {
            failures += 1;
            console.log(`FAILED  ${name}\n${error.stack}`);
        }
    }
    await browser.close();
    console.log(`${Object.keys(tests).length} tests, ${failures} failed; screenshots in ${shots}`);
    process.exitCode = failures === 0 ? 0 : 1;
}

await main();
