// ---- trace.js: a trace made ready to be drawn -------------------------------------------------------
// Everything that a window of the diagram needs from outside of itself is worked out once, here: how
// long a message lived, how long a transaction was open, how long an actor was dead, what a ledger said.

const STORE = 'store';
const QUEUE = 'queue';
const WORLD = 'the world';
const QUEUE_TRACKS = 6; // messages drawn side by side; more than that share the last track

function readTrace(trace) {
    const events = listOf(trace.events).map((event) => unpacked(trace, event));
    const lanes = arrangeLanes(listOf(trace.lanes));
    const read = { events, lanes, laneAt: lanePlaces(trace, lanes) };
    read.messages = messageLives(trace, events);
    read.spans = laneSpans(events);
    read.cells = cellHistories(events);
    read.marks = events.flatMap((event, index) => (isMarked(event) ? [index] : []));
    read.indexOfStep = new Map(events.map((event, index) => [event.step, index]));
    return read;
}

/** An event with its texts in place of where they stand in the list of all, and what was left out as being null. */
function unpacked(trace, event) {
    const text = (place) => trace.texts?.[place] ?? '';
    return { turn: 'transaction', fault: null, outcome: null, committed: false, crashed: false, claims: null, acks: null, publishes: [], breach: null,
        ...event, what: text(event.what) || 'not told', told: text(event.told),
        changes: listOf(event.changes).map((change) => ({ before: null, after: null, ...change, row: text(change.row), fields: listOf(trace.ledgers?.[change.as]) })) };
}

/** Actors first, then what they share; the world around them stands beside the queue that it meddles with. */
function arrangeLanes(names) {
    return [...names.filter((name) => name !== WORLD), STORE, QUEUE, ...names.filter((name) => name === WORLD)];
}

function lanePlaces(trace, lanes) {
    return listOf(trace.lanes).map((name) => lanes.indexOf(name));
}

function isMarked(event) {
    return Boolean(event.fault || event.breach || event.crashed);
}

// ---- messages ---------------------------------------------------------------------------------------

/** For each message: from when to when it was in the queue, who held it when, and its track there. */
function messageLives(trace, events) {
    const lives = new Map(listOf(trace.messages).map((message) =>
        [message.id, { id: message.id, name: message.name, from: null, to: null, holds: [] }]));
    const lifeOf = (id) => {
        if (!lives.has(id)) lives.set(id, { id, name: `message ${id}`, from: null, to: null, holds: [] });
        return lives.get(id);
    };
    events.forEach((event, index) => {
        if (!event.committed) return; // what was rolled back reached no queue
        for (const id of listOf(event.publishes)) lifeOf(id).from ??= index;
        if (!isMissing(event.claims)) holdBegins(lifeOf(event.claims), index);
        if (!isMissing(event.acks)) lifeEnds(lifeOf(event.acks), index);
    });
    const met = [...lives.values()].filter((life) => life.from !== null || life.holds.length > 0);
    for (const life of met) closeLife(life, events.length - 1);
    giveTracks(met);
    return new Map(met.map((life) => [life.id, life]));
}

function holdBegins(life, index) {
    life.from ??= index;
    const before = life.holds.at(-1);
    if (before && before.to === null) before.to = index;
    life.holds.push({ from: index, to: null });
}

function lifeEnds(life, index) {
    life.from ??= index;
    life.to = index;
}

function closeLife(life, last) {
    life.isAcked = life.to !== null;
    life.to ??= last;
    for (const hold of life.holds) hold.to = Math.min(hold.to ?? life.to, life.to);
}

function giveTracks(lives) {
    const freeFrom = new Array(QUEUE_TRACKS).fill(-1);
    for (const life of lives.sort((a, b) => a.from - b.from)) {
        const free = freeFrom.findIndex((until) => until < life.from);
        life.track = free === -1 ? QUEUE_TRACKS - 1 : free;
        freeFrom[life.track] = Math.max(freeFrom[life.track], life.to);
    }
}

// ---- lanes ------------------------------------------------------------------------------------------

/** Stretches of a lane between two of its events: a transaction that is open, an actor dead or paused. */
function laneSpans(events) {
    const spans = [];
    const pending = new Map(); // lane -> the stretch that its next event ends
    events.forEach((event, index) => {
        const before = pending.get(event.lane);
        if (before) spans.push({ ...before, to: index });
        pending.delete(event.lane);
        const kind = spanAfter(event);
        if (kind) pending.set(event.lane, { lane: event.lane, kind, from: index });
    });
    for (const rest of pending.values()) spans.push({ ...rest, to: events.length - 1 });
    return spans;
}

function spanAfter(event) {
    if (event.crashed) return 'dead';
    return { stops: 'open', waits: 'waiting', pause: 'paused' }[event.turn] ?? null;
}

// ---- rows of the store ------------------------------------------------------------------------------

/** What each cell of each row held when: its changes in the order of the steps. */
function cellHistories(events) {
    const cells = new Map();
    events.forEach((event, index) => {
        if (!event.committed) return;
        for (const change of listOf(event.changes)) {
            const key = `${change.row}\n${change.column}`;
            if (!cells.has(key)) cells.set(key, { row: change.row, column: change.column, changes: [], isLedger: false });
            const cell = cells.get(key);
            cell.changes.push({ index, change });
            cell.isLedger ||= change.fields.length > 0;
        }
    });
    return [...cells.values()];
}

/** The last change of a cell up to an event; null: it was not written yet. */
function changeAt(cell, index) {
    let [low, high] = [0, cell.changes.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (cell.changes[middle].index <= index) low = middle + 1;
        else high = middle;
    }
    return low === 0 ? null : cell.changes[low - 1];
}

// ---- words ------------------------------------------------------------------------------------------

/** The glyph of an event: what became of it, so that colour is not the only thing that tells. */
function glyphOf(event) {
    if (event.crashed || event.turn === 'crash') return 'crash';
    if (event.turn !== 'transaction') return event.turn;
    if (event.outcome === 'unknown') return 'unknown';
    return ['committed', 'refused', 'aborted'].includes(event.outcome) ? event.outcome
        : event.committed ? 'committed' : 'aborted';
}

/** The words that the program has for it; without them, what the facts amount to. */
function outcomeWords(event) {
    if (event.told) return event.told;
    if (event.crashed) return event.committed ? 'died after its commit' : 'died; nothing of it was committed';
    if (event.outcome === 'unknown') {
        return event.committed ? 'the answer to COMMIT was lost; it did commit' : 'the answer to COMMIT was lost; it did not commit';
    }
    return event.outcome ?? { stops: 'held up inside its transaction', waits: 'waits for a lock', pause: 'stops for a while',
        settle: 'faults stop here', environment: 'a fault of the environment', crash: 'died' }[event.turn] ?? '';
}

function laneName(trace, event) {
    return trace.lanes[trace.laneAt[event.lane]] ?? 'nobody';
}

function eventWords(trace, event) {
    const parts = [`Step ${event.step}`, laneName(trace, event), event.what, outcomeWords(event),
        event.fault ? `fault ${event.fault}` : '', event.breach ? `here ${event.breach} breaks` : ''];
    return parts.filter(Boolean).join(', ');
}
