"""A pytest fixture: def test_step(shoal_gate): shoal_gate(train_step, params, batch, limits={"wire_bytes": 4e9})"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ._module import Module


@pytest.fixture
def shoal_gate() -> Callable[..., Module]:
    """Fails the test with the findings of the gate, for a module or for a function of JAX and its arguments."""
    from ._load import load
    from ._module import Module
    from .gate import check_module

    def gate(program: Any, *arguments: Any, limits: Mapping[str, Any]) -> Module:
        if callable(program) and not isinstance(program, Module):
            from .jax import explain
            module = explain(program)(*arguments)
        else:
            module = load(program)
        findings = check_module(module, limits)
        if findings:
            pytest.fail("\n".join(one.message for one in findings), pytrace=False)
        return module

    return gate
