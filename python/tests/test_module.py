"""Modules, their objects, results and execution."""
import json
import os
import pathlib
import subprocess
import sys

import numpy
import pytest

import shoal

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("SHOAL_BIN", str(ROOT / "build/shoal"))
LOOPS = ROOT / "examples/nested_loops.hlo"
ADD = "HloModule add\nENTRY e {\n  p = f32[2,3] parameter(0)\n  q = f32[2,3] parameter(1)\n  ROOT r = f32[2,3] add(p, q)\n}\n"


@pytest.fixture
def loops():
    return shoal.load(LOOPS)


def command(*arguments):
    return json.loads(subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, check=True).stdout)


def test_own_packages():
    text = ('HloModule m\n\nFileNames\n1 "train.py"\n\nFunctionNames\n1 "f"\n\nFileLocations\n'
            '1 {file_name_id=1 function_name_id=1 line=5 end_line=0 column=0 end_column=0}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n'
            'ENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] negate(p), metadata={op_name="f" '
            'source_file="/lib/python3.12/site-packages/ours/mlp.py" source_line=8 stack_frame_id=1}\n}\n')
    assert shoal.load(text)["r"].source == "train.py:5"
    own = shoal.load(text, own_packages=["ours"])
    assert own["r"].source == "ours/mlp.py:8" and "ours/mlp.py:8" in str(own.cost(by="line"))


def test_load_takes_paths_text_bytes_and_modules(loops):
    assert loops.name == "nested_loops" == shoal.load(str(LOOPS)).name
    assert shoal.load(LOOPS.read_text()).name == shoal.load(LOOPS.read_bytes()).name == loops.name
    assert shoal.load(loops) is loops
    assert str(shoal.load(loops.serialize())) == str(shoal.load(str(loops)))

    class Holder:
        def as_text(self):
            return ADD

    assert shoal.load(Holder()).name == "add"
    with pytest.raises(shoal.Error, match="neither"):
        shoal.load(3)


def test_objects(loops):
    part = loops["part"]
    assert part.opcode == "reduce-scatter" and str(part.shape) == "f32[12]{0}"
    assert [hlo.name for hlo in part.operands] == ["whole"] and part.attributes["dimensions"] == "{0}"
    assert part in part.operands[0].users
    assert {computation.name for computation in loops} == {computation.name for computation in loops.computations}
    assert sum(computation.is_entry for computation in loops) == 1
    assert repr(part) == "<shoal.Instruction part = f32[12]{0} reduce-scatter(whole)>" and "dimensions={0}" in str(part)
    assert [hlo.name for hlo in loops.entry] == [hlo.name for hlo in loops.entry.instructions] and "5 instructions" in repr(loops.entry)
    assert "nothing" not in loops and "%part" in loops
    assert loops.computation("sum").root.opcode == "add" and loops["half-sum-start"].called_computations == [loops.computation("sum")]
    with pytest.raises(KeyError):
        loops["nothing"]
    with pytest.raises(KeyError):
        loops.computation("nothing")


def test_find(loops):
    assert all(hlo.opcode.startswith("all-gather") for hlo in loops.find("opcode:all-gather"))
    assert loops.find("opcode:all-gather line:loops.py:14")
    with pytest.raises(ValueError, match="unknown field"):
        loops.find("colour:red")


@pytest.mark.parametrize("name, arguments, compute", [
    ("comm", [], lambda m: m.comm()), ("comm", ["--sort=payload"], lambda m: m.comm(sort="payload")),
    ("cost", ["--sort=written"], lambda m: m.cost(sort="written")), ("cost", ["--by=opcode"], lambda m: m.cost(by="opcode")), ("mem", [], lambda m: m.mem()),
    ("show", ["--name"], lambda m: m.show(names=True)), ("time", ["--on=h100x8"], lambda m: m.time(on="h100x8"))])
def test_results_are_those_of_the_command_line(loops, name, arguments, compute):
    # The library names settings; the command line names its options for them.
    found = json.loads(json.dumps(compute(loops).to_dict(), ensure_ascii=False).replace("the\u00a0setting\u00a0", "--"))
    expected = command(name, "--json", *arguments, LOOPS)
    assert found == expected


def test_results_have_attributes(loops):
    assert {row.kind for row in loops.comm().collectives} == {"all-gather", "all-reduce", "reduce-scatter"}
    assert loops.mem().peak == 516 and loops.cost().flops == loops.stats()["flops"]
    assert loops.time(on="h100x8").step_seconds > 0 and loops.devices == 8
    assert "collective" in str(loops.comm()) and "<table>" in loops.comm()._repr_html_()


