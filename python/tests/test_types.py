"""Annotations: the package is strictly typed, the stub fits the extension, and users see no unknown types."""
import ast
import os
import pathlib
import subprocess
import sys

import pytest

from shoal import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]
USE = """
import shoal
import shoal.jax

module = shoal.load("m.hlo")
for hlo in module.find("opcode:dot"):
    reveal_type(hlo.operands[0].shape.dims)
reveal_type(module.comm())
reveal_type(module.time(on="h100").step_seconds)
reveal_type(module.compile()(1).tolist())
with module.edit() as edit:
    reveal_type(edit.add("negate", hlo))
reveal_type(edit.module.diff(module).same)
with shoal.jax.capture() as captured:
    reveal_type(captured[0].module)
module.comm(sort=3)
"""


def run(*arguments, cwd=None):
    return subprocess.run([sys.executable, "-m", *map(str, arguments)], capture_output=True, text=True, check=False, cwd=cwd,
                          env={**os.environ, "MYPYPATH": os.environ.get("PYTHONPATH", "")})


@pytest.fixture
def mypy():
    pytest.importorskip("mypy")


def test_the_package_is_strictly_typed(mypy, tmp_path):
    done = run("mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path, "-p", "shoal")
    assert done.returncode == 0, done.stdout


def names_of(arguments):
    return [one.arg for one in arguments.posonlyargs + arguments.args + arguments.kwonlyargs if one.arg != "self"]


def test_the_stub_fits_the_extension():
    """Every name of the extension is in the stub, with the same parameters, and the other way round."""
    stub = ast.parse((ROOT / "python/shoal/_core.pyi").read_text())
    classes = {"": stub, **{one.name: one for one in stub.body if isinstance(one, ast.ClassDef)}}
    assert set(classes) - {""} == {name for name, value in vars(_core).items() if isinstance(value, type)}
    patched = set(vars(_core.Array)) & {"__array__", "numpy", "tolist", "item"}
    for name, node in classes.items():
        functions = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
        owner = getattr(_core, name) if name else _core
        own = {key for key in vars(owner) if not key.startswith("__") and not isinstance(vars(owner)[key], type)}
        assert own == {key for key in functions if not key.startswith("__")}, name
        for key, function in functions.items():
            if key in ("__buffer__", "__release_buffer__") and sys.version_info < (3, 12):
                continue  # Python did not show the buffer protocol of an extension
            signatures = getattr(getattr(owner, key), "__nb_signature__", None)
            if signatures and key not in patched and not key.startswith("__"):
                text = signatures[0][0].rpartition(" -> ")[0].replace("\\", "")
                found = ast.parse(f"{text}: ...").body[0]
                assert names_of(found.args) in (names_of(function.args), ["arg"]), f"{name}.{key}"


def test_users_see_types(mypy, tmp_path):
    (tmp_path / "use.py").write_text(USE)
    done = run("mypy", "--strict", "--follow-imports=silent", "--cache-dir", tmp_path, tmp_path / "use.py", cwd=tmp_path)
    revealed = [line.partition("Revealed type is ")[2].strip('"') for line in done.stdout.splitlines() if "Revealed" in line]
    short = [name.replace("builtins.", "").replace("shoal._results.", "").replace("shoal._core.", "") for name in revealed]
    assert short == ["tuple[int, ...]", "Comm", "float", "Any", "Instruction", "bool", "shoal._module.Module"]
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1 and '"sort"' in errors[0], done.stdout
