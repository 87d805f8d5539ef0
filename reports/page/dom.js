// ---- dom.js: elements, and how numbers and what was not measured are written ------------------------
// Everything from the data goes into the page as text, never as markup.

/** An element. Attributes: `on…` are listeners, false and null are left out, true is an empty one. */
function element(tag, attributes = {}, ...children) {
    return furnish(document.createElement(tag), attributes, children);
}

function vector(tag, attributes = {}, ...children) {
    return furnish(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function furnish(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
        else if (value === true) made.setAttribute(name, '');
        else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return made;
}

function glyph(name, title = null) {
    const use = vector('use', { href: `#glyph-${name}` });
    return title === null
        ? vector('svg', { class: 'glyph', 'aria-hidden': 'true' }, use)
        : vector('svg', { class: 'glyph', role: 'img' }, vector('title', {}, title), use);
}

const isMissing = (value) => value === null || value === undefined;
const listOf = (value) => (Array.isArray(value) ? value : []);

const wholeNumber = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const shortNumber = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** 205000 as "205,000"; small fractions keep three digits that say something. */
function formatNumber(value) {
    if (typeof value !== 'number') return String(value);
    return Number.isInteger(value) || Math.abs(value) >= 1000 ? wholeNumber.format(value) : shortNumber.format(value);
}

/** "1 seed", "2 seeds". */
function counted(count, one, many = `${one}s`) {
    return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** What stands where a figure would stand if it had been measured. */
function notMeasured(words = 'not measured here') {
    return element('span', { class: 'absent', title: words },
        element('span', { 'aria-hidden': 'true' }, '–'), element('span', { class: 'unseen' }, words));
}

function figure(value) {
    return isMissing(value) ? notMeasured() : formatNumber(value);
}

function textOr(value, words) {
    return isMissing(value) || value === '' ? notMeasured(words) : String(value);
}

/** A command line with a button that copies it. */
function command(words) {
    const code = element('code', {}, words);
    const button = element('button', { type: 'button', class: 'copy', 'aria-label': `Copy: ${words}` }, 'copy');
    button.addEventListener('click', () => copyFrom(code, button));
    return element('span', { class: 'command' }, code, button);
}

// The clipboard may be refused to a page from disk; then the text is selected and Ctrl-C does it.
async function copyFrom(code, button) {
    try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = 'copied';
    } catch {
        getSelection().selectAllChildren(code);
        button.textContent = 'selected';
    }
    setTimeout(() => { button.textContent = 'copy'; }, 1500);
}

/** A box that scrolls sideways when its content is wider than the page; reachable by keyboard. */
function sideways(label, content) {
    return element('div', { class: 'sideways', role: 'region', 'aria-label': label, tabindex: 0 }, content);
}

function section(id, title, ...content) {
    return element('section', { id, 'aria-labelledby': `${id}-title` },
        element('h2', { id: `${id}-title` }, title), ...content);
}

function notice(words) {
    return element('p', { class: 'notice' }, words);
}
