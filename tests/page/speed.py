"""Speed of the page in CPU time, which is independent of other load on the machine."""

import json
import os
import statistics

import container
from checks import check, check_time

FRAME = 0.033
SEARCH = 0.1
SCROLL = """new Promise(async done => {
  const scroller = document.querySelector('.program .scroller');
  for (let i = 0; i < %d; ++i) {
    scroller.scrollTop = ((%d + i) * 7919 %% 100) / 100 * scroller.scrollHeight;
    await new Promise(next => requestAnimationFrame(() => setTimeout(next, 0)));
  }
  done(1);
})"""
SEARCHES = """new Promise(async done => {
  const input = document.querySelector('.search input');
  for (const text of %s) {
    input.value = text;
    input.dispatchEvent(new Event('input'));
    await new Promise(next => requestAnimationFrame(() => setTimeout(next, 0)));
  }
  done(1);
})"""


def median_frame(page, run, frames, times):
    """The median CPU time per frame of `times` runs of `frames` frames each."""
    seconds = []
    for i in range(times):
        before = page.browser.renderer_seconds()
        run(i)
        seconds.append((page.browser.renderer_seconds() - before) / frames)
    return statistics.median(seconds)


def many(page, out, folder):
    """A page with 200,000 slices and 100,000 rows."""
    with open(out) as file:
        html = file.read()
    path = os.path.join(folder, "many.html")
    with open(path, "w") as file:
        file.write(container.with_many(html, slices=200_000, rows=100_000))
    page.open(path, "timeline")
    check("200,000 slices are loaded", sum(each["slices"] for each in page.state()["detail"]["traces"]) >= 200_000)
    keys = ("w", "w", "d", "s", "a", "s")
    # key() waits for two frames.
    slices = median_frame(page, lambda _: [page.key(key) for key in keys], 2 * len(keys), 5)
    page.go("program&ops=all")
    lines = page.state()["detail"]["lines"]
    check("100,000 rows are loaded", lines >= 100_000, lines)
    rows = median_frame(page, lambda i: page.js(SCROLL % (10, 10 * i)), 10, 7)
    print(f"a frame of 200,000 slices takes {1000 * slices:.1f} ms, of 100,000 rows {1000 * rows:.1f} ms")
    check_time("200,000 slices: a frame", slices, FRAME)
    check_time("100,000 rows: a frame", rows, FRAME)


def searching(page, name):
    """Search as you type, on the open page."""
    page.go("program")
    page.key("/")
    for word in ("a", "l", "l", "-", "g"):
        page.type(word)
    page.until("window.shoal.state().detail.hits !== null")
    texts = ["dot", "all-reduce", "opcode:dot type:bf16", "name:add", "multiply", "no such thing"]
    page.state()
    seconds = median_frame(page, lambda _: page.js(SEARCHES % json.dumps(texts)), len(texts), 3)
    print(f"{name}: a search takes {1000 * seconds:.0f} ms")
    check_time(f"{name}: a search", seconds, SEARCH)
    page.key("Escape")
