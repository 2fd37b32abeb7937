#!/usr/bin/env python3
"""Pages in a real browser: every view of every page is opened, clicked, searched and zoomed, and its numbers are those
of the verbs' --json. No error in the console, no request leaves the page. Without a browser it says so and passes.

    tests/page/run.py --bin build/shoal [SHARED] [--pictures FOLDER] [--only PATTERN]
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as devtools  # noqa: E402
import checks  # noqa: E402
import firefox  # noqa: E402
import hostile  # noqa: E402
import numbers_of_views as numbers  # noqa: E402
import pages  # noqa: E402
import reach  # noqa: E402
import speed  # noqa: E402
import walk  # noqa: E402
from checks import ROOT, VIEWS, check, check_time, example, near, phase, shoal, verb, write_page  # noqa: E402

WALKED = ("mixtral", "fsdp_mlp", "gpu8-transformer_tp")


def types(_):
    """The viewer's script, by the compiler's strictest rules."""
    if tsc := shutil.which("tsc"):
        done = subprocess.run([tsc, "-p", os.path.join(ROOT, "viewer")], capture_output=True, text=True)
        check("tsc --strict", done.returncode == 0, done.stdout)
    else:
        print("there is no tsc here: the viewer's types were not checked")


def small_things(options, folder):
    """Bad input, places that cannot be written, the same page twice."""
    module, out, bad = example("mlp.hlo"), os.path.join(folder, "small.html"), os.path.join(folder, "bad.hlo")
    with open(bad, "w") as file:
        file.write("HloModule m\nENTRY e { ROOT p = f32[2 parameter(0) }\n")
    done = shoal(options, "report", bad, "-o", out)
    check("bad input: 1, with a place, and no page", done.returncode == 1 and "bad.hlo:2:" in done.stderr and not os.path.exists(out), done.stderr)
    done = shoal(options, "report", module, "-o", os.path.join(folder, "no", "such", "page.html"))
    check("no such folder: 2", done.returncode == 2 and "cannot write" in done.stderr, done.stderr)
    if os.path.exists("/dev/full"):
        done = shoal(options, "report", module, "-o", "/dev/full")
        check("a full disk: 2", done.returncode == 2 and "cannot write" in done.stderr, done.stderr)
    done = subprocess.run([options.bin, "report", module, "-o", out], capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)))
    check("no room for all of it: 2, and no page", done.returncode == 2 and "cannot write" in done.stderr and os.listdir(folder) == ["bad.hlo"], (done.returncode, done.stderr, os.listdir(folder)))
    done = shoal(options, "report", module, "-o", out, "--on=no-such-machine")
    check("no such machine: 2", done.returncode == 2 and not os.path.exists(out), done.stderr)
    write_page(options, [module], out)
    with open(out, "rb") as file:
        first = file.read()
    write_page(options, [module], out)
    with open(out, "rb") as file:
        check("equal input, equal page", file.read() == first)
    check("no path of the writer", ROOT.encode() not in first)
    script = len(first) - first.index(b"<script>")
    check("script and style in 200 kB", script + first.index(b"</style>") <= 200_000, script)


def every_view(page, options, out, subject):
    """Opens the page once and goes through its views; when it showed its first words, when it was ready, and its work till then."""
    name = subject.name
    ready, painted, worked = page.open(out), page.painted(), page.worked
    for number, view in enumerate(VIEWS, 1):
        page.key(str(number), wait=False)
        # A view unpacks its data when it is first opened.
        state = page.until(f"(s => s.view === '{view}' && s)(window.shoal.state())")
        if view == "overview":
            check(f"{name}: its words are on it", len(state["detail"]["text"]) > 100)
        if view in numbers.OF_VIEW:
            numbers.OF_VIEW[view](page, options, subject.file, f"{name} {view}")
        if view == "timeline" and subject.options:
            timeline(page, options, subject)
        if options.pictures:
            page.settled()
            page.picture(os.path.join(options.pictures, f"{name}-{view}.png"))
    faults = page.faults()
    check(f"{name}: quiet", not faults, faults)
    return painted, ready, worked


def timeline(page, options, subject):
    """Predicted above measured, on one axis; slices belong to instructions."""
    name = f"{subject.name} timeline"
    numbers.time(page, options, subject.file, name, "h200")
    detail = page.state()["detail"]
    check(f"{name}: predicted, then measured", [each["predicted"] for each in detail["traces"]] == [True] + [False] * subject.traces, detail["traces"])
    for trace in detail["traces"]:
        check(f"{name}: slices of {trace['name']} belong to instructions", trace["linked"] >= 0.6 * trace["slices"], trace)
    page.key("w")
    closer = page.state()["detail"]["range"]
    check(f"{name}: w zooms in", closer["to"] - closer["from"] < detail["range"]["to"], closer)
    page.key("0")
    page.drag(300, 180, 700, 180)
    check(f"{name}: a span has sums", page.state()["detail"]["spanSums"]["busy"] > 0)
    page.click(400, 166)


def one_page(page, options, subject, folder):
    out = os.path.join(folder, subject.name + ".html")
    wrote = write_page(options, [subject.file], out, *subject.options)
    if not os.path.exists(out):
        return None
    size = os.path.getsize(out)
    check(f"{subject.name}: size", size <= subject.size, size)
    check_time(f"{subject.name}: written", wrote, subject.seconds)
    with phase("views"):
        painted, ready, worked = every_view(page, options, out, subject)
    # The first words come before the script has done its work.
    check_time(f"{subject.name}: opened", worked, 1)
    print(f"{subject.name}: {size / 1e3:.0f} kB written in {wrote:.2f} s; first words after {painted:.2f} s, ready after {ready:.2f} s, of it {worked:.2f} s of a processor", flush=True)
    if subject.name in WALKED:
        with phase("walks"):
            walk.everything(page, out, subject.name)
    if subject.name == "mixtral":
        with phase("speed"):
            page.open(out)
            speed.searching(page, subject.name)
    return out


def two(page, options, folder):
    """Two modules: what diff says, every view with both."""
    a, b = os.path.join(folder, "a.hlo"), os.path.join(folder, "b.hlo")
    with open(example("tensor_parallel_mlp.hlo")) as file:
        text = file.read()
    with open(a, "w") as file:
        file.write(text)
    with open(b, "w") as file:
        file.write(changed(text))
    out = os.path.join(folder, "two.html")
    write_page(options, [a, b], out, "--on=h100x8")
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
        page.settled()
        if view == "cost":
            check("two: cost of both", len(page.state()["detail"]["totals"]) == 2 and all(each > 0 for each in page.state()["detail"]["totals"]))
        if options.pictures:
            page.picture(os.path.join(options.pictures, f"two-{view}.png"))
    page.go("program&ops=all&of=flops")
    rows = page.state()["detail"]["pairs"]
    for column, i in ((5, 0), (6, 1)):
        total = sum(row[column] for row in rows if row[0] == 0)
        check(f"two: the table sums to the flops of {'ab'[i]}", near(total, state["totals"][i]["flops"]), total)
    marks = {row[1] for row in rows}
    check("two: rows that are the same and rows that changed", "same" in marks and marks - {"same"}, marks)
    page.go("program&side=one&m=b")
    check("two: B's rows sum to its flops", near(page.state()["detail"]["sums"]["flops"], state["totals"][1]["flops"]))
    marks = page.state()["detail"]["marks"]
    check("two: marks of all instructions", sum(marks) == state["totals"][1]["instructions"], marks)
    page.go("communication&of=change")
    check("two: the matrix of the change", page.state()["detail"]["matrix"] is not None)
    check("two: quiet", not page.faults(), page.faults())


def changed(text):
    """The same module with one op of another kind."""
    for old, new in ((" multiply(", " divide("), (" add(", " subtract("), (" tanh(", " cosine(")):
        if old in text:
            return text.replace(old, new, 1)
    raise AssertionError("nothing to change in it")


def in_firefox(options, out, folder):
    """A smoke run: every view comes up, and the console is quiet."""
    path = firefox.find()
    if path is None:
        print("there is no firefox here: pages were opened in chromium only")
        return
    try:
        app = firefox.Firefox(path)
    except OSError as error:
        check("firefox starts", False, error)
        return
    try:
        app.open(out)
        for number, view in enumerate(VIEWS, 1):
            app.key(str(number))
            state = app.state()
            check(f"firefox {view}: is shown", state["view"] == view, state["view"])
            if options.pictures:
                app.picture(os.path.join(options.pictures, f"firefox-{view}.png"))
        check("firefox: numbers", state["totals"][0]["instructions"] > 0)
        check("firefox: quiet", not app.complaints(out), app.complaints(out))
        app.js("const s = document.createElement('script'); s.textContent = 'window.hacked = 9'; document.body.append(s);")
        check("firefox: a foreign script is refused", app.js("return window.hacked === undefined") and app.complaints(out))
    except OSError as error:
        check("firefox", False, error)
    finally:
        app.close()


def in_chromium(options, path, folder):
    app = devtools.Browser(path)
    first = None
    try:
        page = app.page()
        subjects = [*pages.of_examples(), *(pages.of_shared(options.shared) if options.shared else ())]
        for subject in subjects:
            if options.only in subject.name:
                out = one_page(page, options, subject, folder)
                first = first or out
        if options.only in "two":
            with phase("two modules"):
                two(page, options, folder)
        if first and not options.only:
            with phase("contrast and names"):
                reach.everything(page, os.path.join(folder, "fsdp_mlp.html"), "fsdp_mlp")
            with phase("hostile and damaged"):
                hostile.content(page, options, folder)
                hostile.damage(page, first, folder)
            with phase("speed"):
                speed.many(page, first, folder)
    except devtools.Failure as failure:
        check("the browser", False, failure)
    finally:
        print(f"chromium took {app.renderer_seconds(kind=b''):.0f} s of a processor")
        app.close()
    return first


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shared", nargs="?")
    parser.add_argument("--bin", default="build/shoal")
    parser.add_argument("--pictures")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if not options.only:
            with phase("types"):
                types(options)
            small_things(options, folder)
        path = devtools.find()
        if path is None:
            print("there is no chromium here: the pages were not opened")
        else:
            first = in_chromium(options, path, folder)
            if first and not options.only:
                with phase("firefox"):
                    in_firefox(options, first, folder)
    print(", ".join(f"{name} {seconds:.0f} s" for name, seconds in checks.spent.items()))
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
