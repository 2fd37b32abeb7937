"""How long it takes: counted in the time of a processor, so that other work on the machine does not show."""

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
    """Of several runs of so many frames each, the one in the middle."""
    took = []
    for i in range(times):
        before = page.browser.renderer_seconds()
        run(i)
        took.append((page.browser.renderer_seconds() - before) / frames)
    return statistics.median(took)


def many(page, out, folder):
    """A page of 200,000 slices and 100,000 rows."""
    with open(out) as file:
        html = file.read()
    path = os.path.join(folder, "many.html")
    with open(path, "w") as file:
        file.write(container.with_many(html, slices=200_000, rows=100_000))
    page.open(path, "timeline")
    check("200,000 slices: all there", sum(each["slices"] for each in page.state()["detail"]["traces"]) >= 200_000)
    keys = ("w", "w", "d", "s", "a", "s")
    # A key waits for two frames.
    slices = median_frame(page, lambda _: [page.key(key) for key in keys], 2 * len(keys), 5)
    page.go("program&ops=all")
    lines = page.state()["detail"]["lines"]
    check("100,000 rows: all there", lines >= 100_000, lines)
    rows = median_frame(page, lambda i: page.js(SCROLL % (10, 10 * i)), 10, 7)
    print(f"a frame of 200,000 slices takes {1000 * slices:.1f} ms, of 100,000 rows {1000 * rows:.1f} ms")
    check_time("200,000 slices: a frame", slices, FRAME)
    check_time("100,000 rows: a frame", rows, FRAME)


def searching(page, name):
    """With a page open: while somebody types."""
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
