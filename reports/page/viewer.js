// ---- viewer.js: findings, and the schedule of each step by step -------------------------------------

const SCHEDULES = [['shrunk', 'Shrunk'], ['full', 'Full'], ['passing', 'Nearest passing']];
const LEFT_OUT = { shrunk: 'The shrunk schedule', full: 'The full schedule', passing: 'The nearest passing schedule' };
const LEDGERS_AT_FIRST = 8;

/**
 * The section of the findings, and what the rest of the page may do with it:
 *   open({finding, schedule, step})   show this; what is left out is chosen
 *   key(event)                        true if the key was one of the viewer's
 * `moved(link)` is called with the link to what is shown whenever that changes.
 */
function findingsSection(data, moved) {
    const findings = listOf(data.findings);
    if (findings.length === 0) {
        const words = isMissing(data.findings) ? 'Findings were not recorded in this report.' : 'No promise was broken: there is no schedule to show.';
        return { node: section('findings', 'Findings', notice(words)),
            open: () => false, key: () => false, redraw: () => {} };
    }
    const view = viewer(findings, moved);
    const list = element('ol', { class: 'findings' }, findings.map((finding) => findingItem(finding)));
    const node = section('findings', 'Findings', list, view.node, findings.map(paperSchedule));
    const open = (wanted) => {
        const found = view.open(wanted);
        list.querySelectorAll('a').forEach((link, index) =>
            (findings[index].name === view.name() ? link.setAttribute('aria-current', 'true') : link.removeAttribute('aria-current')));
        return found;
    };
    open({});
    return { node, open, key: view.key, redraw: view.redraw };
}

function linkTo(finding, schedule, step) {
    const query = new URLSearchParams({ finding });
    if (schedule) query.set('schedule', schedule);
    if (!isMissing(step)) query.set('step', step);
    return `#${query}`;
}

function findingItem(finding) {
    const count = isMissing(finding.count) ? null : ` · met in ${counted(finding.count, 'run')}`;
    return element('li', {}, element('a', { href: linkTo(finding.name) },
        element('span', { class: 'status broken' }, glyph('broken'), finding.clause ?? 'no clause'),
        element('span', { class: 'sentence' }, finding.sentence ?? finding.name),
        element('span', { class: 'aside' }, isMissing(finding.sabotage) ? null : 'planted · ', finding.scenario ?? '', isMissing(finding.seed) ? null : `, seed ${finding.seed}`, count)));
}

const STEPS_ON_PAPER = 60; // the last ones, because the promise breaks at the end

const eventsOf = (finding, kind) => listOf(finding.schedules?.[kind]?.events);

/** The schedule that a finding is told by: the shrunk one, or the full one of a finding that was not made smaller. */
function firstKind(finding) {
    return eventsOf(finding, 'shrunk').length > 0 ? 'shrunk' : 'full';
}

/** Of every schedule that is not here: why, and where it is. */
function leftOutFacts(finding) {
    return listOf(finding.left_out).map((entry) => element('p', { class: 'aside left-out' },
        `${LEFT_OUT[entry.schedule] ?? 'A schedule'}${isMissing(entry.steps) ? '' : ` (${counted(entry.steps, 'step')})`} is not in this page: ${entry.why ?? 'nobody said why'}.`,
        isMissing(entry.file) ? null : [' It is in ', element('code', {}, entry.file), ' beside it.']));
}

/** A search tells its counterexample in words: there is no schedule to step through. */
function storyOf(finding) {
    if (isMissing(finding.words)) return notice('No schedule of this finding was kept.');
    return sideways('The counterexample', element('pre', { class: 'story' }, finding.words));
}

