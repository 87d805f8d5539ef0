// What must hold for a page, whatever report it shows. Each check gives a list of what is wrong; each is
// itself put to the test in browser.mjs, on a page that is spoilt on purpose.

/** Listens to a page from before it is opened: errors, warnings, and requests for anything but the file. */
export function watch(page, address) {
    const problems = [];
    page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`error: ${error.stack}`));
    page.on('request', (request) => {
        if (request.url().split('#')[0] !== address) problems.push(`request: ${request.url()}`);
    });
    return problems;
}

/** Text whose contrast with what it stands on is below WCAG's AA. */
export function contrastProblems(page) {
    return page.evaluate(() => {
        const paper = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
        const known = new Map();
        const rgba = (colour) => {
            if (!known.has(colour)) {
                paper.clearRect(0, 0, 1, 1);
                paper.fillStyle = colour;
                paper.fillRect(0, 0, 1, 1);
                const [r, g, b, a] = paper.getImageData(0, 0, 1, 1).data;
                known.set(colour, [r, g, b, a / 255]);
            }
            return known.get(colour);
        };
        const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
        const groundOf = (element) => {
            const layers = [];
            for (let at = element; at; at = at.parentElement) {
                const style = getComputedStyle(at);
                if (style.backgroundImage !== 'none') return null; // a gradient: its ends are tested elsewhere
                layers.push(rgba(style.backgroundColor));
                if (layers.at(-1)[3] === 1) break;
            }
            return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255, 1]);
        };
        const light = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
            const part = colour[i] / 255;
            return sum + weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        }, 0);
        const problems = new Set();
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const element = walker.currentNode.parentElement;
            if (walker.currentNode.textContent.trim() === '' || element.closest('script, noscript, .unseen, [aria-hidden="true"]:not(.lane-heads)')) continue;
            if (!element.checkVisibility() || element.getClientRects().length === 0) continue;
            const style = getComputedStyle(element);
            const ground = groundOf(element);
            if (!ground) continue;
            const ink = over(rgba(element instanceof SVGElement ? style.fill : style.color), ground);
            const [high, low] = [light(ink), light(ground)].sort((a, b) => b - a);
            const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
            const contrast = (high + 0.05) / (low + 0.05);
            if (contrast < (isLarge ? 3 : 4.5)) {
                problems.add(`contrast ${contrast.toFixed(2)}: ${element.tagName}.${element.getAttribute('class')} "${walker.currentNode.textContent.slice(0, 30)}"`);
            }
        }
        return [...problems];
    });
}

/** Cells and facts that say nothing at all. */
export function emptyBoxes(page) {
    return page.evaluate(() => [...document.querySelectorAll('tbody td, tbody th, dd, .tile .value, .tile .note')]
        .filter((box) => box.textContent.trim() === '').map((box) => `empty: ${box.closest('section')?.id} ${box.outerHTML.slice(0, 120)}`));
}

/** A page that is wider than the window. */
export function sidewaysScroll(page) {
    return page.evaluate(() => {
        if (document.documentElement.scrollWidth <= innerWidth) return [];
        const wide = [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > innerWidth && !element.closest('.sideways, nav ul, .diagram'));
        return [`the page is ${document.documentElement.scrollWidth} wide: ${wide.slice(0, 3).map((element) => element.outerHTML.slice(0, 100)).join(' ')}`];
    });
}

/** Things to press that have no name, and elements that share an id. */
export function namelessControls(page) {
    return page.evaluate(() => {
        const nameless = [...document.querySelectorAll('button, a[href], input, select, [tabindex="0"]')]
            .filter((control) => !(control.getAttribute('aria-label') || control.textContent.trim())).map((control) => `nameless: ${control.outerHTML.slice(0, 120)}`);
        const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
        return nameless.concat(ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `twice: #${id}`));
    });
}
