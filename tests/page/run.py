#!/usr/bin/env python3
"""Tests pages in real browsers: opens, clicks, searches and zooms every view, and compares its numbers with the
commands' --json. The console must have no errors, and the page must send no requests. Without a browser, prints a note
and passes.

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
import accessibility  # noqa: E402
import browser as devtools  # noqa: E402
import checks  # noqa: E402
import firefox  # noqa: E402
import hostile  # noqa: E402
import interactions  # noqa: E402
import layouts  # noqa: E402
import pages  # noqa: E402
import speed  # noqa: E402
import view_numbers  # noqa: E402
from checks import ROOT, VIEWS, check, check_time, command_json, example, near, phase, shoal, write_page  # noqa: E402

INTERACTIVE = ("mixtral", "fsdp_mlp", "gpu8-transformer_tp")  # pages that interactions.py runs on


def start_types():
    """Starts a strict type check of the viewer, which runs while pages are opened."""
    if tsc := shutil.which("tsc"):
        return subprocess.Popen([tsc, "-p", os.path.join(ROOT, "viewer")], stdout=subprocess.PIPE, text=True)
    print("tsc not found: the types of the viewer are not checked")
    return None


def end_types(compiler):
    output, _ = compiler.communicate()
    check("tsc --strict", compiler.returncode == 0, output)


def command_line(options, folder):
    """Bad input, output that cannot be written, determinism."""
    module, out, bad = example("mlp.hlo"), os.path.join(folder, "small.html"), os.path.join(folder, "bad.hlo")
    with open(bad, "w") as file:
        file.write("HloModule m\nENTRY e { ROOT p = f32[2 parameter(0) }\n")
    done = shoal(options, "report", bad, "-o", out)
    check("bad input: exit code 1, a location, no page", done.returncode == 1 and "bad.hlo:2:" in done.stderr and not os.path.exists(out), done.stderr)
    done = shoal(options, "report", module, "-o", os.path.join(folder, "no", "such", "page.html"))
    check("missing folder: exit code 2", done.returncode == 2 and "cannot write" in done.stderr, done.stderr)
    if os.path.exists("/dev/full"):
        done = shoal(options, "report", module, "-o", "/dev/full")
        check("full disk: exit code 2", done.returncode == 2 and "cannot write" in done.stderr, done.stderr)
    done = subprocess.run([options.bin, "report", module, "-o", out], capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)))
    check("file size limit: exit code 2, no page", done.returncode == 2 and "cannot write" in done.stderr and os.listdir(folder) == ["bad.hlo"], (done.returncode, done.stderr, os.listdir(folder)))
    done = shoal(options, "report", module, "-o", out, "--on=no-such-machine")
    check("unknown machine: exit code 2", done.returncode == 2 and not os.path.exists(out), done.stderr)
    write_page(options, [module], out)
    with open(out, "rb") as file:
        first = file.read()
    write_page(options, [module], out)
    with open(out, "rb") as file:
        check("equal input gives an equal page", file.read() == first)
    check("the page has no path of the machine that wrote it", ROOT.encode() not in first)
    script = len(first) - first.index(b"<script>")
    check("script and style are at most 200 kB", script + first.index(b"</style>") <= 200_000, script)


def every_view(page, options, out, subject):
    """Opens the page and all its views. Returns the times of first paint and readiness, and the CPU time until then."""
    name = subject.name
    ready, painted, cpu_seconds = page.open(out), page.painted(), page.cpu_seconds
    for number, view in enumerate(VIEWS, 1):
        page.key(str(number), wait=False)
        # A view unpacks its data when it is first opened.
        state = page.until(f"(s => s.view === '{view}' && s)(window.shoal.state())")
        if view == "overview":
            check(f"{name}: the overview has text", len(state["detail"]["text"]) > 100)
        if view in view_numbers.BY_VIEW:
            view_numbers.BY_VIEW[view](page, options, subject.file, f"{name} {view}")
        if view == "timeline" and subject.options:
            timeline(page, options, subject)
        if options.pictures:
            page.settled()
            page.picture(os.path.join(options.pictures, f"{name}-{view}.png"))
    problems = page.problems()
    check(f"{name}: no errors", not problems, problems)
    return painted, ready, cpu_seconds


def timeline(page, options, subject):
    """Predicted traces above measured ones, on one axis; slices are attributed to instructions."""
    name = f"{subject.name} timeline"
    view_numbers.time(page, options, subject.file, name, "h200")
    detail = page.state()["detail"]
    check(f"{name}: the predicted trace precedes the measured ones", [each["predicted"] for each in detail["traces"]] == [True] + [False] * subject.traces, detail["traces"])
    for trace in detail["traces"]:
        check(f"{name}: slices of {trace['name']} are attributed to instructions", trace["attributed"] >= 0.6 * trace["slices"], trace)
    page.key("w")
    zoomed = page.state()["detail"]["range"]
    check(f"{name}: w zooms in", zoomed["to"] - zoomed["from"] < detail["range"]["to"], zoomed)
    page.key("0")
    page.drag(300, 180, 700, 180)
    check(f"{name}: a drag shows statistics of the span", page.state()["detail"]["spanStats"]["busy"] > 0)
    page.click(400, 166)
    page.go("timeline")  # without the selection, which other views would show


def one_page(page, options, subject, folder):
    out = os.path.join(folder, subject.name + ".html")
    write_seconds = write_page(options, [subject.file], out, *subject.options)
    if not os.path.exists(out):
        return None
    size = os.path.getsize(out)
    check(f"{subject.name}: size", size <= subject.size, size)
    check_time(f"{subject.name}: written", write_seconds, subject.seconds)
    with phase("views"):
        painted, ready, cpu_seconds = every_view(page, options, out, subject)
    # The static overview is painted before the script has finished.
    check_time(f"{subject.name}: opened", cpu_seconds, 1)
    print(f"{subject.name}: {size / 1e3:.0f} kB written in {write_seconds:.2f} s; first paint after {painted:.2f} s, ready after {ready:.2f} s, CPU time {cpu_seconds:.2f} s", flush=True)
    if subject.name in INTERACTIVE:
        with phase("interactions"):
            interactions.everything(page, out, subject.name)
    with phase("layouts"):
        page.open(out)
        layouts.graph(page, subject.name)
        layouts.mesh(page, subject.name)
        layouts.notices(page, subject.name)
        if subject.name.startswith(("seed", "fsdp")):
            layouts.narrow(page, subject.name)
    if subject.name == "mixtral":
        with phase("speed"):
            page.open(out)
            speed.searching(page, subject.name)
    return out


def two(page, options, folder):
    """A page of two modules: compares it with diff and opens every view."""
    a, b = os.path.join(folder, "a.hlo"), os.path.join(folder, "b.hlo")
    with open(example("tensor_parallel_mlp.hlo")) as file:
        text = file.read()
    with open(a, "w") as file:
        file.write(text)
    with open(b, "w") as file:
        file.write(changed(text))
    out = os.path.join(folder, "two.html")
    write_page(options, [a, b], out, "--on=h100x8")
    diff = command_json(options, "diff", a, b)
    page.open(out)
    state = page.state()
    for i, side in enumerate("ab"):
        metrics = {name: each[side] for name, each in diff["metrics"].items()}
        for page_key, json_key in (("flops", "flops"), ("wire", "wire_bytes"), ("peak", "peak_memory"), ("instructions", "instructions")):
            if json_key in metrics:
                check(f"two: {page_key} of {side}", near(state["totals"][i][page_key], metrics[json_key]), (state["totals"][i], metrics[json_key]))
    check("two: the overview lists the changes", "Changes" in page.js("document.getElementById('overview').innerText"))
    for number, view in enumerate(VIEWS, 1):
        page.key(str(number))
        page.until(f"window.shoal.state().view === '{view}'")
        page.settled()
        if view == "cost":
            check("two: cost of both modules", len(page.state()["detail"]["totals"]) == 2 and all(each > 0 for each in page.state()["detail"]["totals"]))
        if options.pictures:
            page.picture(os.path.join(options.pictures, f"two-{view}.png"))
    page.go("program&ops=all&of=flops")
    rows = page.state()["detail"]["pairs"]
    for column, i in ((5, 0), (6, 1)):
        total = sum(row[column] for row in rows if row[0] == 0)
        check(f"two: the table sums to the flops of {'ab'[i]}", near(total, state["totals"][i]["flops"]), total)
    marks = {row[1] for row in rows}
    check("two: unchanged and changed rows", "unchanged" in marks and marks - {"unchanged"}, marks)
    page.go("program&side=one&m=b")
    check("two: the rows of B sum to its flops", near(page.state()["detail"]["sums"]["flops"], state["totals"][1]["flops"]))
    marks = page.state()["detail"]["marks"]
    check("two: every instruction has a mark", sum(marks) == state["totals"][1]["instructions"], marks)
    page.go("communication&of=change")
    check("two: the matrix of B − A", page.state()["detail"]["matrix"] is not None)
    check("two: no errors", not page.problems(), page.problems())


def changed(text):
    """The module with one op replaced."""
    for old, new in ((" multiply(", " divide("), (" add(", " subtract("), (" tanh(", " cosine(")):
        if old in text:
            return text.replace(old, new, 1)
    raise AssertionError("no op to replace")


def in_firefox(options, out, folder):
    """Smoke test: opens every view and checks that the console has no errors."""
    path = firefox.find()
    if path is None:
        print("firefox not found: pages are only opened in chromium")
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
            check(f"firefox: view {view} opens", state["view"] == view, state["view"])
            if options.pictures:
                app.picture(os.path.join(options.pictures, f"firefox-{view}.png"))
        check("firefox: numbers", state["totals"][0]["instructions"] > 0)
        check("firefox: no errors", not app.console_messages(out), app.console_messages(out))
        app.js("const s = document.createElement('script'); s.textContent = 'window.hacked = 9'; document.body.append(s);")
        check("firefox: a foreign script is blocked", app.js("return window.hacked === undefined") and app.console_messages(out))
    except OSError as error:
        check("firefox", False, error)
    finally:
        app.close()


def in_chromium(options, path, folder):
    app = devtools.Browser(path)
    first = None
    try:
        page = app.page(1280, 800)
        subjects = [*pages.of_examples(), *(pages.of_shared(options.shared) if options.shared else ())]
        for subject in subjects:
            if options.only in subject.name:
                out = one_page(page, options, subject, folder)
                first = first or out
        if options.only in "two":
            with phase("two modules"):
                two(page, options, folder)
        if options.only in "layouts":
            with phase("layouts"):
                layouts.everything(page, options, folder)
                layouts.changes(page, options, folder)
                layouts.stack(page, options, folder)
        if first and not options.only:
            with phase("accessibility"):
                accessibility.everything(page, os.path.join(folder, "fsdp_mlp.html"), "fsdp_mlp")
            with phase("hostile and damaged"):
                hostile.content(page, options, folder)
                hostile.damage(page, first, folder)
            with phase("speed"):
                page.size(1440)
                speed.many(page, first, folder)
    except devtools.Failure as failure:
        check("the browser", False, failure)
    finally:
        print(f"CPU time of chromium: {app.renderer_seconds(kind=b''):.0f} s")
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
    compiler = None if options.only else start_types()
    with tempfile.TemporaryDirectory() as folder:
        if not options.only:
            command_line(options, folder)
        path = devtools.find()
        if path is None:
            print("chromium not found: the pages are not opened")
        else:
            first = in_chromium(options, path, folder)
            if first and not options.only:
                with phase("firefox"):
                    in_firefox(options, first, folder)
    if compiler:
        end_types(compiler)
    print(", ".join(f"{name} {seconds:.0f} s" for name, seconds in checks.spent.items()))
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
