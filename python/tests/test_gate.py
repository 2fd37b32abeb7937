"""The gate, its command line and the pytest plugin."""
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import shoal
from shoal import gate

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOOPS = ROOT / "examples/nested_loops.hlo"


def test_limits():
    module = shoal.load(LOOPS)
    assert gate.check_module(module, {"flops": 1e9, "collectives": {"all-gather": 16}, "forbid": ["all-to-all"]}) == []
    limits = {"flops": 1, "wire_bytes": 1, "collectives": {"all-gather": 15}, "step_seconds": {"on": "h100x8", "max": 0},
              "forbid": ["all-gather bytes>300", "all-reduce type=f32"]}
    rules = [finding.rule for finding in gate.check_module(module, limits)]
    assert rules.count("forbid") >= 2 and {"flops", "wire_bytes", "collectives.all-gather", "step_seconds"} <= set(rules)


def test_golden_and_ranks(tmp_path):
    text = LOOPS.read_text()
    renamed, changed = tmp_path / "renamed.hlo", tmp_path / "changed.hlo"
    renamed.write_text(text.replace("part", "piece_of_it"))
    changed.write_text(text.replace('"n":"3"', '"n":"5"'))
    assert gate.check_module(shoal.load(renamed), {"golden": str(LOOPS)}) == []
    assert gate.check_module(shoal.load(changed), {"golden": str(LOOPS)})[0].rule == "golden"
    ranks = {str(path): [shoal.load(path)] for path in (LOOPS, renamed, changed)}
    [finding] = gate.same_across_ranks(ranks)
    assert "changed.hlo differs from" in finding.message and "trips while inner: 3 -> 5" in finding.message
    assert gate.same_across_ranks({}) == []
    missing = gate.same_across_ranks({"0": ranks[str(LOOPS)], "1": []})
    assert [one.message for one in missing] == ["0 has program nested_loops, 1 does not"]


def test_the_first_differing_collective_is_named(tmp_path):
    text = LOOPS.read_text()
    other = text.replace('"n":"3"', '"n":"5"').replace("replica_groups={{0,1,2,3},{4,5,6,7}}", "replica_groups={{0,1,2,4},{3,5,6,7}}")
    assert other.count("{{0,1,2,4}") == 1
    difference = gate.first_difference(shoal.load(text), shoal.load(other))
    assert difference.startswith("groups all-reduce") and "d1=4 -> {0,1,2,4} {3,5,6,7} (loops.py:29)" in difference
    assert gate.first_difference(shoal.load(text), shoal.load(text)) == ""


def test_ranks_of_dump_folders(tmp_path):
    """A process may compile several programs of one name; each is compared with that of the same number elsewhere."""
    text = LOOPS.read_text()
    for rank in "01":
        (tmp_path / rank).mkdir()
        for number, trips in enumerate("35"):
            changed = text.replace('"n":"3"', f'"n":"{trips}"')
            (tmp_path / rank / f"module_000{number}.jit_f.after_optimizations.txt").write_text(changed)
    assert run_gate(tmp_path, {"same_across_ranks": True}, tmp_path).returncode == 0
    (tmp_path / "1/module_0001.jit_f.after_optimizations.txt").write_text(text)
    bad = run_gate(tmp_path, {"same_across_ranks": True}, tmp_path)
    assert bad.returncode == 3 and "trips while inner: 5 -> 3 [ranks]" in bad.stdout
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run_gate(tmp_path, {}, empty).returncode == 2


PATTERNS = """HloModule m, num_partitions=2
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e {
  w = bf16[64,8] parameter(0), sharding={devices=[2,1]<=[2]}
  x = bf16[8,8] parameter(1)
  whole = bf16[128,8] all-gather(w), replica_groups={{0,1}}, dimensions={0}
  y = bf16[8,8] negate(x)
  act = bf16[16,8] all-gather(y), replica_groups={{0,1}}, dimensions={0}
  wide = f32[16,8] convert(act)
  ROOT sum = f32[16,8] all-reduce(wide), replica_groups={{0,1}}, to_apply=add
}
"""


def test_patterns():
    module = shoal.load(PATTERNS)

    def found(pattern):
        return [one.message.split()[0] for one in gate.check_module(module, {"forbid": [pattern]})]

    assert found("all-gather of=parameter") == ["whole"] and found("all-gather bytes>=2048") == ["whole"]
    assert found("all-* type=f32 widened_from=bf16") == ["sum"] and found("all-reduce widened_from=f16") == []
    assert found("all-gather") == ["whole", "act"] and found("all-gather bytes<=256 of=negate") == ["act"]


def test_axes():
    module = shoal.load(LOOPS)
    [axis] = {row.axis for row in module.comm().collectives if row.kind == "all-reduce"}
    name = axis.partition("=")[0]
    assert gate.check_module(module, {"axes": {name: {"all-reduce": 4, "all-gather": 0}, "none": {"all-reduce": 0}}}) == []
    rules = [one.rule for one in gate.check_module(module, {"axes": {name: {"all-reduce": 3, "wire_bytes": 1}}})]
    assert rules == [f"axes.{name}.all-reduce", f"axes.{name}.wire_bytes"]


def test_fingerprint():
    module = shoal.load(LOOPS)
    assert gate.check_module(module, {"fingerprint": module.fingerprint()}) == []
    assert gate.check_module(module, {"fingerprint": "0"})[0].rule == "fingerprint"


def run_gate(tmp_path, config, *arguments):
    file = tmp_path / "gate.json"
    file.write_text(json.dumps(config))
    return subprocess.run([sys.executable, "-m", "shoal", "gate", str(file), *map(str, arguments)], capture_output=True,
                          text=True, check=False)


def test_command(tmp_path):
    good = run_gate(tmp_path, {"modules": {"nested_*": {"flops": 1e9}}}, LOOPS)
    assert good.returncode == 0 and "0 findings" in good.stdout
    junit, sarif = tmp_path / "junit.xml", tmp_path / "gate.sarif"
    bad = run_gate(tmp_path, {"modules": {"nested_*": {"forbid": ["all-gather"]}, "other": {}}}, LOOPS, "--junit", junit,
                   "--sarif", sarif)
    assert bad.returncode == 3 and "is forbidden by" in bad.stdout
    suite = xml.etree.ElementTree.parse(junit).getroot()
    assert int(suite.get("failures")) == 2
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    assert results[0]["locations"][0]["physicalLocation"]["region"]["startLine"] > 1
    assert run_gate(tmp_path, {"modules": {"*": {"nonsense": 1}}}, LOOPS).returncode == 2
    broken = tmp_path / "broken.hlo"
    broken.write_text("HloModule m\nENTRY e {")
    assert run_gate(tmp_path, {"modules": {}}, broken, tmp_path / "missing.hlo").returncode == 1


def test_fixture(shoal_gate):
    assert shoal_gate(LOOPS, limits={"flops": 1e9}).name == "nested_loops"