/** On paper nobody can step: the shrunk schedule as a table. */
function paperSchedule(finding) {
    const trace = finding.schedules?.[firstKind(finding)];
    if (!trace) return null;
    const read = readTrace(trace);
    const left = read.events.length - STEPS_ON_PAPER;
    return element('table', { class: 'paper' },
        element('caption', {}, `${finding.name}: ${finding.sentence ?? ''}`, left > 0 ? ` (without its first ${counted(left, 'step')})` : null),
        element('thead', {}, element('tr', {}, ['Step', 'Who', 'What', 'Outcome'].map((title) => element('th', { scope: 'col' }, title)))),
        element('tbody', {}, read.events.slice(-STEPS_ON_PAPER).map((event) => element('tr', {},
            [event.step, laneName(read, event), event.what,
                [outcomeWords(event), event.fault ? ` (${event.fault})` : '', event.breach ? `: here ${event.breach} breaks` : ''].join('')]
                .map((cell) => element('td', {}, String(cell)))))));
}

function viewer(findings, moved) {
    const state = { finding: findings[0], schedule: null, read: null, index: 0, tabsOf: null };
    const header = element('div', { class: 'viewer-header' });
    const tabs = element('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Schedule' });
    const position = element('output', { class: 'position' });
    const detail = element('aside', { class: 'detail', 'aria-label': 'The step' });
    const drawing = diagram((index) => go(index), (event) => flagFor(event));
    const help = helpDialog();
    const reads = new Map(); // a trace is made ready once

    function available() {
        return SCHEDULES.filter(([kind]) => eventsOf(state.finding, kind).length > 0);
    }

    function flagFor(event) {
        if (event.breach) return { words: `${event.breach} breaks`, look: 'broken' };
        const parts = !isMissing(state.finding.parts_at) && event.step === state.finding.parts_at
            && [firstKind(state.finding), 'passing'].includes(state.schedule);
        return parts ? { words: 'the passing run goes another way here', look: 'parting' } : null;
    }

    function open({ finding, schedule, step }) {
        const wanted = findings.find((one) => one.name === finding);
        if (finding && !wanted) return false;
        if (wanted) state.finding = wanted;
        const kinds = available().map(([kind]) => kind);
        if (kinds.length === 0) return showNothing();
        showSchedule(kinds.includes(schedule) ? schedule : kinds[0], step);
        return true;
    }

    function showNothing() {
        const facts = leftOutFacts(state.finding);
        header.replaceChildren(...findingFacts(state.finding), ...(facts.length > 0 ? facts : [storyOf(state.finding)]));
        state.read = null;
        controls.hidden = stage.hidden = leftOut.hidden = true;
        return true;
    }

    function showSchedule(schedule, step) {
        state.schedule = schedule;
        const trace = state.finding.schedules[schedule];
        if (!reads.has(trace)) reads.set(trace, readTrace(trace));
        state.read = reads.get(trace);
        state.index = startIndex(state.read, step);
        header.replaceChildren(...findingFacts(state.finding));
        leftOut.replaceChildren(...leftOutFacts(state.finding));
        controls.hidden = stage.hidden = leftOut.hidden = false;
        drawTabs();
        drawing.show(state.read, state.index);
        go(state.index);
    }

    /** Tabs are made once a finding, and kept when another one is chosen: the reader's focus is on one of them. */
    function drawTabs() {
        if (state.tabsOf !== state.finding) {
            state.tabsOf = state.finding;
            tabs.replaceChildren(...available().map(([kind, title]) => element('button', { type: 'button', role: 'tab', 'data-kind': kind,
                onclick: () => showSchedule(kind) }, title, element('small', {}, ` ${counted(eventsOf(state.finding, kind).length, 'step')}`))));
        }
        for (const tab of tabs.children) tab.setAttribute('aria-selected', String(tab.dataset.kind === state.schedule));
    }

    function go(index) {
        const count = state.read.events.length;
        state.index = Math.min(count - 1, Math.max(0, index));
        drawing.select(state.index);
        detail.replaceChildren(...stepDetail(state));
        const event = state.read.events[state.index];
        position.textContent = `step ${formatNumber(event.step)} of ${formatNumber(state.read.events[count - 1].step)}`;
        moved(linkTo(state.finding.name, state.schedule, event.step));
    }

    function goToMark(direction) {
        const { marks } = state.read;
        const next = direction > 0 ? marks.find((mark) => mark > state.index) : marks.findLast((mark) => mark < state.index);
        if (next !== undefined) go(next);
    }

    function switchSchedule(direction) {
        const kinds = available().map(([kind]) => kind);
        const next = (kinds.indexOf(state.schedule) + direction + kinds.length) % kinds.length;
        const step = state.read.events[state.index]?.step;
        // The passing schedule is looked at where it parts; the others where they end.
        showSchedule(kinds[next], kinds[next] === 'passing' ? state.finding.parts_at ?? step : undefined);
    }

    const page = () => Math.max(1, Math.floor(drawing.box.clientHeight / ROW_HEIGHT) - 2);
    const keys = {
        ArrowDown: () => go(state.index + 1), ArrowUp: () => go(state.index - 1),
        ArrowRight: () => go(state.index + 1), ArrowLeft: () => go(state.index - 1),
        j: () => go(state.index + 1), k: () => go(state.index - 1),
        PageDown: () => go(state.index + page()), PageUp: () => go(state.index - page()),
        Home: () => go(0), End: () => go(state.read.events.length - 1),
        n: () => goToMark(1), p: () => goToMark(-1),
        '[': () => switchSchedule(-1), ']': () => switchSchedule(1),
        '?': () => help.showModal(),
    };

    function key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || help.open || !state.read) return false;
        const action = keys[event.key];
        // Arrows and paging scroll the page, unless the viewer is what the reader is at.
        const isShared = event.key.length > 1 && !node.contains(document.activeElement);
        if (!action || isShared) return false;
        action();
        return true;
    }

    const button = (title, words, action) => element('button', { type: 'button', title, 'aria-label': title, onclick: action }, words);
    const toolbar = element('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'Steps' },
        button('First step (Home)', '⇤', keys.Home), button('Step back (k or ↑)', '←', keys.k), position,
        button('Step forward (j or ↓)', '→', keys.j), button('Last step (End)', '⇥', keys.End),
        button('Previous fault (p)', '← fault', keys.p), button('Next fault (n)', 'fault →', keys.n),
        button('Keys and signs (?)', '?', keys['?']));
    const controls = element('div', { class: 'controls' }, tabs, toolbar);
    const leftOut = element('div', { class: 'left-out-all' });
    const stage = element('div', { class: 'stage' }, element('div', { class: 'drawing' }, drawing.box, drawing.overview), detail);
    const node = element('div', { class: 'viewer', id: 'viewer' }, header, controls, leftOut, stage, help);
    return { node, open, key, redraw: drawing.redraw, name: () => state.finding.name };
}

