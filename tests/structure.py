#!/usr/bin/env python3
"""Checks the structure that ARCHITECTURE.md promises, and that every op and every rule has a test.

tests/structure.py [--bin PATH] [CHECK…] runs the functions check_… of tests/structure/*.py, or only the given ones. The
first line of each states its rule. Long files of src/ are printed as a hint to split them; they are not a failure.
"""
import argparse
import importlib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests/structure"))
from sources import Skipped, cpp_files, name_of, text_of  # noqa: E402
MODULES = [importlib.import_module(name) for name in ("components", "op_facts", "process_state", "documents", "prose", "rules", "settings")]
CHECKS = {name.removeprefix("check_"): check for module in MODULES for name, check in vars(module).items()
          if name.startswith("check_")}
LONG = 300  # lines


def long_files():
    lengths = {path: text_of(path).count("\n") for path in cpp_files(ROOT / "src")}
    return [f"{name_of(path)}: {lines} lines" for path, lines in lengths.items() if lines > LONG]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build/shoal", type=pathlib.Path)
    parser.add_argument("checks", nargs="*", choices=[*CHECKS, []], metavar="CHECK", help=", ".join(CHECKS))
    options = parser.parse_args()
    passed = failed = skipped = 0
    for name in options.checks or CHECKS:
        check = CHECKS[name]
        try:
            problems = check(options.bin.resolve())
        except Skipped:
            skipped += 1
            continue
        passed += not problems
        failed += bool(problems)
        if problems:
            print(f"FAILED {name}: {check.__doc__}")
            print("".join(f"  {problem}\n" for problem in problems))
    if not options.checks and (hints := long_files()):
        print(f"Hint: {len(hints)} files have more than {LONG} lines; can they be split by idea?")
        print("".join(f"  {hint}\n" for hint in hints))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
