"""The files that the checks read, and C++ split into code, comments and strings."""
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
OPS = SRC / "core/ops"

# Numbers are matched because of their separators, as in 1'000, which do not begin a character literal.
TOKEN = re.compile(r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
    |(?P<string>\bR"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*")
    |\b\d[\w.']*|(?P<character>'(?:\\.|[^'\\\n])+')""", re.X | re.S)


class Skipped(Exception):
    """Raised by a check that cannot run here."""


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def line_at(text, offset):
    return text.count("\n", 0, offset) + 1


@functools.cache
def text_of(path):
    return path.read_text(encoding="utf-8")


@functools.cache
def cpp_files(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cc", ".c", ".def"))


@functools.cache
def tokens(path):
    """(kind, start, end) of each comment, string and character literal of a C++ file."""
    kinds = ("comment", "string", "character")
    return [(next(kind for kind in kinds if found[kind]), *found.span())
            for found in TOKEN.finditer(text_of(path)) if found.lastgroup]


def without(path, kinds):
    """The text without the tokens of these kinds. Lines keep their numbers."""
    text = text_of(path)
    pieces, end = [], 0
    for kind, start, after in tokens(path):
        if kind in kinds:
            pieces += [text[end:start], '""' if kind == "string" else " ", "\n" * text.count("\n", start, after)]
            end = after
    return "".join([*pieces, text[end:]])


@functools.cache
def code_of(path):
    """The file without comments. Strings stay."""
    return without(path, ("comment",))


def bare_code_of(path):
    """The file without comments, and with empty literals."""
    return without(path, ("comment", "string", "character"))


def strings_of(path):
    """(line, content) of each string literal of a C++ file, include paths excepted."""
    text = text_of(path)
    for kind, start, end in tokens(path):
        if kind == "string" and not text[text.rfind("\n", 0, start) + 1:start].lstrip().startswith("#include"):
            yield line_at(text, start), text[start:end].strip('"')


def includes_of(path):
    """(line, path) of each #include with quotes."""
    text = text_of(path)
    return [(line_at(text, found.start()), found[1]) for found in re.finditer(r'^#include "([^"]+)"', text, re.M)]