/** The step that was asked for; without one, where the promise breaks. */
function startIndex(read, step) {
    if (!isMissing(step) && step !== '') {
        const wanted = Number(step);
        if (read.indexOfStep.has(wanted)) return read.indexOfStep.get(wanted);
        const after = read.events.findIndex((event) => event.step >= wanted);
        return after === -1 ? read.events.length - 1 : after;
    }
    const breach = read.events.findIndex((event) => event.breach);
    return breach === -1 ? 0 : breach;
}

function findingFacts(finding) {
    return [element('h3', {}, finding.sentence ?? finding.name),
        isMissing(finding.sabotage) ? null : element('p', { class: 'planted' }, plantedWords(finding.sabotage)),
        element('p', { class: 'breaks' }, element('span', { class: 'status broken' }, glyph('broken'), `breaks ${finding.clause ?? 'no clause'}`),
            ' ', textOr(finding.clause_text, 'the clause has no text here')),
        isMissing(finding.reproduce) ? null : element('p', { class: 'reproduce' }, element('span', { class: 'label' }, 'reproduce'), command(finding.reproduce)),
    ].filter(Boolean);
}

// ---- the step ---------------------------------------------------------------------------------------

function stepDetail({ finding, read, index }) {
    const event = read.events[index];
    const changes = listOf(event.changes);
    return [
        element('p', { class: 'overline' }, `Step ${event.step}`, isMissing(event.now) ? null : element('span', {}, `t = ${formatNumber(event.now)}`),
            element('span', {}, laneName(read, event))),
        element('h4', {}, event.what),
        element('p', { class: `outcome is-${glyphOf(event)}` }, glyph(glyphOf(event)), outcomeWords(event)),
        event.fault ? element('p', { class: 'fault' }, glyph('environment'), `fault: ${event.fault}`) : null,
        event.breach ? element('p', { class: 'breached' }, element('strong', {}, `Here ${event.breach} breaks. `),
            event.breach === finding.clause ? finding.clause_text ?? '' : '') : null,
        messageFacts(read, event),
        changes.length === 0 ? element('p', { class: 'aside' }, 'No row changed.')
            : element('div', { class: 'changes' }, element('h5', {}, event.committed ? 'What it changed' : 'What it would have changed'), changes.map(changeView)),
        ledgersAt(read, index, event),
    ].filter(Boolean);
}

