#!/usr/bin/env python3
"""Draws the pictures of docs/editors.md: tools/editor_pictures.py [--bin PATH] writes docs/pictures/nvim.svg and vscode.svg.

The first is the screen of Neovim with the language server, and needs pynvim. The second is a file in the colours of VS
Code, by its own grammar engine. It needs node and the packages that tests/serve/run.py installs in build/vscode-test.
"""
import argparse
import html
import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs/pictures"
FILE = ROOT / "examples/nested_loops.hlo"
FOREGROUND, BACKGROUND = "#d4d4d4", "#1e1e1e"
WIDTH, HEIGHT = 7.8, 17  # of a character, in pixels
COLUMNS, ROWS = 124, 32


def svg(rows):
    """A picture of rows of (text, foreground, background)."""
    columns = max(sum(len(text) for text, _, _ in row) for row in rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * WIDTH + 16:.0f}" height="{len(rows) * HEIGHT + 12}" '
             f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">',
             f'<rect width="100%" height="100%" rx="5" fill="{BACKGROUND}"/>']
    for number, row in enumerate(rows):
        column = 0
        for text, foreground, background in row:
            x, y = 8 + column * WIDTH, 6 + number * HEIGHT
            column += len(text)
            if background != BACKGROUND:
                parts.append(f'<rect x="{x:.1f}" y="{y}" width="{len(text) * WIDTH:.1f}" height="{HEIGHT}" fill="{background}"/>')
            if text.strip():
                lead = len(text) - len(text.lstrip())
                shown = text.strip()
                parts.append(f'<text x="{x + lead * WIDTH:.1f}" y="{y + 13}" textLength="{len(shown) * WIDTH:.1f}" xml:space="preserve"'
                             f' fill="{foreground}">{html.escape(shown, quote=False)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def merged(cells):
    """Cells of one character as runs of equal colours."""
    runs = []
    for text, foreground, background in cells:
        if runs and runs[-1][1:] == (foreground, background):
            runs[-1] = (runs[-1][0] + text, foreground, background)
        else:
            runs.append((text, foreground, background))
    return runs


class Screen:
    """The grid that Neovim draws."""

    def __init__(self, columns, rows):
        self.colors, self.default = {0: {}}, {}
        self.cells = [[(" ", 0)] * columns for _ in range(rows)]

    def update(self, event, *calls):
        for call in calls:
            if event == "hl_attr_define":
                self.colors[call[0]] = call[1]
            elif event == "default_colors_set":
                self.default = {"foreground": call[0], "background": call[1]}
            elif event == "grid_clear":
                self.cells = [[(" ", 0)] * len(row) for row in self.cells]
            elif event == "grid_line":
                self.draw(*call[1:4])
            elif event == "grid_scroll":
                self.scroll(*call[1:6])

    def draw(self, row, column, cells):
        color = 0
        for text, *more in cells:
            color = more[0] if more else color
            for _ in range(more[1] if len(more) > 1 else 1):
                self.cells[row][column] = (text, color)
                column += 1

    def scroll(self, top, bottom, left, right, rows):
        numbers = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for number in numbers:
            self.cells[number][left:right] = self.cells[number + rows][left:right]

    def rows(self):
        def color(attributes, name, fallback):
            value = attributes.get(name, self.default.get(name, -1))
            return fallback if value < 0 else f"#{value:06x}"
        for row in self.cells:
            cells = []
            for text, number in row:
                attributes = self.colors[number]
                colors = color(attributes, "foreground", FOREGROUND), color(attributes, "background", BACKGROUND)
                cells.append((text or " ", *(reversed(colors) if attributes.get("reverse") else colors)))
            yield merged(cells)


def nvim_screen(binary):
    import pynvim
    nvim = pynvim.attach("child", argv=["nvim", "--embed", "-u", "NONE", "-i", "NONE"])
    screen = Screen(COLUMNS, ROWS)
    nvim.ui_attach(COLUMNS, ROWS, rgb=True, ext_linegrid=True)
    nvim.command("set termguicolors background=dark noswapfile number signcolumn=yes laststatus=0 noruler nowrap")
    for name, fallback in (("Normal", f"guifg={FOREGROUND} guibg={BACKGROUND}"), ("LineNr", "guifg=#858585"),
                           ("SignColumn", f"guibg={BACKGROUND}"), ("NormalFloat", "guibg=#2d2d30"), ("Identifier", "guifg=#9cdcfe"),
                           ("Function", "guifg=#dcdcaa"), ("Type", "guifg=#4ec9b0"), ("Statement", "guifg=#c586c0"),
                           ("String", "guifg=#ce9178"), ("Number", "guifg=#b5cea8"), ("PreProc", "guifg=#569cd6"),
                           ("Error", f"guifg={FOREGROUND} guibg=NONE")):
        nvim.command(f"highlight {name} {fallback}")
    nvim.command(f"set runtimepath^={ROOT}/editors/vim,{ROOT}/editors/nvim")
    nvim.command("filetype plugin on")
    nvim.command("syntax enable")
    nvim.command("runtime! ftdetect/*.vim")
    nvim.exec_lua("require('shoal').setup(...)", {"command": str(binary), "machine": "h100x8"})
    nvim.command(f"edit {os.path.relpath(FILE)}")
    nvim.command("setlocal conceallevel=0")
    nvim.exec_lua("vim.wait(10000, function() return #vim.lsp.buf_get_clients(0) > 0 end)")
    nvim.funcs.search("all-gather-start(", "w")
    nvim.command("normal! zt8k8j")
    nvim.exec_lua("vim.lsp.buf.hover()")
    deadline = time.time() + 5
    while time.time() < deadline:
        nvim.command("redraw")
        nvim.exec_lua("vim.wait(100)")
    nvim.subscribe("drawn")
    nvim.exec_lua("vim.rpcnotify(0, 'drawn')")
    while (message := nvim.next_message())[1] != "drawn":
        if message[1] == "redraw":
            for event in message[2]:
                screen.update(*event)
    nvim.close()
    return list(screen.rows())


def vscode_rows():
    done = subprocess.run(["node", ROOT / "tools/grammar_colors.js", ROOT / "editors/vscode/syntaxes/hlo.tmLanguage.json", FILE],
                          env={**os.environ, "NODE_PATH": str(ROOT / "build/vscode-test/node_modules")}, capture_output=True,
                          text=True, check=True)
    lines = [[(text, color, BACKGROUND) for text, color in line] for line in json.loads(done.stdout)]
    first = next(i for i, line in enumerate(lines) if "all-gather-start" in "".join(text for text, _, _ in line))
    return [shortened(line) for line in lines[max(first - 8, 0):first + 14]]


def shortened(line):
    taken, left = [], COLUMNS
    for text, foreground, background in line:
        if left > 0:
            taken.append((text[:left], foreground, background))
        left -= len(text)
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build/shoal", type=pathlib.Path)
    options = parser.parse_args()
    os.chdir(ROOT)
    (PICTURES / "vscode.svg").write_text(svg(vscode_rows()), encoding="utf-8")
    (PICTURES / "nvim.svg").write_text(svg(nvim_screen(options.bin.resolve())), encoding="utf-8")


if __name__ == "__main__":
    main()
