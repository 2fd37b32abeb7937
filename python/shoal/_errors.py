"""The exception of the package."""
from __future__ import annotations

from . import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Error(Exception):
    """An invalid module, argument or environment.

    `str(error)` has the line of the module and a caret, as the command line prints them. `kind` is module, argument,
    environment or cancelled. `diagnostics` is a list of dicts with message, rule, file, line and column.
    """

    def __init__(self, text: str, kind: str = "argument", diagnostics: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(text.rstrip("\n"))
        self.kind: str = kind
        self.diagnostics: list[dict[str, Any]] = list(diagnostics)


_core.set_error_class(Error)
