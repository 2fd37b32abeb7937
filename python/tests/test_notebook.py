"""A notebook is executed headless, and its output is looked at in Chromium."""
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CELLS = [
    "import shoal\nmodule = shoal.load(MODULE)\nmodule",
    "module.comm()",
    'module.time(on="h100x8")',
    "changed = shoal.load(open(MODULE).read().replace('\"n\":\"3\"', '\"n\":\"5\"'))\nmodule.diff(changed)",
    "module.run(progress=True)",
    'shoal.load("HloModule m\\nENTRY e {\\n  ROOT r = f32[2] add(\\n}")',
]
MAGIC = ["%load_ext shoal", "%%shoal h100\nimport jax\njax.jit(lambda x: jax.numpy.sin(x) * 11)(1.0)\nprint('ran')"]


def execute(cells):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    return [cell.outputs for cell in notebook.cells]


def html_of(outputs):
    return next(output.data["text/html"] for output in outputs if "data" in output and "text/html" in output.data)


def text_of(outputs):
    return "".join(output.get("text", "") for output in outputs)


@pytest.fixture(scope="module")
def outputs():
    module = str(ROOT / "examples/nested_loops.hlo")
    return execute([f"MODULE = {module!r}", *CELLS])[1:]


def test_outputs(outputs):
    module, comm, forecast, diff, run, error = outputs
    assert all("<iframe" in html_of(one) and len(html_of(one)) < 1_000_000 for one in (module, forecast, diff))
    assert "<table>" in html_of(comm) and "all-gather" in html_of(comm)
    assert "8 devices" in run[-1].data["text/plain"]
    if importlib.util.find_spec("tqdm"):
        assert "instructions" in text_of(run)
    [raised] = error
    assert raised.ename == "Error" and "^" in raised.evalue and "<text>:4:1: error:" in raised.evalue


def test_magic():
    pytest.importorskip("jax")
    loaded, ran = execute(MAGIC)
    assert loaded == [] and "ran\n" in text_of(ran) and "1 device" in text_of(ran) and "on h100" in text_of(ran)
    assert "<iframe" in html_of(ran)


def frames_of(app):
    """Calls JavaScript in each frame of a page; they are pages of their own, because they are isolated from the notebook."""
    def caller(target):
        session = app.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        return lambda code: app.call("Runtime.evaluate", session=session, expression=code, returnByValue=True)["result"].get("value")

    targets = app.call("Target.getTargets")["targetInfos"]
    return [caller(target) for target in targets if target["type"] == "iframe"]


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_in_chromium(outputs, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests/page"))
    import browser
    if not (path := browser.find()):
        pytest.skip("no chromium")
    bodies = "".join(html_of(outputs[number]) for number in range(4))
    page = tmp_path / "notebook.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><title>notebook</title><script>window.shoal = {{ready: true}}</script>{bodies}")
    app = browser.Browser(path)
    try:
        tab = app.page(1280, 900)
        tab.open(page)
        wait_for(lambda: len(frames_of(app)) == 3)
        frames = frames_of(app)
        for frame in frames:
            wait_for(lambda frame=frame: frame("Boolean(window.shoal?.ready || document.getElementById('failure'))"))
            assert "nested_loops" in frame("document.body.innerText") and frame("document.querySelectorAll('svg,canvas').length")
        assert sum("h100" in frame("document.body.innerText") for frame in frames) == 1
        assert tab.js("document.querySelectorAll('table th').length") >= 8
        assert tab.problems() == []
    finally:
        app.close()


ENDLESS = """
import shoal, sys
compiled = shoal.load('''HloModule endless
body { i = s64[] parameter(0)
  one = s64[] constant(1)
  ROOT n = s64[] add(i, one) }
condition { i = s64[] parameter(0)
  end = s64[] constant(1000000000000)
  ROOT less = pred[] compare(i, end), direction=LT }
ENTRY main { start = s64[] parameter(0)
  ROOT end = s64[] while(start), condition=condition, body=body }''').compile()
print("running", flush=True)
try:
    CALL
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("call", ["compiled.run()", "compiled(0)"])
def test_keyboard_interrupt(call):
    child = subprocess.Popen([sys.executable, "-c", ENDLESS.replace("CALL", call)], stdout=subprocess.PIPE, text=True,
                             env=os.environ)
    assert child.stdout.readline() == "running\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    try:
        assert child.communicate(timeout=20)[0] == "interrupted\n" and child.returncode == 0
    finally:
        child.kill()
