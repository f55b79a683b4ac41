"""The page in a real browser: does it show every result, sort by every column, filter, and is it readable in light and in dark?"""

import json
import math
import sys

from .browser import Browser, BrowserError

ROWS = "[...document.querySelectorAll('#cases tbody tr')].map(row => [...row.children].map(cell => cell.textContent))"
HEADS = "[...document.querySelectorAll('#cases thead button')].map(button => button.dataset.key)"
#: The least contrast of text with what is behind it, over all cells, badges and paragraphs (WCAG 2.1, relative luminance); 4.5 is what text needs.
CONTRAST = """(() => {
  const channel = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = element => { for (let e = element; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  let worst = [99, ""];
  for (const element of document.querySelectorAll("h1, h2, p, td, th, th button, .badge, a, output, dt, dd, .tile span, label, figcaption, figure svg text")) {
    const style = getComputedStyle(element), front = light(parse(element.closest("svg") ? style.fill : style.color)), back = light(behind(element));
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (ratio < worst[0]) worst = [ratio, element.tagName + " " + element.textContent.slice(0, 30)];
  }
  return worst;
})()"""


def choose(browser, control, value):
    browser.run(f"(() => {{ const c = document.getElementById({json.dumps(control)}); c.value = {json.dumps(value)}; c.dispatchEvent(new Event('input')); }})()")


def complaints_of(browser, folder):
    """What is wrong with the page that the browser has loaded."""
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    results, found = document["results"], []
    if not results:
        return ["it holds no results"]

    def check(right, complaint):
        if not right:
            found.append(complaint)

    shown = browser.run(ROWS)
    check(len(shown) == len(results), f"{len(shown)} rows are shown, there are {len(results)} results")
    recommended = browser.run("[...document.querySelectorAll('#recommendations tbody tr')].map(row => row.querySelector('code')?.textContent ?? '')")
    check(sorted(filter(None, recommended)) == sorted(entry["options"] for entry in recommendations(folder) if entry["options"]), "the recommendations shown are not those of the file")
    keys = browser.run(HEADS)
    check({"problem", "outcome", "total_seconds", "iterations"} <= set(keys), f"columns are missing: {keys}")
    for place, key in enumerate(keys):
        for up in (True, False):
            browser.run(f"document.querySelector('#cases thead button[data-key={key}]').click()")
            state = browser.run(f"document.querySelector('#cases thead button[data-key={key}]').closest('th').getAttribute('aria-sort')")
            order = browser.run(f"cases.body.children.length && (() => {{ const c = cases.columns[{place}].key; "
                                "return [...cases.body.children].length === cases.visible.length && cases.sort.key === c && cases.sort.up; })()")
            check(state == ("ascending" if order else "descending"), f"{key}: the head says {state}")
            values = [cells[place] for cells in browser.run(ROWS)]
            check(in_order(browser, results, key, values, order), f"{key}: rows are not in order, {'up' if order else 'down'}")
    for control, key in (("type", "type"), ("outcome", "outcome")):
        for value in sorted({row[key] for row in results}):
            choose(browser, control, value)
            want = sum(row[key] == value for row in results)
            have = browser.run("document.querySelectorAll('#cases tbody tr').length")
            check(have == want, f"filtered by {key} {value}: {have} rows, {want} are right")
        choose(browser, control, "")
    word = results[0]["problem"]
    choose(browser, "find", word)
    have = [cells[0] for cells in browser.run(ROWS)]
    check(have and all(part.lower() in " ".join(have).lower() for part in word.split()) and len(have) < len(results) or len({row["problem"] for row in results}) == 1,
          f"the text filter '{word}' leaves {len(have)} rows")
    choose(browser, "find", "no such thing anywhere")
    check(browser.run("document.querySelectorAll('#cases tbody tr').length") == 0, "a text that is nowhere leaves rows")
    check(browser.run("document.getElementById('count').textContent").startswith("0 of"), "the count does not say 0")
    browser.run("document.getElementById('clear').click()")
    check(browser.run("document.querySelectorAll('#cases tbody tr').length") == len(results), "Clear does not bring all rows back")
    return found


def in_order(browser, results, key, values, up):
    """Whether the column's cells, as shown, are in the order of the values behind them; empty ones stand last. What order text has is for the browser to say."""
    numeric = all(isinstance(row.get(key), (int, float)) or row.get(key) is None for row in results)
    if not numeric:
        filled = [value for value in values if value]
        falls = browser.run(f"{json.dumps(filled)}.some((v, i, all) => i > 0 && {'' if up else '-'}all[i - 1].localeCompare(v, 'en', {{numeric: true}}) > 0)")
        return values[:len(filled)] == filled and not falls
    shown = [number(value) for value in values]
    filled = [value for value in shown if value is not None]
    if shown[:len(filled)] != filled:
        return False
    slack = 1.01  # shown with three digits
    pairs = zip(filled, filled[1:]) if up else zip(filled[1:], filled)
    return all(a <= b * slack + 1e-12 for a, b in pairs)


def number(text):
    text = text.replace(",", "").replace("×", "").strip()
    if not text:
        return None
    scale = 1e-3 if text.endswith("ms") else 1.0
    return float(text.removesuffix("ms").removesuffix("s").strip()) * scale


def recommendations(folder):
    return json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))["recommendations"]


def check(folder, themes=("light", "dark")):
    """Loads the page in these themes, leaves a picture of each beside it, and returns what is wrong."""
    with Browser() as browser:
        found = []
        for theme in themes:
            browser.theme(theme)
            browser.load(folder / "index.html")
            ratio, where = browser.run(CONTRAST)
            if not ratio >= 4.5 or math.isnan(ratio):
                found.append(f"{theme}: the contrast of {where} is {ratio:.1f}")
            browser.picture(folder / f"page-{theme}.png", whole=True)
        found += complaints_of(browser, folder)
        return found + browser.errors


def main(folder):
    try:
        found = check(folder)
    except (BrowserError, OSError, ValueError) as error:
        print(f"evaluate: the page was not checked: {error}", file=sys.stderr)
        return 1
    for complaint in found:
        print(f"evaluate: the page: {complaint}", file=sys.stderr)
    if not found:
        print(f"The page holds in a browser: every column sorts, filters filter. Pictures: {folder / 'page-light.png'}, page-dark.png")
    return 1 if found else 0
