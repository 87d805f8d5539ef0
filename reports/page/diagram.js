// ---- diagram.js: the space-time diagram ---------------------------------------------------------------
// Time runs down, a row a step; a lane an actor. Only the rows in sight are in the page, and a few more:
// 5,000 steps cost no more than 50.

const ROW_HEIGHT = 42; // two lines of words; page.css has it too
const ROWS_BEYOND = 8; // above and below what is in sight; drawn anew when as many have passed
const GUTTER = 52; // where the numbers of the steps stand
const STORE_WIDTH = 60;
const TRACK_WIDTH = 11;
const QUEUE_WIDTH = 20 + QUEUE_TRACKS * TRACK_WIDTH + 76;
const LANE_WIDTH_MIN = 132;
const CLIENT_WIDTH_MIN = 112; // a flag finds room over it
const LANE_WIDTH_MAX = 280;
const LANE_GAP = 8;
const FLAG_LETTER = 7; // the width of a flag: of a letter, and of what is around them
const FLAG_PADDING = 18;
const MESSAGE_DROP = 9; // a message's arrow runs this far below the middle of its row

/**
 * A diagram that draws `read` (trace.js) and calls `picked(index)` when a step is clicked. `flags` says
 * what stands beside a step: (event) -> {words, look} or null.
 */
function diagram(picked, flags) {
    const heads = element('div', { class: 'lane-heads', 'aria-hidden': 'true' });
    const lines = vector('svg', { class: 'lines', 'aria-hidden': 'true' });
    const rows = element('div', { class: 'rows', role: 'presentation' });
    const sheet = element('div', { class: 'sheet', role: 'presentation' }, lines, rows);
    const box = element('div', { class: 'diagram', tabindex: 0, role: 'listbox', 'aria-label': 'Steps of the schedule' }, heads, sheet);
    const overview = element('canvas', { class: 'overview', 'aria-hidden': 'true', title: 'All steps; faults and the broken promise are marked' });
    const state = { read: null, lanes: [], current: 0, drawn: null, colours: null, isDue: false };

    function show(read, current) {
        state.read = read;
        state.current = current;
        sheet.style.height = `${read.events.length * ROW_HEIGHT}px`;
        layOut();
        bringIntoSight();
    }

    function select(current) {
        state.current = current;
        bringIntoSight();
        draw(false);
        markCurrent();
        overviewSoon();
    }

    /** The current step among those that are drawn, and the messages that it has to do with. */
    function markCurrent() {
        for (const row of rows.querySelectorAll('.current')) setCurrent(row, false);
        const row = rows.querySelector(`#step-${state.current}`);
        if (row) setCurrent(row, true);
        const lit = litMessages(state.read.events[state.current]);
        for (const shape of lines.querySelectorAll('.message')) shape.classList.toggle('lit', lit.has(shape.dataset.message));
        box.setAttribute('aria-activedescendant', `step-${state.current}`);
    }

    // Once a frame, however many steps a held key takes in it.
    function overviewSoon() {
        if (state.isDue) return;
        state.isDue = true;
        requestAnimationFrame(() => {
            state.isDue = false;
            state.colours ??= coloursFor(overview, ['--strip-window', '--fault', '--broken', '--accent']);
            drawOverview(overview, state);
        });
    }

    /** Lanes share the width that there is; when it is too little for them, the box scrolls sideways. */
    function layOut() {
        if (!state.read || box.clientWidth === 0) return;
        state.lanes = laneColumns(state.read.lanes, box.clientWidth);
        const last = state.lanes.at(-1);
        sheet.style.width = `${last.left + last.width}px`;
        heads.style.width = sheet.style.width;
        heads.replaceChildren(...state.lanes.map((lane) => placed(element('span', { class: 'lane-head' }, lane.name), lane)));
        draw(true);
        markCurrent();
        overviewSoon();
    }

    function bringIntoSight() {
        const top = state.current * ROW_HEIGHT;
        const height = box.clientHeight - heads.offsetHeight;
        const margin = Math.min(2 * ROW_HEIGHT, height / 3);
        if (top < box.scrollTop + margin) box.scrollTop = top - margin;
        else if (top + ROW_HEIGHT > box.scrollTop + height - margin) box.scrollTop = top + ROW_HEIGHT + margin - height;
        const event = state.read.events[state.current];
        const lane = event && state.lanes[state.read.laneAt[event.lane]];
        if (!lane) return;
        if (lane.left - GUTTER < box.scrollLeft) box.scrollLeft = lane.left - GUTTER;
        else if (lane.left + lane.width > box.scrollLeft + box.clientWidth) box.scrollLeft = lane.left + lane.width - box.clientWidth;
    }

    function draw(always) {
        if (!state.read || state.lanes.length === 0) return;
        const count = state.read.events.length;
        const blockOf = (y) => Math.floor(y / (ROW_HEIGHT * ROWS_BEYOND));
        const first = Math.max(0, (blockOf(box.scrollTop) - 1) * ROWS_BEYOND);
        const last = Math.min(count, (blockOf(box.scrollTop + box.clientHeight) + 2) * ROWS_BEYOND) - 1;
        if (!always && state.drawn && state.drawn.first === first && state.drawn.last === last) return;
        state.drawn = { first, last };
        const scene = { ...state, first, last, count };
        rows.replaceChildren(...range(first, last).map((index) => stepRow(scene, index, flags)));
        drawLines(lines, scene);
    }

    box.addEventListener('scroll', () => { draw(false); markCurrent(); overviewSoon(); }); // comes once a frame
    rows.addEventListener('click', (event) => {
        const row = event.target.closest('.step-row');
        if (row) picked(Number(row.dataset.index));
    });
    overview.addEventListener('click', (event) => {
        const height = event.offsetY / overview.clientHeight;
        picked(Math.min(state.read.events.length - 1, Math.floor(height * state.read.events.length)));
    });
    // The first size comes when the page shows the box, which is after the first step was chosen.
    new ResizeObserver(() => { layOut(); if (state.read) bringIntoSight(); }).observe(box);
    const redraw = () => { state.colours = null; overviewSoon(); };
    return { box, overview, show, select, redraw };
}

