"""Pages in notebooks, and the cell magic %%shoal."""
from __future__ import annotations

import html
from typing import Any

_MAX_BYTES = 1_000_000  # a notebook stores its outputs


def frame(page: str, text: str, height: int = 640) -> str:
    """The page as an inline frame, isolated from the notebook; `text` if the page would make the notebook heavy."""
    if len(page) > _MAX_BYTES:
        return (f"<pre>{html.escape(text)}</pre><p>The page has {len(page) / 1e6:.1f} MB; "
                "<code>module.report('page.html')</code> writes it to a file.</p>")
    return (f'<iframe srcdoc="{html.escape(page, quote=True)}" sandbox="allow-scripts allow-popups allow-downloads" '
            f'style="width:100%;height:{height}px;border:1px solid #ccc"></iframe>')


def load_ipython_extension(ipython: Any) -> None:
    """Adds %%shoal, which runs a cell and reports the programs that JAX compiled in it."""

    def shoal_magic(line: str, cell: str) -> None:
        from IPython.display import display as show

        from .jax import capture
        with capture() as captured:
            done = ipython.run_cell(cell)
        if done.success:
            print(captured.summary(on=line.strip() or None))
            if captured.programs:
                show(captured.largest().module)

    ipython.register_magic_function(shoal_magic, "cell", "shoal")
