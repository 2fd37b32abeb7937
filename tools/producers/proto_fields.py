#!/usr/bin/env python3
"""The table of protobuf fields (src/formats/proto/proto_fields.def) as a page, and against XLA's repository.

    tools/producers/proto_fields.py --markdown > docs/protobuf.md
    tools/producers/proto_fields.py --xla CLONE     # every field of every version in the history must have a row
"""
import argparse
import pathlib
import re
import subprocess
import sys

TABLE = pathlib.Path(__file__).resolve().parents[2] / "src/formats/proto/proto_fields.def"
PATHS = ["xla/xla_data.proto", "xla/service/hlo.proto", "tensorflow/compiler/xla/xla_data.proto",
         "tensorflow/compiler/xla/service/hlo.proto"]
USES = {"Read": "read", "Upgraded": "upgraded", "Ignored": "ignored", "Reported": "ignored, with a warning",
        "Refused": "refused", "IgnoredUpTo0": "refused unless 0", "IgnoredUpTo1": "refused unless 0 or 1"}
HEAD = """# Protobuf fields

shoal reads the protobufs of all versions of XLA since 2019. This table lists every field of a module in every version
since 2017. A field that is *refused* changes the meaning in a way that shoal does not support; the file is rejected. A
field without a row is newer than this version of shoal; it is a warning `[loose.field]` that names the field, and an error
with `--strict`. `tools/producers/proto_fields.py` prints this page.
"""


def rows():
    pattern = r'FIELD\("([^"]*)", (\d+), "([^"]*)", "([^"]*)", "([^"]*)", (\w+), "([^"]*)"\)'
    return re.findall(pattern, TABLE.read_text())


def markdown():
    message = None
    print(HEAD, end="")
    for name, number, field, first, last, use, reason in rows():
        if name != message:
            print(f"\n## {name}\n\n| field | name | versions | use |\n| --- | --- | --- | --- |")
            message = name
        print(f"| {number} | {field} | {first} to {last or 'now'} | {USES[use]}{': ' if reason else ''}{reason} |")


def fields_of(text):
    """(message, number, name) of each field of a .proto file."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"(\\.|[^\"\\])*\"", " ", text, flags=re.S)
    stack, found = [], []
    for token in re.finditer(r"\b(message|enum|oneof|service|extend)\s+(\w+)\s*\{|[{}]|([\w.<>, ]+?)\s+(\w+)\s*=\s*(\d+)\s*[;\[]", text):
        if token[1]:
            stack.append((token[1], token[2]))
        elif token[0] == "{":
            stack.append(("other", ""))
        elif token[0] == "}":
            if stack:
                stack.pop()
        elif stack and stack[-1][0] in ("message", "oneof"):
            found.append((".".join(name for kind, name in stack if kind == "message"), int(token[5]), token[4]))
    return found


def check(clone):
    def git(*arguments):
        return subprocess.run(["git", "-C", clone, *arguments], capture_output=True, text=True, check=False).stdout

    known = {(name, int(number)) for name, number, *_ in rows()}
    messages = {name for name, _ in known}
    missing = {}
    for path in PATHS:
        for commit in git("log", "--format=%h", "--", path).split():
            for message, number, field in fields_of(git("show", f"{commit}:{path}")):
                if message in messages and (message, number) not in known:
                    missing.setdefault((message, number, field), commit)
    for (message, number, field), commit in sorted(missing.items()):
        print(f"{message}.{field} = {number} has no row (commit {commit})")
    print(f"{len(known)} fields with rows, {len(missing)} without")
    return 1 if missing else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--xla", help="a clone of XLA's repository with its history")
    flags = parser.parse_args()
    if flags.markdown:
        markdown()
    if flags.xla:
        sys.exit(check(flags.xla))


if __name__ == "__main__":
    main()