function range(first, last) {
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, offset) => first + offset);
}

function laneColumns(names, width) {
    const least = names.map((name) => ({ [STORE]: STORE_WIDTH, [QUEUE]: QUEUE_WIDTH, client: CLIENT_WIDTH_MIN })[name] ?? LANE_WIDTH_MIN);
    const isActor = (name) => ![STORE, QUEUE, 'client'].includes(name);
    const spare = Math.max(0, width - GUTTER - least.reduce((all, one) => all + one, 0));
    const each = spare / Math.max(1, countOf(names, isActor));
    let left = GUTTER;
    return names.map((name, index) => {
        const lane = { name, left, width: isActor(name) ? Math.min(LANE_WIDTH_MAX, least[index] + each) : least[index] };
        left += lane.width;
        return lane;
    });
}

function placed(made, lane) {
    made.style.left = `${lane.left}px`;
    made.style.width = `${lane.width}px`;
    return made;
}

// ---- rows -------------------------------------------------------------------------------------------

function stepRow(scene, index, flags) {
    const { read, lanes } = scene;
    const event = read.events[index];
    const lane = lanes[read.laneAt[event.lane]];
    const row = element('div', { class: event.breach ? 'step-row breach' : 'step-row', role: 'option', id: `step-${index}`,
        'data-index': index, 'aria-selected': 'false', 'aria-label': eventWords(read, event),
        'aria-posinset': index + 1, 'aria-setsize': scene.count },
    element('span', { class: 'step-number' }, event.step), lane ? act(event, lane) : null,
    flagOf(flags(event), lane, lanes), publishedNames(read, event, lanes));
    row.style.top = `${index * ROW_HEIGHT}px`;
    return row;
}

function setCurrent(row, isCurrent) {
    row.classList.toggle('current', isCurrent);
    row.setAttribute('aria-selected', String(isCurrent));
}

/** What the actor did: the bar. */
function act(event, lane) {
    const words = event.fault ? `${event.what} (${event.fault})` : event.what;
    const made = element('span', { class: `act is-${glyphOf(event)}${event.fault ? ' faulty' : ''}`, title: `${words}: ${outcomeWords(event)}` },
        glyph(glyphOf(event)), element('span', { class: 'what' }, event.what));
    made.style.left = `${lane.left + LANE_GAP / 2}px`;
    made.style.width = `${lane.width - LANE_GAP}px`;
    return made;
}

/** Over lanes that nothing happens in at this step, never over the store or the queue: left of the bar, from which all
    lines go to the right; else right of it, if the lanes of actors have the room; else over the lane of the world. */
function flagOf(flag, lane, lanes) {
    if (!flag || !lane) return null;
    const made = element('span', { class: `flag ${flag.look}` }, flag.words);
    const width = flag.words.length * FLAG_LETTER + FLAG_PADDING;
    const [store, world] = [lanes.find((other) => other.name === STORE), lanes.at(-1)];
    const right = lane.left + lane.width;
    if (lane === world) made.style.left = `${GUTTER + LANE_GAP / 2}px`;
    else if (lane.left - GUTTER >= width) made.style.right = `calc(100% - ${lane.left}px)`;
    else made.style.left = `${(right + width <= store.left ? right : world.left) + LANE_GAP / 2}px`;
    return made;
}

