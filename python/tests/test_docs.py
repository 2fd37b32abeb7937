"""Runs the docstrings, and the Python examples of docs/python.md."""
import doctest
import importlib
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["shoal", "shoal._load", "shoal._module", "shoal._edit", "shoal._execution"])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_recipes(tmp_path, monkeypatch):
    text = (ROOT / "docs/python.md").read_text()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "module.hlo").write_text((ROOT / "examples/tensor_parallel_mlp.hlo").read_text())
    (tmp_path / "old.hlo").write_text((ROOT / "examples/nested_loops.hlo").read_text())
    (tmp_path / "new.hlo").write_text((ROOT / "examples/nested_loops.hlo").read_text().replace('"n":"3"', '"n":"5"'))
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 10
    for block in blocks:
        if "jax" in block:
            pytest.importorskip("jax")
        exec(compile(block, "docs/python.md", "exec"), {"__name__": "recipe"})