def test_totals(loops):
    totals = loops.stats()
    assert totals.flops == totals["flops"] > 0 and totals.collectives_by_kind["all-gather"] == 16
    assert "wire_bytes" in str(totals) and "<th>flops</th>" in totals._repr_html_()


def test_stats_of_a_dump_folder(tmp_path):
    (tmp_path / "module_0001.jit_f.before_optimizations.txt").write_text(ADD)
    (tmp_path / "module_0001.jit_f.after_optimizations.txt").write_text(ADD.replace("add(p, q)", "multiply(p, q)"))
    found = shoal.stats(tmp_path, stages=True)
    assert [row.flops for row in found.modules] == [6] and found.to_dict() == command("stats", "--json", "--diff", tmp_path)
    with pytest.raises(shoal.Error):
        shoal.stats(tmp_path / "nothing")


def test_diff_compare_check(loops):
    changed = shoal.load(LOOPS.read_text().replace('"n":"3"', '"n":"5"'))
    differences = loops.diff(changed, thresholds=["wire_bytes<=+2%"])
    assert not differences.same and differences.changes[0].kind == "trips" and differences.exceeded
    assert loops.diff(loops).same and loops.compare(loops)
    bad = shoal.load(ADD.replace("add(p, q)", "negate(p, q)").replace("negate(p, q)", "reverse(p), dimensions={2}"))
    checked = bad.check()
    assert not checked and checked.diagnostics[0].rule == "reverse.C2" and loops.check()


def test_errors_have_diagnostics_and_a_caret():
    with pytest.raises(shoal.Error) as raised:
        shoal.load("HloModule m\nENTRY e {\n  ROOT r = f32[2] add(\n}")
    assert raised.value.kind == "module" and raised.value.diagnostics[0]["line"] >= 3 and "^" in str(raised.value)
    with pytest.raises(shoal.Error) as raised:
        shoal.load(pathlib.Path("/nowhere.hlo"))
    assert raised.value.kind == "environment"
    with pytest.raises(shoal.Error):
        shoal.load(ADD).time(on="h1000")


def test_run(loops):
    compiled = shoal.load(ADD).compile()
    a, b = numpy.arange(6, dtype=numpy.float32).reshape(2, 3), numpy.ones((2, 3), numpy.float32)
    assert numpy.array_equal(compiled(a, b).numpy(), a + b)
    assert numpy.array_equal(compiled(a, b[:, ::-1]).numpy(), a + b)
    assert numpy.array_equal(numpy.from_dlpack(compiled(compiled(a, b), b)), a + b + b)
    run = loops.run(seed=3)
    assert len(run.device(7)) == len(run.outputs) and "8 devices" in str(run)
    with pytest.raises(shoal.Error):
        compiled(a)
    with pytest.raises((shoal.Error, TypeError)):
        compiled(a.astype(numpy.float64), b)


def test_outputs_outlive_everything():
    out = shoal.load(ADD).compile()(numpy.ones((2, 3), numpy.float32), numpy.ones((2, 3), numpy.float32)).numpy()
    assert out.sum() == 12
    with pytest.raises(ValueError, match="read-only"):
        out[0, 0] = 5


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    compiled = shoal.load(ADD.replace("f32", "bf16")).compile()
    a = numpy.full((2, 3), 1.5, ml_dtypes.bfloat16)
    assert compiled(a, a).numpy().dtype == ml_dtypes.bfloat16 and (compiled(a, a).numpy() == 3).all()


def test_builder():
    builder = shoal.ModuleBuilder("built")
    entry = builder.computation("main")
    p = entry.parameter("f32[4]", "p")
    entry.finish(entry.add("multiply", [p, p]))
    module = builder.finish(entry)
    assert module.compile()(numpy.arange(4, dtype=numpy.float32)).tolist() == [0, 1, 4, 9]
    with pytest.raises(shoal.Error):
        entry = shoal.ModuleBuilder("bad").computation("main")
        entry.add("add", [entry.parameter("f32[4]"), entry.parameter("f32[3]")])


def test_report(loops, tmp_path):
    page = loops.report(tmp_path / "page.html", on="h100x8")
    assert "<html" in pathlib.Path(page).read_text()[:300].lower()
    assert "<iframe" in loops._repr_html_()


def test_import_loads_neither_numpy_nor_jax():
    # The others take longer to import than shoal does.
    heavy = ("numpy", "jax", "pandas", "dataclasses", "inspect", "json", "re", "typing")
    code = f"import sys; before = set(sys.modules); import shoal; print([one for one in {heavy} if one in set(sys.modules) - before])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
