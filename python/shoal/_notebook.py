"""Pages in notebooks, and the cell magic %%shoal."""
import html


def frame(page, height=640):
    """The page as an inline frame, isolated from the notebook."""
    return (f'<iframe srcdoc="{html.escape(page, quote=True)}" sandbox="allow-scripts allow-same-origin" '
            f'style="width:100%;height:{height}px;border:1px solid #ccc"></iframe>')


def load_ipython_extension(ipython):
    """%load_ext shoal._notebook adds %%shoal, which runs a cell and reports the programs that JAX compiled in it."""

    def shoal_magic(line, cell):
        from .jax import capture
        with capture() as captured:
            ipython.run_cell(cell)
        print(captured.summary(on=line.strip() or None))
        return captured

    ipython.register_magic_function(shoal_magic, "cell", "shoal")
