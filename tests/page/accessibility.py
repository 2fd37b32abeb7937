"""Accessibility: contrast of all text and names of all controls, in light and dark, wide and narrow."""

from checks import VIEWS, check

# The WCAG contrast of each visible text with its background. The minimum is 4.5, or 3 for large text.
LOW_CONTRAST = """(() => {
  const parse = text => { const m = /rgba?\\(([^)]+)\\)/.exec(text); if (!m) return null; const [r, g, b, a = 1] = m[1].split(/[ ,/]+/).map(Number); return [r, g, b, a]; };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
  const light = color => { const [r, g, b] = color.map(each => (each /= 255) <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = element => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) { const color = parse(getComputedStyle(at).backgroundColor); if (color && color[3] > 0) layers.push(color); }
    return layers.reverse().reduce((below, layer) => over(layer, below), parse(getComputedStyle(document.documentElement).getPropertyValue('color-scheme') === 'dark' ? 'rgb(20,23,28)' : 'rgb(255,255,255)').slice(0, 3));
  };
  const low = [];
  let seen = 0;
  for (const element of document.querySelectorAll('body *')) {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (![...element.childNodes].some(node => node.nodeType === 3 && node.nodeValue.trim() !== '')) continue;
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0 || box.bottom < 0 || box.top > innerHeight) continue;
    if (element.closest('script, style, noscript, title')) continue;
    const style = getComputedStyle(element);
    const inSvg = element instanceof SVGElement;
    const color = parse(inSvg ? style.fill : style.color);
    if (!color) continue;
    let opacity = color[3];
    for (let at = element; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    // In an SVG picture, the background of a text is the rect next to it.
    const rect = inSvg ? element.parentElement.querySelector('rect') : null;
    const fill = rect ? parse(getComputedStyle(rect).fill) : null;
    const back = fill && fill[3] > 0 ? fill.slice(0, 3) : behind(inSvg ? element.closest('svg').parentElement : element);
    const front = over([...color.slice(0, 3), opacity], back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const min = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    ++seen;
    if ((a + 0.05) / (b + 0.05) < min - 0.005) low.push(`${element.tagName}.${element.className.baseVal ?? element.className} "${element.textContent.slice(0, 30)}" ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
  }
  return { seen, low: [...new Set(low)].slice(0, 8) };
})()"""

# Duplicate ids, dangling references, canvases without a label.
BROKEN = """(() => {
  const out = [];
  const ids = [...document.querySelectorAll('[id]')].map(each => each.id);
  if (new Set(ids).size !== ids.length) out.push('duplicate id');
  for (const each of document.querySelectorAll('[aria-controls], [aria-labelledby]')) for (const key of ['aria-controls', 'aria-labelledby']) if (each.hasAttribute(key) && !document.getElementById(each.getAttribute(key))) out.push(key + '=' + each.getAttribute(key));
  for (const each of document.querySelectorAll('canvas')) if (each.checkVisibility() && each.getAttribute('aria-hidden') !== 'true' && !(each.getAttribute('role') === 'img' && each.getAttribute('aria-label'))) out.push('canvas without a label: ' + each.className);
  if (!document.documentElement.lang || !document.title) out.push('no language or title');
  return out;
})()"""

NAMED = {"button", "tab", "searchbox", "textbox", "link", "image", "img", "treegrid", "dialog", "tabpanel", "toolbar", "columnheader"}


def unnamed_controls(page):
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    return [node["role"]["value"] for node in nodes
            if not node.get("ignored") and node.get("role", {}).get("value") in NAMED and not node.get("name", {}).get("value", "").strip()]


def everything(page, out, name):
    for dark, width in ((False, 1440), (False, 1024), (True, 1280)):
        page.theme(dark)
        page.size(width)
        page.open(out, "program")
        page.key("ArrowDown")
        page.key("ArrowDown")
        for number, view in enumerate(VIEWS, 1):
            page.key(str(number), wait=False)
            page.until(f"window.shoal.state().view === '{view}'")
            page.settled()
            where = f"{name} {view}, {'dark' if dark else 'light'}, {width} wide"
            found = page.js(LOW_CONTRAST)
            check(f"{where}: contrast of all text", found["seen"] > 10 and not found["low"], found)
            wide = page.js("[document.documentElement.scrollWidth, innerWidth]")
            check(f"{where}: no horizontal overflow", wide[0] <= wide[1], wide)
            if width == 1440:
                check(f"{where}: controls have names", not unnamed_controls(page), unnamed_controls(page))
                broken = page.js(BROKEN)
                check(f"{where}: ids and labels", not broken, broken)
    page.size(1440)
    page.theme(False)
    page.open(out, "overview")
    seen = set()
    for _ in range(12):
        page.key("Tab")
        seen.add(page.js("document.activeElement?.getAttribute('aria-label') || document.activeElement?.innerText || document.activeElement?.tagName"))
    check(f"{name}: the tab key reaches tabs, search, theme and help", {"Overview", "search instructions", "theme", "keyboard shortcuts"} <= seen, seen)