function messageFacts(read, event) {
    const name = (id) => read.messages.get(id)?.name ?? `message ${id}`;
    const facts = [['claims', isMissing(event.claims) ? [] : [event.claims]], ['publishes', listOf(event.publishes)],
        ['acks', isMissing(event.acks) ? [] : [event.acks]]].filter(([, ids]) => ids.length > 0);
    return facts.length === 0 ? null : element('dl', { class: 'message-facts' }, facts.map(([word, ids]) =>
        [element('dt', {}, word), element('dd', {}, ids.map(name).join(', '))]));
}

function changeView(change) {
    return element('div', { class: 'change' },
        element('p', { class: 'row-name' }, change.row, change.column && change.column !== 'ledger' ? element('span', {}, ` ${change.column}`) : null),
        valueLines(change), digitTable(change, true));
}

/** Before and after, one below the other, so that digits stand below digits. */
function valueLines(change) {
    const before = isMissing(change.before) ? null : String(change.before);
    const after = isMissing(change.after) ? null : String(change.after);
    const at = changedPlaces(before, after);
    const shown = (value, other) => (value === null ? element('em', {}, other) : digits(value, at));
    return element('dl', { class: 'values' },
        element('dt', {}, 'before'), element('dd', {}, shown(before, 'no such row')),
        element('dt', {}, 'after'), element('dd', {}, shown(after, 'gone')));
}

/** Which digits of a number are others than before; null: one of them is no number, or of another length. */
function changedPlaces(before, after) {
    const isNumber = (value) => value !== null && /^\d+$/.test(value);
    if (!isNumber(before) || !isNumber(after) || before.length !== after.length) return null;
    return [...after].map((digit, place) => digit !== before[place]);
}

/** Digits with the changed ones marked: underlined and heavy, not only coloured. */
function digits(value, changed) {
    return element('span', { class: 'digits' }, changed === null ? value
        : [...value].map((digit, place) => (changed[place] ? element('mark', {}, digit) : digit)));
}

/** A ledger's digits with what they mean; of a change: what they meant before, where that is another thing. */
function digitTable(change, isChange) {
    const value = String(change.after ?? change.before ?? '');
    const placesOf = (ledger, field) => (isMissing(ledger) ? null : String(ledger).slice(field.from, field.from + field.length));
    const meaningOf = (ledger, field) => field.meanings?.[placesOf(ledger, field)];
    const fields = change.fields.filter((field) => !isMissing(meaningOf(value, field))); // a key may have fewer than another
    if (fields.length === 0) return null;
    return element('table', { class: 'fields' }, element('caption', { class: 'unseen' }, `Digits of ${change.row}`),
        element('tbody', {}, fields.map((field) => {
            // Two digits may be called the same: what is neither of two is neither.
            const isChanged = isChange && !isMissing(change.before) && !isMissing(change.after)
                && placesOf(change.before, field) !== placesOf(change.after, field);
            const before = meaningOf(change.before, field);
            return element('tr', { class: isChanged ? 'changed' : null },
                element('td', { class: 'digits' }, placedDigits(value, field)), element('th', { scope: 'row' }, field.name),
                element('td', {}, isChanged && !isMissing(before) ? [`${before} `, element('span', { class: 'becomes' }, '→'), ' '] : null,
                    isChanged ? element('mark', {}, meaningOf(value, field)) : meaningOf(value, field)));
        })));
}

