#!/usr/bin/env python3
"""Every table, plot and message fits the requested width: tests/widths.py [SHARED] [--bin PATH].

Runs all commands that print text, at 80, 120 and 200 columns, on the examples, on names in other alphabets and, with
SHARED, on its largest modules. The sizes, axes and source location in each line of `show` are never elided. Without a
width nothing is elided. COLUMNS is used if --width is not given.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTHS = (80, 120, 200)
LARGEST = 2  # of each folder
FOLDERS = ("corpus", "golden/jax", "golden/gpu8", "golden/gpu_nodes", "seeds")
ANALYSES = (["show"], ["show", "--op=all", "--name", "--groups", "--depth=3"], ["comm", "--matrix"], ["cost"],
            ["cost", "--by=line"], ["cost", "--by=op_name", "--top=40"], ["mem"], ["check"])
# Names whose width in columns differs from their length in bytes.
LETTERS = """HloModule 模型, is_scheduled=true
ENTRY e {
  p = f32[4096,4096] parameter(0), metadata={op_name="jit(訓練)/層/入力" source_file="/家/模型/注意.py" source_line=7}
  ROOT d = f32[4096,4096] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(訓練)/層/é🐟/dot_general" source_file="/家/模型/注意.py" source_line=12}
}
"""
DEEP = "HloModule deep\n" + "".join(
    f"c{i} {{ p = f32[8] parameter(0)\n ROOT r = f32[8] call(p), to_apply=c{i - 1} }}\n" if i else
    "c0 { p = f32[8] parameter(0)\n s = f32[8] sort(p), dimensions={0}, to_apply=less\n ROOT t = f32[8] exponential(s) }\n"
    for i in range(60)) + "ENTRY e { p = f32[8] parameter(0)\n ROOT r = f32[8] call(p), to_apply=c59 }\n" \
    "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=LT }\n"
BAD = "HloModule bad\nENTRY e {\n  p = f32[3,2] parameter(0), metadata={op_name=\"" + "層/" * 60 + "\"}\n" \
      "  ROOT r = f32[3,2] reverse(p), dimensions={0,2}, metadata={op_name=\"" + "x/" * 120 + "\"}\n}\n"


def columns(line):
    """The columns a line takes on a terminal."""
    width = 0
    for letter in line:
        if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            continue
        width += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
    return width


def largest(shared):
    modules = []
    for folder in FOLDERS:
        paths = [path for path in (shared / folder).rglob("*") if path.suffix in (".hlo", ".txt", ".pb")]
        modules += sorted(paths, key=lambda path: -path.stat().st_size)[:LARGEST]
    return modules


class Checker:
    def __init__(self, binary):
        self.binary, self.problems, self.passed = binary, [], 0

    def run(self, arguments, width=None, columns_variable=None, messages=True):
        environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
        if columns_variable:
            environment["COLUMNS"] = str(columns_variable)
        widths = [f"--width={width}"] if width is not None else []
        done = subprocess.run([self.binary, *map(str, arguments), *widths], capture_output=True, timeout=300,
                              env=environment, check=False, cwd=ROOT)
        text = (done.stdout + (done.stderr if messages else b"")).decode("utf-8", "replace")
        return re.sub(r", in [\d.e-]+ s( \+ compiled in [\d.e-]+ s)?$", "", text, flags=re.M), done.returncode

    def expect(self, good, arguments, text):
        self.passed += bool(good)
        if not good:
            self.problems.append(" ".join(map(str, arguments)) + ": " + text)

    def fits(self, arguments, width, text):
        wide = [line for line in text.splitlines() if columns(line) > width]
        self.expect(text and not wide, arguments,
                    f"{len(wide)} lines of more than {width} columns: {wide[0][:300]}" if wide else "prints nothing")

    def check(self, arguments):
        """Checks all widths; a very large width must not change the output."""
        for width in WIDTHS:
            text, status = self.run(arguments, width)
            self.expect(status in (0, 1), arguments, f"exits with {status}: {text[:300]}")
            self.fits(arguments, width, text)
        whole, _ = self.run(arguments, messages=False)
        if arguments[0] != "mem":  # its plot uses the whole width
            wide, _ = self.run(arguments, 100000, messages=False)
            self.expect(wide == whole, arguments, "--width=100000 elides text")
        if arguments[0] == "show":
            self.check_kept(arguments, whole)

    def check_kept(self, arguments, whole):
        """Checks that each line keeps its sizes, axes and source location."""
        narrow = self.run(arguments, 80, messages=False)[0].splitlines()
        tree = whole.partition("\n\n")[0].splitlines()
        narrow_tree = "\n".join(narrow).partition("\n\n")[0].splitlines()
        narrow_tree = narrow_tree[len(narrow_tree) - len(tree):] if len(narrow_tree) >= len(tree) else narrow_tree
        self.expect(len(tree) == len(narrow_tree), arguments, "has a different number of lines at 80 columns")
        lost = []
        for line, elided in list(zip(tree, narrow_tree))[1:]:
            kept = re.findall(r" ([\d.]+ [KMGTPE]i?(?:B|flop)|\d+ (?:B|flop))(?= |$)", line)
            kept += [location for location in re.findall(r"([^/\s]+\.py:\d+)$", line) if columns(location) <= 24]
            lost += [(part, elided) for part in kept if part not in elided]
        self.expect(not lost, arguments, f"{len(lost)} lost at 80 columns, as {lost[:1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", nargs="?", type=pathlib.Path)
    parser.add_argument("--bin", default=ROOT / "build/shoal", type=pathlib.Path)
    options = parser.parse_args()
    checker = Checker(options.bin.resolve())
    with tempfile.TemporaryDirectory() as folder:
        own = []
        for name, text in (("letters", LETTERS), ("deep", DEEP), ("bad", BAD)):
            own.append(pathlib.Path(folder) / ("a-folder-with-a-rather-long-name-" + name + ".hlo"))
            own[-1].write_text(text, encoding="utf-8")
        modules = sorted((ROOT / "examples").glob("*.hlo")) + own
        modules += largest(options.shared.resolve()) if options.shared else []
        calls = [[*command, module] for module in modules for command in ANALYSES]
        calls += [["diff", a, b] for a, b in zip(modules, modules[1:])] + [["diff", module, module] for module in own]
        calls += [["run", module] for module in modules[:6]] + [["ops"], ["stats", "examples"], ["stats", folder]]
        calls += [["compare", "examples/mlp.hlo", "examples/tensor_parallel_mlp.hlo"]]
        calls += [["stats", options.shared.resolve() / "golden/gpu8"]] if options.shared else []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(checker.check, calls))
        commands = re.findall(r"^  (\w+) ", checker.run(["--help"])[0].partition("Commands:")[2], re.M)
        checker.expect(len(commands) > 8, ["--help"], f"lists {commands}")
        for arguments in [["--help"]] + [[command, "--help"] for command in commands]:
            checker.fits(arguments, 80, checker.run(arguments, columns_variable=80)[0])
        show = ["show", own[0]]
        checker.expect(checker.run(show, columns_variable=80) == checker.run(show, 80), show, "COLUMNS=80 is not --width=80")
        checker.expect(checker.run(show, 0, 80) == checker.run(show), show, "--width=0 does not override COLUMNS")
        checker.expect(checker.run(show, 7)[1] == 2, show, "--width=7 is accepted")
    print("".join(f"{problem}\n" for problem in checker.problems), end="")
    if not options.shared:
        print("without SHARED: tested only the examples")
    print(f"{checker.passed} passed, {len(checker.problems)} failed")
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main())
