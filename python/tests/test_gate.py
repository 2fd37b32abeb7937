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
    ranks = [shoal.load(path) for path in (LOOPS, renamed, changed)]
    [finding] = gate.same_across_ranks(ranks)
    assert "changed.hlo differs from" in finding.message and "trips" in finding.message


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