function publishedNames(read, event, lanes) {
    const ids = event.committed ? listOf(event.publishes) : [];
    if (ids.length === 0) return null;
    const names = ids.map((id) => read.messages.get(id)?.name ?? `message ${id}`).join(', ');
    const queue = lanes.find((lane) => lane.name === QUEUE);
    const isBeyond = read.lanes[read.laneAt[event.lane]] === WORLD; // its arrow runs below the names
    const made = element('span', { class: isBeyond ? 'published beyond' : 'published', title: `published: ${names}` }, element('span', {}, names));
    made.style.left = `${queue.left + 14 + QUEUE_TRACKS * TRACK_WIDTH}px`;
    made.style.width = `${queue.width - 18 - QUEUE_TRACKS * TRACK_WIDTH}px`;
    return made;
}

// ---- lines ------------------------------------------------------------------------------------------

function drawLines(svg, scene) {
    const top = scene.first * ROW_HEIGHT;
    const height = (scene.last - scene.first + 1) * ROW_HEIGHT;
    const end = scene.lanes.at(-1);
    const width = end.left + end.width;
    svg.style.top = `${top}px`;
    svg.setAttribute('width', width);
    svg.setAttribute('height', Math.max(0, height));
    svg.setAttribute('viewBox', `0 ${top} ${width} ${Math.max(1, height)}`);
    svg.replaceChildren(
        ...scene.lanes.map((lane) => lifeLine(lane, top, height)),
        ...scene.read.spans.filter((span) => meets(span, scene)).flatMap((span) => spanShape(span, scene)),
        ...[...scene.read.messages.values()].filter((life) => meets(life, scene)).flatMap((life) => messageShape(life, scene)),
        ...range(scene.first, scene.last).flatMap((index) => eventShapes(scene.read.events[index], index, scene)));
}

const meets = (stretch, scene) => stretch.from <= scene.last && stretch.to >= scene.first;
const middleOf = (index) => index * ROW_HEIGHT + ROW_HEIGHT / 2;

function line(x1, y1, x2, y2, look) {
    return vector('line', { x1, y1, x2, y2, class: look });
}

/** Where an actor's line runs: a little inside of the left edge of its bars. The store's: in the middle. */
function lifeX(lane) {
    return lane.name === STORE ? lane.left + lane.width / 2 : lane.left + 16;
}

function lifeLine(lane, top, height) {
    const edge = line(lane.left, top, lane.left, top + height, 'lane-edge');
    return lane.name === QUEUE ? edge
        : vector('g', {}, edge, line(lifeX(lane), top, lifeX(lane), top + height, `life${lane.name === STORE ? ' store' : ''}`));
}

/** Between two events of a lane: an open transaction is a bar, a dead or paused actor an interrupted line. */
function spanShape(span, scene) {
    const lane = scene.lanes[scene.read.laneAt[span.lane]];
    if (!lane) return [];
    const [from, to] = [middleOf(span.from), middleOf(span.to)];
    if (span.kind === 'dead' || span.kind === 'paused') {
        return [line(lifeX(lane), from, lifeX(lane), to, 'erased'), line(lifeX(lane), from, lifeX(lane), to, `life ${span.kind}`)];
    }
    return [vector('rect', { x: lane.left + LANE_GAP / 2, y: from, width: lane.width - LANE_GAP, height: to - from,
        class: `transaction ${span.kind}` }, vector('title', {}, span.kind === 'open' ? 'a transaction is open' : 'it waits for a lock'))];
}

function trackX(life, lanes) {
    const queue = lanes.find((lane) => lane.name === QUEUE);
    return queue.left + 12 + life.track * TRACK_WIDTH;
}

function litMessages(event) {
    return new Set([event?.claims, event?.acks, ...listOf(event?.publishes)].filter((id) => !isMissing(id)).map(String));
}

/** A message while it is in the queue: thin while it waits, thick while somebody holds it. */
function messageShape(life, scene) {
    const x = trackX(life, scene.lanes);
    const y = (index) => middleOf(index) + MESSAGE_DROP;
    const end = life.isAcked ? y(life.to) : (life.to + 1) * ROW_HEIGHT;
    return [vector('g', { class: 'message', 'data-message': life.id }, vector('title', {}, life.name),
        line(x, y(life.from), x, end, 'waiting'),
        ...life.holds.map((hold) => line(x, y(hold.from), x, hold.to === life.to ? end : y(hold.to), 'held-by')))];
}

