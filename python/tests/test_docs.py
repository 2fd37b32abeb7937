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


RECIPES = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S)


def test_the_cookbook_has_ten_recipes():
    assert len(RECIPES) >= 10


@pytest.mark.parametrize("recipe", RECIPES, ids=range(len(RECIPES)))
def test_recipe(recipe, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loops = (ROOT / "examples/nested_loops.hlo").read_text()
    (tmp_path / "module.hlo").write_text((ROOT / "examples/tensor_parallel_mlp.hlo").read_text())
    (tmp_path / "old.hlo").write_text(loops)
    (tmp_path / "new.hlo").write_text(loops.replace('"n":"3"', '"n":"5"'))
    if "import jax" in recipe or "shoal.jax" in recipe:
        pytest.importorskip("jax")
    exec(compile(recipe, "docs/python.md", "exec"), {"__name__": "recipe"})
    if "page.html" in recipe:
        assert "<html" in (tmp_path / "page.html").read_text()
