#!/usr/bin/env python3
"""Checks that every example of README.md and docs/ prints the output below it: tests/docs.py [--bin PATH] [--update].

An example is an indented line that begins with "$ " and contains shoal; its output is the indented lines after it.
If there are none, nothing is compared. In the output, "…" matches any text: it replaces what varies between machines
(times, the last digits of dots). A line of only "…" matches any number of lines. Examples run in a shell, in the root
of the project, where `shoal` and `./shoal` are the binary. --update writes the current output, but keeps lines with "…"
that match it.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def examples(lines):
    """(first line of the command, first line of the output, end) of each example."""
    i = 0
    while i < len(lines):
        if not lines[i].startswith("    $ "):
            i += 1
            continue
        command = i
        while lines[i].rstrip().endswith(("|", "\\")):
            i += 1
        first = i = i + 1
        # Empty lines belong to the output if more output follows.
        while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()) and not lines[i].startswith("    $ "):
            i += 1
        end = i
        while end > first and not lines[end - 1].strip():
            end -= 1
        if "shoal" in "".join(lines[command:first]):
            yield command, first, end


def pattern(line):
    return ".*".join(re.escape(part) for part in line.split("…"))


def matches(expected, printed):
    text = "".join("(?:.*\n)*" if line.strip() == "…" else pattern(line) + "\n" for line in expected)
    return re.fullmatch(text, "".join(line + "\n" for line in printed)) is not None


def run(binary, command, folder):
    command = command.replace("./shoal ", "shoal ")
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    environment["PATH"] = f"{folder}:{environment['PATH']}"
    done = subprocess.run(["bash", "-c", f"{{ {command}\n}} 2>&1"], capture_output=True, timeout=120, cwd=ROOT,
                          env=environment, check=False)
    return done.stdout.decode("utf-8", "replace").rstrip().replace(" \n", "\n").splitlines()


def updated(expected, printed):
    """The printed lines, with the old lines where they match."""
    marked = [line for line in expected if "…" in line and line.strip() != "…"]
    return [next((old for old in marked if re.fullmatch(pattern(old), line)), line) for line in printed]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build/shoal", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "shoal").symlink_to(options.bin.resolve())
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            lines = path.read_text(encoding="utf-8").splitlines()
            for command, first, end in reversed(list(examples(lines))):
                text = "\n".join(line[4:] for line in lines[command:first])[2:]
                expected = [line[4:].rstrip() for line in lines[first:end]]
                printed = run(options.bin, text, folder)
                if not expected or matches(expected, printed):
                    passed += 1
                elif options.update:
                    lines[first:end] = [("    " + line).rstrip() for line in updated(expected, printed)]
                else:
                    failed += 1
                    print(f"{path.relative_to(ROOT)}:{command + 1}: {text}\n  prints")
                    print("".join(f"    {line}\n" for line in printed[:40]), end="")
            if options.update:
                path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
