"""Passes in Python."""
import pathlib

import numpy
import pytest

import shoal

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] negate(x)
  b = f32[4] negate(a), metadata={op_name="jit(f)/neg" source_file="model.py" source_line=7}
  ROOT c = f32[4] add(b, x)
}
"""
X = numpy.arange(4, dtype=numpy.float32)


@pytest.fixture
def module():
    return shoal.load(TEXT)


def test_a_pass_to_a_fixed_point(module):
    """x*8 as a chain of additions becomes one multiplication, by repeated rewriting."""
    text = "HloModule m\nENTRY e {\n x = f32[4] parameter(0)\n a = f32[4] add(x, x)\n b = f32[4] add(a, a)\n ROOT c = f32[4] add(b, b)\n}"
    with shoal.load(text).edit() as edit:
        for hlo in edit.find("opcode:add"):
            if hlo.operands[0] == hlo.operands[1]:
                two = edit.constant("f32[4]", [2.0] * 4, at=hlo)
                edit.replace(hlo, edit.add("multiply", hlo.operands[0], two, at=hlo))
    assert [hlo.opcode for hlo in edit.module.entry.instructions].count("multiply") == 3
    assert numpy.array_equal(edit.module.compile()(X).numpy(), 8 * X)


def test_instructions_show_the_current_state(module):
    with module.edit() as edit:
        edit.replace(module["b"], "x")
        assert [hlo.name for hlo in edit["c"].operands] == ["x", "x"] and "b" not in edit
        assert {hlo.name for hlo in edit["x"].users} == {"a", "c"}
    assert [hlo.name for hlo in edit.module.instructions()] == ["x", "c"]
    assert len(list(module.instructions())) == 4


def test_new_instructions_have_shape_and_origin(module):
    with module.edit() as edit:
        add = edit.new_computation("add")
        add.finish(add.add("add", [add.parameter("f32[]"), add.parameter("f32[]")]))
        zero = edit.constant("f32[]", 0, at="b")
        total = edit.add("reduce", "b", zero, attributes={"dimensions": "{0}", "to_apply": "add"}, name="total")
        assert str(total.shape) == "f32[]" and total.source == "model.py:7"
        edit.set_root(edit.add("tuple", total, edit["c"]))
    total, c = edit.module.compile()(X)
    assert total.tolist() == 6 and c.tolist() == (2 * X).tolist()
    assert edit.module["total"].called_computations[0].name == "add"


def test_collectives_can_be_regrouped():
    module = shoal.load(ROOT / "examples/nested_loops.hlo")
    with module.edit() as edit:
        for hlo in edit.find("opcode:all-gather"):
            if not hlo.opcode.endswith("-done"):
                edit.set_attributes(hlo, channel_id=7)
    assert edit.module.find("opcode:all-gather")[0].attributes["channel_id"] == "7"
    assert not module.diff(edit.module).same and edit.module.compare(module)


@pytest.mark.parametrize("value, shape, text", [
    (True, "pred[]", "true"), (float("inf"), "f32[]", "inf"), ([[1, 2], [3, 4]], "s32[2,2]", "{ { 1, 2 }, { 3, 4 } }"),
    (1 + 2j, "c64[]", "(1, 2)"), (numpy.array([1.5, 2]), "f32[2]", "{1.5, 2}")])
def test_constants(module, value, shape, text):
    with module.edit() as edit:
        edit.set_root(edit.constant(shape, value, at="x", name="k"))
    assert f"constant({text})" in str(edit.module)


def test_errors(module):
    with pytest.raises(shoal.Error, match="reverse.C2") as raised, module.edit() as edit:
        edit.add("reverse", "x", attributes="dimensions={1}")
    assert raised.value.diagnostics[0]["rule"] == "reverse.C2"
    with pytest.raises(KeyError):
        edit["nothing"]
    with pytest.raises(ValueError, match="not finished"):
        edit.module  # noqa: B018
    edit = module.edit()
    edit.set_operand("a", 0, edit.add("broadcast", "x", attributes="dimensions={1}", shape="f32[2,4]"))
    with pytest.raises(shoal.Error, match="after the edit") as raised:
        edit.finish()
    assert raised.value.diagnostics[0]["line"] == 4 and "^" in str(raised.value)
    with pytest.raises(shoal.Error, match="reverse.C2"):
        shoal.load("HloModule m\nENTRY e {\n p = f32[2] parameter(0)\n ROOT r = f32[2] reverse(p), dimensions={3}\n}").edit()
