#!/usr/bin/env python3
"""Reads and writes the StableHLO of the goldens: tests/stablehlo.py SHARED [--bin build/shoal]

In SHARED/golden/jax and golden/spmd, each NAME.stablehlo.mlir, NAME.vhlo.mlirbc and NAME.jaxexport must give the module
of NAME.before.hlo, XLA's own conversion: the same text after computations and instructions are numbered in their order.
If the text differs, the two modules must compute the same results (`shoal compare`). Likewise, the StableHLO that
shoal writes of each NAME.stablehlo.mlir, and of each NAME.before.hlo, must give the same module when it is read.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FORMS = (".stablehlo.mlir", ".vhlo.mlirbc", ".jaxexport")
METADATA = re.compile(r", metadata=\{[^{}]*(\{[^{}]*\}[^{}]*)*\}")
INSTRUCTION = re.compile(r"^\s+(ROOT )?%?([\w.\-$]+) = (.*)$")
WORD = re.compile(r'(?<![\w.\-"@])%?[A-Za-z_][\w.\-$]*(?![\w.\-$(])')
COMMENT = re.compile(r"/\*index=\d+\*/")


def numbered(text):
    """The lines of a module, with its computations and instructions numbered in their order and without metadata."""
    lines, computations, body = text.split("\n"), [], None
    for line in lines[1:]:
        if line.endswith("{") and re.match(r"^(ENTRY )?%?[\w.\-$]+ ", line):
            body = []
            computations.append((line.startswith("ENTRY"), line.removeprefix("ENTRY ").split()[0].lstrip("%"), body))
        elif line.startswith("}"):
            body = None
        elif body is not None:
            body.append(METADATA.sub("", line))
    names = {name: f"computation {i}" for i, (_, name, _) in enumerate(computations)}
    out = [re.sub(r"^HloModule [\w.\-]+", "HloModule", METADATA.sub("", lines[0]))]
    for is_entry, name, body in computations:
        out.append(("ENTRY " if is_entry else "") + names[name])
        local = {}
        for line in body:
            root, name, rest = INSTRUCTION.match(line).groups()
            local[name] = f"instruction {len(local)}"
            rest = WORD.sub(lambda word: local.get(key := word[0].lstrip("%")) or names.get(key) or word[0], COMMENT.sub("", rest))
            out.append(f"{root or ''}{local[name]} = {rest}")
    return out


def run(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def failure(binary, path, before):
    """None, or why the file does not give the module of `before`."""
    done = run([binary, "print", path])
    if done.returncode != 0:
        return done.stderr.strip()[:1000]
    if numbered(done.stdout) == numbered(before.read_text(encoding="utf-8")):
        return None
    done = run([binary, "compare", path, before])
    return None if done.returncode == 0 else f"differs from {before.name}:\n{(done.stdout + done.stderr)[-1000:]}"


def writing_failure(binary, path):
    """None, or why the StableHLO that shoal writes of a module is not that module."""
    with tempfile.TemporaryDirectory() as folder:
        written, hlo = pathlib.Path(folder) / "written.mlir", pathlib.Path(folder) / "read.hlo"
        for command in ([binary, "print", "--format=stablehlo", path, "-o", written], [binary, "print", path, "-o", hlo]):
            done = run(command)
            if done.returncode != 0:
                return done.stderr.strip()[:1000]
        return failure(binary, written, hlo)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=pathlib.Path)
    parser.add_argument("--bin", default="build/shoal")
    options = parser.parse_args()
    befores = sorted((options.shared / "golden").glob("*/*.before.hlo"))
    pairs = [(path, before) for before in befores for form in FORMS
             if (path := before.with_name(before.name.removesuffix(".before.hlo") + form)).exists()]
    written = [path for before in befores for path in (before, before.with_name(before.name.replace(".before.hlo", FORMS[0])))
               if path.exists()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        reasons = [*zip(pairs, pool.map(lambda pair: failure(options.bin, *pair), pairs)),
                   *zip(written, pool.map(lambda path: writing_failure(options.bin, path), written))]
    for case, reason in reasons:
        if reason is not None:
            failed += 1
            print(f"FAILED {case}\n{reason}\n")
    print(f"{len(reasons) - failed} passed, {failed} failed")
    return 1 if failed or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())
