#!/usr/bin/env python3
"""Checks that the sources keep the shape that ARCHITECTURE.md promises, and that every op and every rule has a test.

What is checked stands in the first line of each function below whose name begins with "check_".
"""
import argparse
import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
OPS = SRC / "ops"


class Skipped(Exception):
    pass


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@functools.cache
def sources(folder):
    """Path and text, without comments, of every C++ file under `folder`."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cc", ".def"))
    return [(path, re.sub(r"//.*", "", path.read_text(encoding="utf-8"))) for path in paths]


@functools.cache
def folders():
    """The folders of src/ in the order of CMakeLists.txt, which is the order the data flows."""
    return re.findall(r"add_subdirectory\(src/(\w+)\)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))


@functools.cache
def ops():
    """C++ name to HLO name of every op."""
    return dict(re.findall(r'^OP\((\w+), "([^"]+)"', (OPS / "ops.def").read_text(encoding="utf-8"), re.M))


@functools.cache
def tested_rules():
    """The rule ids, as in "reverse.C2", that stand in the expected messages of the text tests."""
    rules = set()
    for path in (ROOT / "tests").rglob("*.hlo"):
        rules |= rules_in(path)
    return rules


def rules_in(path):
    errors = path.read_text(encoding="utf-8").partition("\n// ERROR\n")[2]
    return set(re.findall(r"\[([a-z][a-z0-9-]*\.[A-Z]+\d+)\]$", errors, re.M))


def check_folders(_):
    """ARCHITECTURE.md's table of folders names those of src/ and no others, in the order of CMakeLists.txt."""
    path = ROOT / "ARCHITECTURE.md"
    if not path.exists():
        return ["there is no ARCHITECTURE.md"]
    table = re.search(r"^\|\s*folder\s*\|.*\n\|[\s:|-]+\n((?:\|.*\n?)+)", path.read_text(encoding="utf-8"), re.M)
    if not table:
        return ["ARCHITECTURE.md has no table that begins with '| folder |'"]
    named = [re.sub(r"[`/]|src/", "", row.split("|")[1]).strip() for row in table[1].splitlines()]
    there = {path.name for path in SRC.iterdir() if path.is_dir()}
    problems = [f"src/{name} is not in ARCHITECTURE.md's table" for name in sorted(there - set(named))]
    problems += [f"ARCHITECTURE.md names src/{name}, which is not there" for name in named if name not in there]
    problems += [f"src/{name} is not in CMakeLists.txt" for name in sorted(there - set(folders()))]
    if not problems and named != folders():
        problems.append(f"ARCHITECTURE.md has the order {named}, CMakeLists.txt {folders()}")
    return problems


def check_includes(_):
    """A file includes only from its own folder and from those above it in CMakeLists.txt."""
    problems = []
    for i, folder in enumerate(folders()):
        for path, text in sources(SRC / folder):
            for included in re.findall(r'^#include "([^"]+)"', text, re.M):
                first = included.partition("/")[0] if "/" in included else ""
                if not first and not included.endswith((".pb.h", "page_hashes.h")):  # generated
                    problems.append(f'{name_of(path)}: #include "{included}" does not name the folder')
                elif first in folders()[i + 1:]:
                    problems.append(f'{name_of(path)}: #include "{included}", but {first}/ comes after {folder}/')
    return problems


def check_switches(_):
    """No switch on the opcode stands outside src/ops."""
    pattern = re.compile(r"switch\s*\([^{;]*\bopcode_?(\(\))?\s*\)\s*\{|case\s+Opcode::k\w+")
    problems = []
    for path, text in sources(SRC):
        for found in pattern.finditer(text) if OPS not in path.parents else ():
            line = text.count("\n", 0, found.start()) + 1
            problems.append(f"{name_of(path)}:{line}: {found[0]}: facts about an op belong in src/ops")
    return problems


# Files that may name opcodes: src/ops, and where interp says what ops mean, with the loops that elementwise ops are.
# Elsewhere "opcode ==" asks for a trait.
EVALUATORS = [SRC / "interp" / folder
              for folder in ("algebra", "control", "custom_calls", "elementwise", "movement", "reduction")]
EVALUATORS.append(SRC / "kernels" / "elementwise")
MOST_FILES_WITH_OPCODES = 30


def check_opcodes(_):
    """Opcodes are named outside of src/ops and interp's evaluators in no more than 30 files."""
    naming = [name_of(path) for path, text in sources(SRC)
              if not {OPS, *EVALUATORS} & set(path.parents) and re.search(r"\bOpcode::k\w", text)]
    return [f"{len(naming)} files name opcodes, more than {MOST_FILES_WITH_OPCODES}; which trait is missing in src/ops? "
            f"{' '.join(naming)}"] if len(naming) > MOST_FILES_WITH_OPCODES else []


# The numbers that were reached, which may only fall.
MOST_CLI_LINES = 1500
MOST_INTERP_LINES = 7820
MOST_LINES = 300
LONGER = {
    "codegen/kernel_emitter.cc": "one class that writes a kernel",
    "codegen/vector_builder.cc": "one builder of vector code",
    "data/inputs.cc": "how inputs are found, checked and read",
    "data/output_shards.cc": "how the shards of an output are put together",
    "kernels/elementwise/numbers.h": "a row for each function of numbers",
    "kernels/reduction_loop.cc": "a loop for each way to reduce",
    "ops/price.cc": "a price for each class of op",
    "program/kernel_builder.cc": "one class that makes a kernel of a fusion",
    "proto/write.cc": "one class that writes a module",
    "text/attr_printer.cc": "a printer for each kind of attribute",
    "text/lexer.cc": "all tokens",
    "text/printer.cc": "one class that prints a module",
}