function eventShapes(event, index, scene) {
    const lane = scene.lanes[scene.read.laneAt[event.lane]];
    if (!lane) return [];
    return [...storeShapes(event, index, lane, scene), ...queueShapes(event, index, lane, scene)];
}

/** The edge of a bar that faces a point. */
function edgeTowards(lane, x) {
    return lane.left < x ? lane.left + lane.width - LANE_GAP / 2 : lane.left + LANE_GAP / 2;
}

function storeShapes(event, index, lane, scene) {
    const isReached = event.turn === 'transaction' || listOf(event.changes).length > 0;
    if (!isReached) return [];
    const x = lifeX(scene.lanes.find((other) => other.name === STORE));
    const y = middleOf(index);
    const isLost = event.outcome === 'unknown' || event.fault?.startsWith('unknown');
    const look = event.committed ? 'kept' : 'undone';
    const from = edgeTowards(lane, x);
    return [line(from, y, x, y, `commit ${look}${isLost ? ' lost' : ''}`),
        vector('circle', { cx: x, cy: y, r: 4.5, class: `commit ${look}` }, vector('title', {}, event.committed ? 'committed' : 'nothing was kept')),
        ...(isLost ? [lostAnswer((from + x) / 2, y)] : [])];
}

/** A cut through the line on which the answer would have come. */
function lostAnswer(x, y) {
    return vector('g', { class: 'lost-answer' }, vector('title', {}, 'the answer to COMMIT was lost'),
        vector('rect', { x: x - 34, y: y - 8, width: 68, height: 16, rx: 8 }),
        vector('text', { x, y: y + 3.5 }, 'answer lost'));
}

function queueShapes(event, index, lane, scene) {
    const y = middleOf(index) + MESSAGE_DROP;
    const shapes = [];
    const reach = (id, make) => {
        const life = scene.read.messages.get(id);
        if (!life) return;
        const x = trackX(life, scene.lanes);
        shapes.push(vector('g', { class: 'message', 'data-message': id }, make(edgeTowards(lane, x), x)));
    };
    if (!event.committed) return shapes;
    for (const id of listOf(event.publishes)) {
        reach(id, (from, to) => [line(from, y, to, y, 'arrow'), arrowHead(to, y, Math.sign(to - from)), vector('circle', { cx: to, cy: y, r: 2.5, class: 'end' })]);
    }
    if (!isMissing(event.claims)) reach(event.claims, (to, from) => [line(from, y, to, y, 'arrow'), arrowHead(to, y, Math.sign(to - from))]);
    if (!isMissing(event.acks)) reach(event.acks, (from, to) => [line(from, y, to, y, 'arrow ack'), line(to - 4, y, to + 4, y, 'terminal')]);
    return shapes;
}

function arrowHead(x, y, direction) {
    return vector('path', { d: `M${x} ${y}l${-6 * direction} -3.5v7z`, class: 'head' });
}

// ---- overview ---------------------------------------------------------------------------------------

/** All steps as a strip: a mark a fault, a broad one where a promise breaks; what is in sight has a ground. */
function drawOverview(canvas, { read, current, drawn, colours }) {
    if (!read || !drawn || canvas.clientHeight === 0) return;
    const scale = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = width * scale;
    canvas.height = height * scale;
    const paper = canvas.getContext('2d');
    paper.scale(scale, scale);
    const y = (index) => (height * index) / Math.max(1, read.events.length);
    const each = Math.min(5, height / read.events.length - 1);
    const mark = (index, left, thick, name) => {
        paper.fillStyle = colours[name];
        paper.fillRect(left, y(index), width - left, Math.max(thick, each));
    };
    paper.fillStyle = colours['--strip-window'];
    paper.fillRect(0, y(drawn.first), width, Math.max(4, y(drawn.last + 1) - y(drawn.first)));
    const isBreach = (index) => Boolean(read.events[index].breach);
    for (const index of read.marks) if (!isBreach(index)) mark(index, 6, 1.5, '--fault');
    for (const index of read.marks) if (isBreach(index)) mark(index, 0, 3, '--broken');
    mark(current, 0, 2, '--accent');
}

// A custom property is read as it was written, and light-dark() in it means nothing to a canvas.
function coloursFor(canvas, names) {
    const written = getComputedStyle(canvas);
    const colours = names.map((name) => {
        canvas.style.color = written.getPropertyValue(name);
        return [name, getComputedStyle(canvas).color];
    });
    canvas.style.color = '';
    return Object.fromEntries(colours);
}
