"""The exception of the package."""
from . import _core


class Error(Exception):
    """An invalid module, argument or environment.

    `str(error)` has the line of the module and a caret, as the command line prints them. `kind` is module, argument,
    environment or cancelled. `diagnostics` is a list of dicts with message, rule, file, line and column.
    """

    def __init__(self, text, kind="argument", diagnostics=()):
        super().__init__(text.rstrip("\n"))
        self.kind = kind
        self.diagnostics = list(diagnostics)


_core.set_error_class(Error)
