"""shoal.load: modules from files, bytes, text and the objects of JAX, PyTorch/XLA and TensorFlow."""
from __future__ import annotations

import os

from . import _core
from ._errors import Error
from ._module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def load(source: Any, *, strict: bool = False, own_packages: Sequence[str] = ()) -> Module:
    """Reads a module from almost anything that holds one.

    A path; HLO or StableHLO text; bytes of an HLO protobuf, of a StableHLO artifact or of a jax.export file; an object of
    JAX (Traced, Lowered, Compiled, Exported) or any other object with `as_serialized_hlo_module_proto`, `SerializeToString`,
    `serialize`, `mlir_module_serialized` or `as_text`. `own_packages` names installed packages that count as your own
    program in source lines.

    >>> load("HloModule m\\nENTRY e { ROOT p = f32[] parameter(0) }").name
    'm'
    """
    if isinstance(source, Module):
        return source
    def parse(data: bytes, name: str = "<memory>") -> Module:
        return Module(_core.parse(data, strict, name, own_packages))

    own_packages = list(own_packages)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return parse(bytes(source))
    if isinstance(source, os.PathLike):
        return Module(_core.read(os.fspath(source), strict, own_packages))
    if isinstance(source, str):
        # A module has several lines or a brace; a path has neither.
        is_text = "\n" in source or "{" in source
        return parse(source.encode(), "<text>") if is_text else Module(_core.read(source, strict, own_packages))
    name = type(source).__name__
    if callable(getattr(source, "lower", None)) and not hasattr(source, "as_text"):
        try:
            source = source.lower()  # Traced, or a function without parameters
        except TypeError as error:
            raise Error(f"a {name} has no program before it gets arguments: load(f.lower(*args)), or "
                        f"load(f.lower(*args).compile())") from error
    if (bytecode := _bytecode_of(source)) is not None:
        try:
            return parse(bytecode, name)
        except Error:  # an op or a dialect that only the text reader knows, and its message has a caret
            pass
    return parse(_bytes_of(source), name)


def _bytecode_of(source: Any) -> bytes | None:
    """MLIR bytecode of a Lowered of JAX or a module of MLIR's Python bindings: written and read faster than text."""
    if callable(getattr(source, "compiler_ir", None)):
        source = source.compiler_ir()
    write = getattr(getattr(source, "operation", None), "write_bytecode", None)
    if not callable(write):
        return None
    import io
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def _bytes_of(source: Any) -> bytes:
    portable = getattr(source, "mlir_module_serialized", None)  # jax.export.Exported
    if isinstance(portable, (bytes, bytearray)):
        return bytes(portable)
    if callable(getattr(getattr(source, "operation", None), "get_asm", None)):  # a module of MLIR's Python bindings
        return str(source.operation.get_asm(enable_debug_info=True)).encode()
    # Lowered.as_text has the source lines only if it is asked for them.
    for name, options in (("as_serialized_hlo_module_proto", {}), ("SerializeToString", {}), ("serialize", {}),
                          ("as_text", {"debug_info": True}), ("as_text", {})):
        method = getattr(source, name, None)
        if callable(method):
            try:
                content = method(**options)
            except (TypeError, NotImplementedError):
                continue
            return content.encode() if isinstance(content, str) else bytes(content)
    raise Error(f"cannot load a module from {type(source).__name__}: it has neither as_text() nor serialize()")
