#!/usr/bin/env python3
"""Pages in a real browser: every view of every page is opened, clicked, searched and zoomed, and its numbers are those
of the verbs' --json. No error in the console, no request leaves the page. Without a browser it says so and passes.

    tests/page/run.py --bin build/shoal [SHARED] [--pictures FOLDER] [--only PATTERN]
"""

import argparse
import glob
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as devtools  # noqa: E402
import container  # noqa: E402

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
passed = failed = 0


def check(what, good, detail=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {what}{': ' + str(detail)[:600] if detail != '' else ''}", flush=True)
    return good


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=0.5)


def shoal(options, *arguments):
    return subprocess.run([options.bin, *arguments], capture_output=True, text=True)


def verb(options, *arguments):
    done = shoal(options, *arguments, "--json")
    return json.loads(done.stdout)


def write_page(options, files, out, *more):
    """Writes a page; the seconds of a processor it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = shoal(options, "report", *files, "-o", out, *more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    check(f"page of {files}", done.returncode == 0, done.stderr)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


# ---- numbers, view by view


def compare_totals(page, options, file, name):
    totals = page.state()["totals"][0]
    cost = verb(options, "cost", file)["total"]
    for ours, theirs in (("flops", "flops"), ("transcendentals", "transcendentals"), ("read", "bytes_read"), ("written", "bytes_written")):
        check(f"{name}: {ours} of the strip", near(totals[ours], cost[theirs]), (totals[ours], cost[theirs]))
    return cost


def compare_program(page, options, file, name):
    cost = compare_totals(page, options, file, name)
    detail = page.state()["detail"]
    check(f"{name}: rows sum to flops", near(detail["sums"]["flops"], cost["flops"]), (detail["sums"], cost))
    check(f"{name}: rows sum to bytes", near(detail["sums"]["bytes"], cost["bytes_read"] + cost["bytes_written"]), (detail["sums"], cost))
    check(f"{name}: rows sum to wire", near(detail["sums"]["wire"], page.state()["totals"][0]["wire"]), detail["sums"])
    check(f"{name}: there are rows", detail["lines"] > 0)


def compare_memory(page, options, file, name):
    mem = verb(options, "mem", "--top=0", file)
    state = page.state()
    detail = state["detail"]
    check(f"{name}: peak", state["totals"][0]["peak"] == mem["device"]["peak"], (state["totals"][0]["peak"], mem["device"]))
    check(f"{name}: steps", detail["steps"] == mem["steps"])
    check(f"{name}: bytes at the cursor", detail["bytes"] == mem["device"]["peak"], detail["bytes"])
    check(f"{name}: what lives adds up to the curve, at every step", detail["exact"])
    check(f"{name}: what lives at the peak adds up", near(detail["heldBytes"], mem["device"]["peak"]), (detail["heldBytes"], mem["device"]["peak"]))
    # Constants inside reducers are no buffers of mem's list.
    theirs = sorted((each["bytes"] for each in mem["held_at_peak"]), reverse=True)[:20]
    ours = [each["bytes"] for each in detail["held"] if each["name"] != "constants inside ops"][:20]
    check(f"{name}: the largest buffers at the peak", ours[: len(theirs)] == theirs[: len(ours)] or near(sum(ours), sum(theirs)), (ours[:8], theirs[:8]))


def compare_communication(page, options, file, name):
    comm = verb(options, "comm", "--matrix", file)
    detail = page.state()["detail"]
    check(f"{name}: collectives", detail["collectives"] == len(comm["collectives"]), detail["collectives"])
    for ours, theirs in (("byKind", "by_kind"), ("byAxis", "by_axis")):
        wanted = {each["name"]: each["wire_bytes_direct"] for each in comm[theirs]}
        check(f"{name}: {theirs}", set(wanted) == set(detail[ours]) and all(near(detail[ours][key], value) for key, value in wanted.items()), (detail[ours], wanted))
    check(f"{name}: alike ones are all of them", sum(each["count"] for each in detail["alike"]) == len(comm["collectives"]))
    matrix = detail["matrix"]
    if matrix and matrix["perCell"] == 1 and matrix["values"] and "matrix" in comm:
        flat = [value for row in comm["matrix"] for value in row]
        check(f"{name}: matrix", len(flat) == len(matrix["values"]) and all(near(a, b) for a, b in zip(flat, matrix["values"])))


def compare_cost(page, options, file, name):
    detail = page.state()["detail"]
    cost = verb(options, "cost", file)["total"]
    wanted = cost["bytes_read"] + cost["bytes_written"]
    if detail["of"] == "bytes":
        # XLA's −1 for what it does not know is no width.
        check(f"{name}: icicle", math.isclose(detail["total"], wanted, rel_tol=1e-6, abs_tol=64), (detail["total"], wanted))


def compare_time(page, options, file, name, machine):
    took = verb(options, "time", f"--on={machine}", file)
    forecast = took["machines"][0] if "machines" in took else took
    state = page.state()
    check(f"{name}: predicted", state["machines"] and near(state["machines"][0]["step_seconds"] * 1e9, forecast["step_seconds"] * 1e9), (state["machines"], forecast["step_seconds"]))
    predicted = [each for each in state["detail"]["traces"] if each["predicted"]]
    check(f"{name}: a predicted lane", len(predicted) == 1 and predicted[0]["slices"] > 0, state["detail"]["traces"])


VIEWS = {"overview": None, "program": compare_program, "timeline": None, "memory": compare_memory, "communication": compare_communication, "cost": compare_cost, "graph": None}


def every_view(page, options, out, file, name, pictures):
    took = page.open(out)
    for number, (view, compare) in enumerate(VIEWS.items(), 1):
        page.key(str(number))
        # A view unpacks its data when it is first opened.
        state = page.until(f"(s => s.view === '{view}' && s)(window.shoal.state())")
        check(f"{name} {view}: is shown", state["view"] == view, state["view"])
        if view == "overview":
            check(f"{name}: its name is on it", len(state["detail"]["text"]) > 100)
        if compare:
            compare(page, options, file, f"{name} {view}")
        faults = page.faults()
        check(f"{name} {view}: quiet", not faults, faults)
        if pictures:
            page.picture(os.path.join(pictures, f"{name}-{view}.png"))
    return took


def traces(page, options, file, folder):
    """Predicted above measured, on one axis."""
    name, out = os.path.basename(file)[:-4], os.path.join(folder, "trace.html")
    write_page(options, [file], out, "--on=h200", "--trace=" + file[:-4] + ".trace.json.gz")
    page.open(out, "timeline")
    compare_time(page, options, file, name, "h200")
    state = page.state()["detail"]
    check(f"{name}: measured too", [each["predicted"] for each in state["traces"]] == [True, False], state["traces"])
    page.key("w")
    near_by = page.state()["detail"]["range"]
    check(f"{name}: w zooms in", near_by["to"] - near_by["from"] < state["range"]["to"], near_by)
    page.key("0")
    page.drag(300, 180, 700, 180)
    check(f"{name}: a span has sums", page.state()["detail"]["spanSums"]["busy"] > 0)
    if options.pictures:
        page.picture(os.path.join(options.pictures, f"{name}-timeline.png"))
    check(f"{name}: quiet", not page.faults(), page.faults())


def two(page, options, folder):
    """Two modules: what diff says."""
    a, b = (os.path.join(root, "examples", name) for name in ("fsdp_mlp.hlo", "tensor_parallel_mlp.hlo"))
    out = os.path.join(folder, "two.html")
    write_page(options, [a, b], out)
    diff = verb(options, "diff", a, b)
    page.open(out)
    state = page.state()
    for i, side in enumerate("ab"):
        figures = {name: each[side] for name, each in diff["figures"].items()}
        for ours, theirs in (("flops", "flops"), ("wire", "wire_bytes"), ("peak", "peak_memory"), ("instructions", "instructions")):
            if theirs in figures:
                check(f"two: {ours} of {side}", near(state["totals"][i][ours], figures[theirs]), (state["totals"][i], figures[theirs]))
    check("two: what changed is said", "What changed" in page.js("document.getElementById('overview').innerText"))
    for number, view in enumerate(VIEWS, 1):
        page.key(str(number))
        page.until(f"window.shoal.state().view === '{view}'")
        if options.pictures:
            page.picture(os.path.join(options.pictures, f"two-{view}.png"))
    page.open(out, "program")
    marks = page.state()["detail"]["marks"]
    check("two: marks of all instructions", sum(marks) == state["totals"][0]["instructions"], marks)
    page.open(out, "program&m=b")
    check("two: B's rows sum to its flops", near(page.state()["detail"]["sums"]["flops"], state["totals"][1]["flops"]))
    check("two: quiet", not page.faults(), page.faults())


def small_things(options, folder):
    """Bad input, places that cannot be written, the same page twice."""
    example, out = os.path.join(root, "examples", "mlp.hlo"), os.path.join(folder, "small.html")
    bad = os.path.join(folder, "bad.hlo")
    with open(bad, "w") as file:
        file.write("HloModule m\nENTRY e { ROOT p = f32[2 parameter(0) }\n")
    done = shoal(options, "report", bad, "-o", out)
    check("bad input: 1, with a place, and no page", done.returncode == 1 and "bad.hlo:2:" in done.stderr and not os.path.exists(out), done.stderr)
    done = shoal(options, "report", example, "-o", os.path.join(folder, "no", "such", "page.html"))
    check("no such folder: 2", done.returncode == 2 and "cannot write" in done.stderr, done.stderr)
    if os.path.exists("/dev/full"):
        done = shoal(options, "report", example, "-o", "/dev/full")
        check("a full disk: 2", done.returncode == 2 and "cannot write" in done.stderr, done.stderr)
    done = shoal(options, "report", example, "-o", out, "--on=no-such-machine")
    check("no such machine: 2", done.returncode == 2 and not os.path.exists(out), done.stderr)
    write_page(options, [example], out)
    with open(out, "rb") as file:
        first = file.read()
    write_page(options, [example], out)
    with open(out, "rb") as file:
        check("equal input, equal page", file.read() == first)
    check("no path of the writer", root.encode() not in first)
    script = len(first) - first.index(b"<script>")
    check("script and style in 200 kB", script + first.index(b"</style>") <= 200_000, script)
    help_text = shoal(options, "report", "--help").stdout
    check("help has examples", "Examples:" in help_text and "-o page.html" in help_text, help_text)


# ---- the interaction table, by real keys and mouse


def walk(page, out, name):
    page.open(out, "program")
    page.key("ArrowDown")
    page.key("ArrowDown")
    one = page.state()
    check(f"{name}: ↓ selects", one["selection"] is not None and one["detail"]["selectedLine"] >= 1, one["selection"])
    page.key("Home")
    check(f"{name}: home", page.state()["detail"]["selectedLine"] == 0)
    page.key("End")
    last = page.state()
    check(f"{name}: end", last["detail"]["selectedLine"] == last["detail"]["lines"] - 1)
    address = page.js("location.hash")
    page.open(out, address[1:])
    again = page.state()
    check(f"{name}: the address gives the same", again["selection"] == last["selection"] or last["selection"]["kind"] == "row", (again["selection"], last["selection"]))
    page.open(out, "program&ops=all")
    for _ in range(40):
        page.key("ArrowDown")
        if (page.state()["selection"] or {}).get("kind") == "instr":
            break
    before = page.state()["selection"]
    check(f"{name}: an instruction is selected", before and before["kind"] == "instr", before)
    page.key("u")
    after = page.state()
    check(f"{name}: u follows a user", after["selection"] != before or "uses" in after["said"], (before, after["selection"], after["said"]))
    for number, view in enumerate(VIEWS, 1):
        page.key(str(number))
        check(f"{name}: key {number}", page.state()["view"] == view)
    page.key("2")
    page.key("/")
    page.type("opcode:fusion")
    hits = page.until("window.shoal.state().detail.hits !== null && window.shoal.state().detail")
    check(f"{name}: search", hits["hits"] >= 0)
    page.key("Escape")
    check(f"{name}: esc ends the search", page.state()["detail"]["hits"] is None)
    page.key("?")
    check(f"{name}: help", page.js("document.querySelector('.help') !== null"))
    page.key("Escape")
    page.key("t")
    check(f"{name}: dark", page.js("document.documentElement.dataset.theme") == "dark")
    page.key("t")
    page.open(out, "memory")
    steps = page.state()["detail"]["steps"]
    page.key("]")
    page.key("[")
    page.key("p")
    check(f"{name}: p is the peak", page.state()["detail"]["step"] == page.state()["detail"]["peak"])
    page.key("w")
    narrow = page.state()["detail"]["range"]
    check(f"{name}: w zooms in", narrow["to"] - narrow["from"] < steps or steps <= 20, narrow)
    page.key("0")
    whole = page.state()["detail"]["range"]
    check(f"{name}: 0 shows all", whole["from"] == 0 and whole["to"] >= steps)
    page.click(500, 250)
    check(f"{name}: a click is a moment", "x=" in page.js("location.hash"))
    page.drag(300, 250, 600, 250)
    check(f"{name}: a drag is a span", page.state()["detail"]["span"] is not None)
    page.wheel(500, 250, -100, ctrl=True)
    page.open(out, "cost")
    boxes = page.state()["detail"]["boxes"]
    inner = next((box for box in boxes if box["y"] > 40 and box["width"] > 20), None)
    if inner:
        page.click(inner["x"] + 5, 106 + inner["y"] + 10)
        check(f"{name}: a click zooms the icicle", page.state()["detail"]["focus"] != "all" or page.state()["selection"], page.state()["detail"]["focus"])
        page.key("0")
    page.open(out, "communication")
    if page.state()["detail"]["collectives"] > 0:
        page.key("ArrowDown")
        check(f"{name}: a row of the ledger", page.state()["detail"]["selectedGroup"] >= 0)
    page.open(out, "graph")
    graph = page.state()["detail"]
    check(f"{name}: a walk of at most 60", 0 < len(graph["nodes"]) <= 61, len(graph["nodes"]))
    page.open(out, "program&i=no/such")
    lost = page.state()
    check(f"{name}: an address that names nothing", lost["view"] == "overview" and "no instruction" in lost["said"], lost["said"])
    page.open(out, "nowhere")
    check(f"{name}: a view that is none", "nothing here" in page.state()["said"])
    faults = page.faults()
    check(f"{name}: quiet when used", not faults, faults)


# ---- what must not happen

HOSTILE = """HloModule {name}
ENTRY e {{
  p = f32[4] parameter(0), metadata={{op_name="</script><script>window.hacked=1</script>" source_file="a'\\"b\\\\.py<img src=x onerror=hacked=2>" source_line=3}}
  q = f32[4] negate(p), metadata={{op_name="\u202ereversed\u202c/jit(\\001\\033)" source_file="{long}" source_line=4}}
  ROOT r = f32[4] multiply(q, p), metadata={{op_name="javascript:hacked=3"}}
}}
"""


def hostile(page, options, folder):
    file, out = os.path.join(folder, "hostile.hlo"), os.path.join(folder, "hostile.html")
    text = HOSTILE.format(name="x", long="x" * 100_000)
    with open(file, "w") as out_file:
        out_file.write(text)
    write_page(options, [file], out)
    for view in VIEWS:
        page.open(out, view)
        page.state()
        check(f"hostile {view}: nothing is executed", page.js("window.hacked === undefined"))
        faults = page.faults()
        check(f"hostile {view}: quiet", not faults, faults)
    page.open(out, "program&ops=all")
    page.key("Home")
    # What is not ours is refused by the page's policy.
    page.js("(s => { s.textContent = 'window.hacked = 9'; document.body.append(s); })(document.createElement('script'))")
    check("a foreign script is refused", page.js("window.hacked === undefined"))


def damaged(page, out, folder):
    with open(out) as file:
        html = file.read()
    start = html.index("id=shoal-data>") + len("id=shoal-data>")
    end = html.index("</script>", start)
    data = html[start:end]
    def opened(name, changed):
        path = os.path.join(folder, "damaged.html")
        with open(path, "w") as file:
            file.write(html[:start] + changed + html[end:])
        page.open(path)
        said = page.js("document.getElementById('failure')?.innerText ?? ''")
        check(f"damaged, {name}: a sentence", "data" in said, said)
        check(f"damaged, {name}: what is written stays", page.js("document.getElementById('overview').innerText.length") > 100)
    opened("cut", data[: len(data) // 2 // 4 * 4])
    opened("cut in a digit", data[:-3])
    opened("empty", "")
    opened("not base64", "!!!!")
    newer = container.with_version(data, 2)
    opened("newer", newer)
    opened("one byte of a section", container.with_flipped_byte(data))


# ---- many


def many(page, out, folder):
    """200,000 slices and 100,000 rows are all there; how long a frame takes is told, and depends on the machine."""
    with open(out) as file:
        html = file.read()
    path = os.path.join(folder, "many.html")
    with open(path, "w") as file:
        file.write(container.with_many(html, slices=200_000, rows=100_000))
    page.open(path, "timeline")
    page.state()
    before, frames = page.browser.renderer_seconds(), 0
    for key in ("w", "w", "d", "s", "a", "w", "s", "s", "0") * 2:
        page.key(key)
        frames += 2  # it waits for two
    timeline = 1000 * (page.browser.renderer_seconds() - before) / frames
    check("200,000 slices: all there", sum(each["slices"] for each in page.state()["detail"]["traces"]) >= 200_000)
    page.open(path, "program&ops=all")
    lines = page.state()["detail"]["lines"]
    check("100,000 rows: all there", lines >= 100_000, lines)
    before = page.browser.renderer_seconds()
    page.js("""new Promise(async done => {
      const scroller = document.querySelector('.program .scroller');
      for (let i = 0; i < 50; ++i) {
        scroller.scrollTop = (i * 7919 % 100) / 100 * scroller.scrollHeight;
        scroller.dispatchEvent(new Event('scroll'));
        await new Promise(next => requestAnimationFrame(() => setTimeout(next, 0)));
      }
      done(1);
    })""")
    took = 1000 * (page.browser.renderer_seconds() - before) / 50
    print(f"a frame of 200,000 slices takes {timeline:.1f} ms, of 100,000 rows {took:.1f} ms")


def searching(page, out, name):
    page.open(out, "program")
    page.key("/")
    for word in ("a", "l", "l", "-", "g"):
        page.type(word)
    page.until("window.shoal.state().detail.hits !== null")
    texts = ["dot", "all-reduce", "opcode:dot type:bf16", "name:add", "multiply", "no such thing"] * 3
    page.state()
    before = page.browser.renderer_seconds()
    page.js("""new Promise(async done => {
      const input = document.querySelector('.search input');
      for (const text of %s) {
        input.value = text;
        input.dispatchEvent(new Event('input'));
        await new Promise(next => requestAnimationFrame(() => setTimeout(next, 0)));
      }
      done(1);
    })""" % json.dumps(texts))
    milliseconds = 1000 * (page.browser.renderer_seconds() - before) / len(texts)
    check(f"{name}: a search in 100 ms", milliseconds <= 100, milliseconds)
    print(f"{name}: a search takes {milliseconds:.0f} ms")


def modules(shared):
    """(name, file, most seconds, most bytes, machine)"""
    for file in sorted(glob.glob(os.path.join(root, "examples", "*.hlo"))):
        yield os.path.basename(file)[:-4], file, 1, 4_000_000
    if not shared:
        return
    for file in sorted(glob.glob(os.path.join(shared, "seeds", "*.hlo")) + glob.glob(os.path.join(shared, "seeds", "*.txt"))):
        yield "seed-" + os.path.basename(file).rsplit(".", 1)[0], file, 1, 300_000
    for file in sorted(glob.glob(os.path.join(shared, "golden", "gpu8", "*.hlo"))):
        yield "gpu8-" + os.path.basename(file)[:-4], file, 1, 4_000_000
    for pattern, name in (("*mixtral*2x8*", "mixtral"), ("*llama*405b*64x8*", "llama405b")):
        for file in sorted(glob.glob(os.path.join(shared, "corpus", "xla", pattern)))[:1]:
            yield name, file, 2, 4_000_000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shared", nargs="?")
    parser.add_argument("--bin", default="build/shoal")
    parser.add_argument("--pictures")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    with tempfile.TemporaryDirectory() as folder:
        small_things(options, folder)
    path = devtools.find()
    if path is None:
        print("there is no chromium here: the pages were not opened")
        print(f"{passed} passed, {failed} failed")
        return 1 if failed else 0
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        app = devtools.Browser(path)
        try:
            page = app.page()
            first = None
            for name, file, seconds, size in modules(options.shared):
                if options.only not in name:
                    continue
                out = os.path.join(folder, name + ".html")
                took = write_page(options, [file], out)
                if not os.path.exists(out):
                    continue
                check(f"{name}: written in {seconds} s", took <= seconds, took)
                check(f"{name}: size", os.path.getsize(out) <= size, os.path.getsize(out))
                begin = time.monotonic()
                every_view(page, options, out, file, name, options.pictures)
                print(f"{name}: {os.path.getsize(out) / 1e3:.0f} kB in {took:.2f} s; views in {time.monotonic() - begin:.1f} s", flush=True)
                first = first or (name, file, out)
                if name in ("mixtral", "fsdp_mlp", "gpu8-transformer_tp"):
                    walk(page, out, name)
                if name == "mixtral":
                    searching(page, out, name)
            if options.only in "traces" and options.shared:
                for file in sorted(glob.glob(os.path.join(options.shared, "golden", "h200_traces", "*.hlo")))[:2]:
                    traces(page, options, file, folder)
            if options.only in "two":
                two(page, options, folder)
            if first and not options.only:
                hostile(page, options, folder)
                damaged(page, first[2], folder)
                many(page, first[2], folder)
        except devtools.Failure as failure:
            check("the browser", False, failure)
        finally:
            app.close()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