def lines_of(path):
    return path.read_text(encoding="utf-8").count("\n")


def check_sizes(_):
    """No source file has more than 300 lines but those listed with a reason; cli and interp have no more."""
    problems = []
    for path, _ in sources(SRC):
        name = path.relative_to(SRC).as_posix()
        if lines_of(path) > MOST_LINES and name not in LONGER:
            problems.append(f"src/{name} has {lines_of(path)} lines: split it by idea, or say why not in LONGER")
    cli = sum(lines_of(path) for path, _ in sources(SRC / "cli"))
    if cli > MOST_CLI_LINES:
        problems.append(f"src/cli has {cli} lines, more than {MOST_CLI_LINES}: what is shown belongs in src/report")
    interp = sum(lines_of(path) for path, _ in sources(SRC / "interp"))
    if interp > MOST_INTERP_LINES:
        problems.append(f"src/interp has {interp} lines, more than {MOST_INTERP_LINES}: what needs no device belongs in "
                        "src/kernels")
    return problems


def check_good_tests(_):
    """Every op stands in a tests/ops/*.hlo that must be accepted."""
    used = set()
    for path in (ROOT / "tests/ops").glob("*.hlo"):
        if not path.name.startswith("bad-"):
            used |= set(re.findall(r"(?<![\w.%-])([a-z][a-z0-9-]*)\(", path.read_text(encoding="utf-8")))
    return [f"{text}: no good test in tests/ops" for text in sorted(set(ops().values()) - used)]


def definitions():
    """The pieces of src/ops as (path, name, text); the name is an op's, as in "reverse", a function's or a struct's."""
    for path, text in sources(OPS):
        # A definition begins at the left margin and ends before the next.
        for piece in re.split(r"^(?=[A-Za-z])", text, flags=re.M) if path.suffix != ".def" else ():
            row = re.match(r"(?:UNARY|BINARY|FUNCTION|FUNCTION_OF_TWO)\((\w+)", piece)  # of elementwise.h
            if row:
                yield path, ops().get(row[1], row[1]), piece + " Elementwise Transcendental"
                continue
            head, body, _ = piece.partition("{")
            op = re.search(r"\bOp<Opcode::k(\w+)>", head)
            other = re.search(r"\bstruct (\w+)", head) or re.search(r"(\w+)\(", head)
            if body and (op or other):
                yield path, ops().get(op[1], op[1]) if op else other[1], piece


def ops_that_use(pieces):
    """For each piece the ops whose definition leads to it. Of functions with one name, a file's own goes first."""
    places = {}
    for i, (_, name, _) in enumerate(pieces):
        places.setdefault(name, []).append(i)
    for name, text in ops().items():
        places[f"k{name}"] = places.get(text, [])
    users = [set() for _ in pieces]
    for op in ops().values():
        todo = list(places.get(op, ()))
        while todo:
            i = todo.pop()
            if op not in users[i]:
                users[i].add(op)
                path, _, text = pieces[i]
                for word in set(re.findall(r"\w+", text)) & places.keys():
                    own = [j for j in places[word] if pieces[j][0] == path]
                    todo += own or places[word]
    return users


def check_rules(_):
    """Every rule of an op has a bad test that names it; a rule that ops share has one for at least one of them."""
    problems = []
    pieces = list(definitions())
    for (path, name, text), users in zip(pieces, ops_that_use(pieces)):
        for rule in sorted(set(re.findall(r'\bBroken\(\s*[^,"]+,\s*"(\w+)"', text))):
            if not {f"{op}.{rule}" for op in users} & tested_rules():
                some = ", ".join(sorted(users)[:4]) + (", …" if len(users) > 4 else "")
                of = "" if name in users else f" of {some or 'no op'}"
                problems.append(f"{name}.{rule}{of} ({name_of(path)}): no test expects it")
    for path, text in sources(SRC):
        for rule in sorted(set(re.findall(r'"([a-z][a-z0-9-]*\.[A-Z]+\d+)"', text)) - tested_rules()):
            problems.append(f"{rule} ({name_of(path)}): no test expects it")
    return problems


def check_test_names(_):
    """A test named bad-OP-cN… expects the rule OP.CN."""
    problems = []
    for path in sorted((ROOT / "tests").rglob("bad-*.hlo")):
        named = re.match(r"bad-(.+?)-c(\d+)(-|\.)", path.name)
        if named and f"{named[1]}.C{named[2]}" not in rules_in(path):
            problems.append(f"{name_of(path)} does not expect [{named[1]}.C{named[2]}]")
    return problems


def check_ops_page(binary):
    """docs/ops.md is what `shoal ops --markdown` prints."""
    path = ROOT / "docs/ops.md"
    printed = subprocess.run([binary, "ops", "--markdown"], capture_output=True, timeout=60, check=False)
    if printed.returncode != 0:
        if path.exists():
            return [f"`shoal ops --markdown` exits with {printed.returncode}"]
        raise Skipped("no docs/ops.md")
    if not path.exists() or path.read_bytes() != printed.stdout:
        return ["docs/ops.md is not current; to write it: build/shoal ops --markdown > docs/ops.md"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default=ROOT / "build/shoal", type=pathlib.Path)
    options = parser.parse_args()
    passed = failed = skipped = 0
    for name, check in list(globals().items()):
        if not name.startswith("check_"):
            continue
        try:
            problems = check(options.bin.resolve())
        except Skipped:
            skipped += 1
            continue
        passed += not problems
        failed += bool(problems)
        if problems:
            print("FAILED " + check.__doc__)
            print("".join(f"  {problem}\n" for problem in problems))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
