// ---- main.js: the page ------------------------------------------------------------------------------

const SECTIONS = [['verdict', 'Verdict'], ['findings', 'Findings'], ['promises', 'Promises'], ['faults', 'Faults'],
    ['points', 'Crash points'], ['machines', 'Machines'], ['kills', 'Planted bugs'], ['runs', 'Runs'],
    ['speed', 'Throughput'], ['repeat', 'Reproduce']];
const SCHEMES = ['light dark', 'light', 'dark']; // as the system has it, or as the reader wants it
const SCHEME_WORDS = { 'light dark': 'auto', light: 'light', dark: 'dark' };
// A browser takes about seven changes of the address a second, and a held key steps faster than that.
const LINK_DELAY_MS = 200;
const NAVIGATION_HEIGHT = 56; // scroll-padding-top in page.css

function start() {
    const data = JSON.parse(document.getElementById('data').textContent, exactly);
    document.title = `Assay: ${isMissing(data.verdict) ? 'report' : verdictWords(data)}`;
    const findings = findingsSection(data, linkLater());
    document.getElementById('report').append(verdictSection(data), findings.node, promisesSection(data), faultsSection(data),
        pointsSection(data), machinesSection(data), killsSection(data), runsSection(data), speedSection(data), repeatSection(data));
    document.getElementById('navigation').append(
        element('ul', {}, SECTIONS.map(([id, title]) => element('li', {}, element('a', { href: `#${id}` }, title)))),
        schemeButton(findings.redraw));
    markCurrentSection();
    followLinks(findings);
    document.addEventListener('keydown', (event) => {
        if (event.target.closest('input, select, textarea')) return;
        if (findings.key(event)) event.preventDefault();
    });
}

/** A seed has 64 bits and a number here 53: a larger one is kept as it was written. */
function exactly(key, value, context) {
    const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
    return isRounded ? context?.source ?? value : value;
}

// ---- links ------------------------------------------------------------------------------------------

/** Puts the link to what is shown into the address, when the reader has stopped stepping. A link that the reader
    followed meanwhile is in the address before anybody is told of it: it stays. */
function linkLater() {
    let timer = null;
    let isFirst = true; // what is shown at the start is nobody's choice
    return (link) => {
        if (isFirst) { isFirst = false; return; }
        clearTimeout(timer);
        const address = location.href;
        timer = setTimeout(() => { if (location.href === address) history.replaceState(null, '', link); }, LINK_DELAY_MS);
    };
}

function followLinks(findings) {
    const follow = () => {
        const wanted = new URLSearchParams(location.hash.slice(1));
        if (!wanted.has('finding')) {
            document.getElementById(location.hash.slice(1))?.scrollIntoView();
            return;
        }
        if (!findings.open({ finding: wanted.get('finding'), schedule: wanted.get('schedule'), step: wanted.get('step') })) return;
        const view = document.getElementById('viewer');
        // On a small screen the finding's sentence alone would fill it.
        (view.offsetHeight + NAVIGATION_HEIGHT < innerHeight ? view : view.querySelector('.controls')).scrollIntoView();
        document.querySelector('.diagram').focus({ preventScroll: true });
    };
    addEventListener('hashchange', follow);
    if (location.hash) follow();
}

/** The link of the section that is being read is marked. */
function markCurrentSection() {
    const links = new Map([...document.querySelectorAll('#navigation a')].map((link) => [link.hash.slice(1), link]));
    const inSight = new Set();
    const observer = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) {
            if (isIntersecting) inSight.add(target.id);
            else inSight.delete(target.id);
        }
        const current = SECTIONS.find(([id]) => inSight.has(id))?.[0];
        for (const [id, link] of links) {
            if (id === current) link.setAttribute('aria-current', 'location');
            else link.removeAttribute('aria-current');
        }
    }, { rootMargin: '-60px 0px -60% 0px' });
    for (const id of links.keys()) observer.observe(document.getElementById(id));
}

// ---- light and dark ---------------------------------------------------------------------------------

function schemeButton(changed) {
    const button = element('button', { type: 'button', class: 'scheme' });
    const apply = (scheme) => {
        document.documentElement.style.colorScheme = scheme;
        button.textContent = SCHEME_WORDS[scheme];
        button.setAttribute('aria-label', `Colours: ${SCHEME_WORDS[scheme]}`);
        button.title = 'Colours: as the system has them, light, dark';
        button.dataset.scheme = scheme;
        changed();
    };
    button.addEventListener('click', () => {
        const next = SCHEMES[(SCHEMES.indexOf(button.dataset.scheme) + 1) % SCHEMES.length];
        remember(next);
        apply(next);
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
    apply(remembered());
    return button;
}

// Storage may be refused to a page from disk; then the choice lasts as long as the page.
function remember(scheme) {
    try { localStorage.setItem('assay-scheme', scheme); } catch { /* it is a convenience */ }
}

function remembered() {
    try {
        const scheme = localStorage.getItem('assay-scheme');
        return SCHEMES.includes(scheme) ? scheme : SCHEMES[0];
    } catch {
        return SCHEMES[0];
    }
}

start();
