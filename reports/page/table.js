// ---- table.js: tables that can be sorted and filtered -----------------------------------------------

const ROWS_AT_FIRST = 25; // of a long table; on paper all are shown

/**
 * A table of `rows`.
 *   name      what a row is, as [one, many]
 *   columns   {title, cell(row) -> node or text, by(row) -> what it is sorted by, number: bool, wide: bool}
 *   search    (row) -> the text that the search box looks into; null: no search box
 *   choices   [{label, of(row)}]: a menu each, with the values that occur
 */
function table({ label, name, columns, rows, search = null, choices = [], extra = null }) {
    const state = { rows, sorted: null, descending: false, text: '', chosen: choices.map(() => ''), all: false };
    const body = element('tbody');
    const count = element('span', { class: 'count', role: 'status' });
    const more = element('button', { type: 'button', class: 'more' });
    const heads = columns.map((column, index) => headCell(column, () => sortBy(index)));

    function sortBy(index) {
        // Numbers are looked at from the largest down, words from A on.
        state.descending = state.sorted === index ? !state.descending : Boolean(columns[index].number);
        state.sorted = index;
        draw();
    }

    function draw() {
        const shown = sortRows(state.rows.filter(isShown), columns[state.sorted], state.descending);
        heads.forEach((head, index) => markSorted(head, index === state.sorted, state.descending));
        body.replaceChildren(...shown.map((row) => bodyRow(columns, row)));
        if (shown.length === 0) body.append(emptyRow(columns.length, `No ${name[1]} match.`));
        body.classList.toggle('clipped', !state.all);
        more.hidden = shown.length <= ROWS_AT_FIRST;
        more.textContent = state.all ? 'Show fewer' : `Show all ${counted(shown.length, ...name)}`;
        more.setAttribute('aria-expanded', String(state.all));
        count.textContent = shown.length === rows.length ? counted(rows.length, ...name)
            : `${formatNumber(shown.length)} of ${counted(rows.length, ...name)}`;
    }

    function isShown(row) {
        return choices.every((choice, index) => state.chosen[index] === '' || choice.of(row) === state.chosen[index])
            && (state.text === '' || search(row).toLowerCase().includes(state.text));
    }

    more.addEventListener('click', () => { state.all = !state.all; draw(); });
    const tools = search === null && choices.length === 0 ? null : element('div', { class: 'tools' },
        search && searchBox(name[1], (text) => { state.text = text; draw(); }),
        choices.map((choice, index) => menu(choice, rows, (value) => { state.chosen[index] = value; draw(); })),
        count);
    draw();
    const made = element('div', { class: 'table' }, tools, extra,
        sideways(label, element('table', {}, element('caption', { class: 'unseen' }, label),
            element('thead', {}, element('tr', {}, heads)), body)), more);
    /** From outside: shows only rows with this value in a menu, as if it were chosen there. */
    made.choose = (index, value) => {
        const select = made.querySelectorAll('.tools select')[index];
        select.value = value;
        select.dispatchEvent(new Event('change'));
    };
    return made;
}

function headCell(column, sort) {
    const text = element('span', {}, column.title);
    const content = column.by
        ? element('button', { type: 'button', class: 'sort', onclick: sort }, text)
        : text;
    return element('th', { scope: 'col', class: column.number ? 'number' : null, title: column.about }, content);
}

function markSorted(head, isSorted, descending) {
    if (isSorted) head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    else head.removeAttribute('aria-sort');
}

function classOf(column) {
    return [column.number && 'number', column.wide && 'wide', column.code && 'code'].filter(Boolean).join(' ') || null;
}

function bodyRow(columns, row) {
    return element('tr', {}, columns.map((column, index) => index === 0
        ? element('th', { scope: 'row', class: classOf(column) }, column.cell(row))
        : element('td', { class: classOf(column) }, column.cell(row))));
}

function emptyRow(span, words) {
    return element('tr', {}, element('td', { colspan: span, class: 'nothing' }, words));
}

function sortRows(rows, column, descending) {
    if (!column) return rows;
    const sign = descending ? -1 : 1;
    return [...rows].sort((a, b) => {
        const [left, right] = [column.by(a), column.by(b)];
        // What was not measured stands last, whichever way the rest is sorted.
        if (isMissing(left) || isMissing(right)) return Number(isMissing(left)) - Number(isMissing(right));
        return sign * compare(left, right);
    });
}

/** "ACL-9" before "ACL-10". */
const byWords = new Intl.Collator('en', { numeric: true });
function compare(left, right) {
    return typeof left === 'number' && typeof right === 'number' ? left - right : byWords.compare(left, right);
}

function searchBox(many, changed) {
    const input = element('input', { type: 'search', placeholder: `Search ${many}`, 'aria-label': `Search ${many}` });
    input.addEventListener('input', () => changed(input.value.trim().toLowerCase()));
    return input;
}

function menu(choice, rows, changed) {
    const values = [...new Set(rows.map(choice.of).filter((value) => !isMissing(value)))].sort(compare);
    const select = element('select', { 'aria-label': choice.label },
        element('option', { value: '' }, choice.all),
        values.map((value) => element('option', { value }, value)));
    select.addEventListener('change', () => changed(select.value));
    return select;
}
