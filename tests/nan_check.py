#!/usr/bin/env python3
"""`run --check_nans` names the same instruction, device, iteration and element with the compiled engine as with the
interpreter.

    tests/nan_check.py [SHARED] [--bin build/shoal] [--all]

Runs every module of tests/interp, tests/engine and examples with both engines, as it is and with some of its elementwise
ops replaced by logarithms, which make NaN of negative numbers. With SHARED, also the seeds, the JAX goldens and a sample
of the corpus (--all: the whole corpus).
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNARY = re.compile(r"(f32\[[\d,]*\](?:\{[\d,]*\})? )(tanh|exponential|negate|abs|sine|cosine|sqrt|floor)(\()")
LIMIT = 300_000  # instructions that a run may execute
STRIDE = 12      # of the sample


PLACE = re.compile(r"on device (\d+): (\d+) of (\d+) elements(?:, the first at (\{[\d,]*\}))?")


def same(a, b, rounds):
    """True if both engines name the same instruction in the same iteration, and the same element. Devices run
    concurrently, and rounding may decide which elements are NaN; then only the instruction must be the same. `rounds`: the
    module is a large program, in which rounding can also exchange elements."""
    if a == b:
        return True
    if a[0] != b[0] or len(a[1]) != 1 or len(b[1]) != 1:
        return False
    x, y = (PLACE.search(each[1][0]) for each in (a, b))
    return bool(x and y) and PLACE.sub("", a[1][0]) == PLACE.sub("", b[1][0]) and (rounds or x.group(1, 2) != y.group(1, 2))


def report(binary, path, engine):
    """The exit status and the message about the first NaN or infinity; None if the run takes too long."""
    command = [binary, "run", str(path), "--check_nans", f"--engine={engine}", f"--max_instructions={LIMIT}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:
        return None
    found = [line for line in done.stderr.splitlines() if " produced " in line]
    return (done.returncode if found or done.returncode == 0 else 1), found


def with_logarithms(path, folder):
    """The module with all, or only the last, of its elementwise ops replaced; nothing if there are none."""
    text = path.read_text(encoding="utf-8", errors="replace")
    found = list(UNARY.finditer(text))
    changed = [UNARY.sub(r"\1log\3", text)] if found else []
    if len(found) > 1:
        start, end = found[-1].span(2)
        changed.append(text[:start] + "log" + text[end:])
    for i, each in enumerate(changed):
        out = folder / f"{path.stem}.{i}{path.suffix}"
        out.write_text(each, encoding="utf-8")
        yield out


def modules(shared, everything):
    for folder in ("tests/interp", "tests/engine", "examples"):
        yield from sorted((ROOT / folder).rglob("*.hlo"))
    if shared is None:
        return
    yield from sorted((shared / "seeds").glob("*"))
    goldens = sorted((shared / "golden/jax").glob("*.after.hlo")) + sorted((shared / "golden/jax").glob("*.before.hlo"))
    corpus = sorted((shared / "corpus/xla").glob("*.hlo"))
    for path in goldens + corpus[:: 1 if everything else STRIDE]:
        if path.stat().st_size <= 100_000:
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", nargs="?", type=pathlib.Path)
    parser.add_argument("--bin", default="build/shoal")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    passed = failed = named = 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        def compare(path):
            variants = [path, *with_logarithms(path, pathlib.Path(tempfile.mkdtemp(dir=name)))]
            rounds = ROOT not in path.resolve().parents
            return [(each, rounds, report(options.bin, each, "interp"), report(options.bin, each, "jit")) for each in variants]
        for results in pool.map(compare, modules(options.shared, options.all)):
            for path, rounds, interpreted, compiled in results:
                if interpreted is None or compiled is None:
                    continue
                is_same = same(interpreted, compiled, rounds)
                passed, failed, named = passed + is_same, failed + (not is_same), named + bool(interpreted[1])
                if not is_same:
                    print(f"FAILED {path}:\n  interpreter: {interpreted}\n  compiled:    {compiled}")
    print(f"{named} modules with NaN or infinities")
    if named < 20:
        failed += 1
        print("FAILED: too few modules with NaN")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