/** A field's digits where they stand in the ledger, so that the column reads as the ledger does. */
function placedDigits(value, field) {
    return [element('span', { class: 'others', 'aria-hidden': 'true' }, '·'.repeat(field.from)),
        value.slice(field.from, field.from + field.length),
        element('span', { class: 'others', 'aria-hidden': 'true' }, '·'.repeat(Math.max(0, value.length - field.from - field.length)))];
}

/** Every ledger as it stands at this step; those that the step changed are told above already. */
function ledgersAt(read, index, event) {
    const touched = new Set(event.committed ? listOf(event.changes).map((change) => `${change.row}\n${change.column}`) : []);
    const standing = read.cells.filter((cell) => cell.isLedger && !touched.has(`${cell.row}\n${cell.column}`))
        .map((cell) => [cell, changeAt(cell, index)]).filter(([, last]) => last && !isMissing(last.change.after))
        .sort(([, a], [, b]) => b.index - a.index);
    if (standing.length === 0) return null;
    const view = ([cell, last]) => standingLedger(read, cell, last);
    const rest = standing.slice(LEDGERS_AT_FIRST);
    return element('div', { class: 'standing' }, element('h5', {}, touched.size > 0 ? 'Other ledgers at this step' : 'Ledgers at this step'),
        standing.slice(0, LEDGERS_AT_FIRST).map(view),
        rest.length > 0 ? opening({}, [`${rest.length} more`], () => rest.map(view)) : null);
}

/** Details that are made when they are opened: most never are, and stepping must be quick. */
function opening(attributes, summary, content) {
    const made = element('details', attributes, element('summary', {}, summary));
    made.addEventListener('toggle', () => made.append(...[content()].flat()), { once: true });
    return made;
}

function standingLedger(read, cell, { index, change }) {
    return opening({ class: 'ledger' }, [element('span', { class: 'row-name' }, cell.row), element('span', { class: 'digits' }, String(change.after)),
        element('span', { class: 'aside' }, `since ${read.events[index].step}`)], () => digitTable(change, false));
}

// ---- help -------------------------------------------------------------------------------------------

const KEYS = [['↑ ↓ ← → or k j', 'step back and forward'], ['Home, End', 'first and last step'], ['PageUp, PageDown', 'a screen of steps'],
    ['p n', 'previous and next fault'], ['[ ]', 'shrunk, full, nearest passing schedule'], ['?', 'this']];
const SIGNS = [['committed', 'committed'], ['refused', 'refused: a requirement was not met, rolled back'], ['aborted', 'aborted by the server'],
    ['unknown', 'the answer to COMMIT was lost'], ['crash', 'the actor died'], ['pause', 'the actor stopped for a while'],
    ['stops', 'held up inside its transaction'], ['waits', 'waits for a lock'], ['environment', 'the world around changed']];

function helpDialog() {
    const rows = (list, first) => element('dl', {}, list.map(([sign, words]) => [element('dt', {}, first(sign)), element('dd', {}, words)]));
    return element('dialog', { class: 'help', 'aria-label': 'Keys and signs' }, element('h3', {}, 'Keys'), rows(KEYS, (key) => element('kbd', {}, key)),
        element('h3', {}, 'Signs'), rows(SIGNS, (name) => element('span', { class: `act is-${name}` }, glyph(name))),
        element('p', { class: 'aside' }, 'A line from a bar to the store: a transaction; a filled dot: it was kept, an empty one: nothing was. ',
            'Arrows to and from the queue: messages published and claimed; in the queue, thin: it waits, thick: somebody holds it; it ends where it is acked.'),
        element('form', { method: 'dialog' }, element('button', {}, 'Close')));
}
