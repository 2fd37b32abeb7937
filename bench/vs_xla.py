#!/usr/bin/env python3
"""Compares the speed of XLA's parser and shoal's on the same HLO texts, alternating between the two.

    bench/vs_xla.py [FILE…]     default: every file over 1 MB in ../shared/corpus/xla

XLA's parser comes from jaxlib (pip install jaxlib). build/bench/parse_bench measures shoal's:

    cmake -B build -DSHOAL_BENCH=ON && ninja -C build parse_bench

`parse_bench FILE… --json [--repeat=N]` parses the text of each file N times, with the file already in memory, and
prints one line per file
    {"file": "m.hlo", "bytes": 4096548, "seconds": 0.021, "peak_bytes": 24000000}
where seconds is the best of the N parses, without the time to destroy the module, and peak_bytes the maximum memory of
a parse in addition to the text.

Every round measures both parsers, so that both see the same state of the machine; the result is the best round.
Exit status 1 if --at-least is given and a ratio is lower.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LARGE = 1_000_000


def xla_parser():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # printing its warnings would take time
    try:
        from jaxlib import _hlo
    except ImportError:
        sys.exit("vs_xla.py: XLA's parser is in jaxlib, which this Python does not have: pip install jaxlib")
    return _hlo.hlo_module_from_text


def time_xla(parse, text, repeat):
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        module = parse(text)
        best = min(best, time.perf_counter() - start)
        del module
    return best


def time_shoal(binary, path, repeat):
    command = [binary, path, "--json", f"--repeat={repeat}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"vs_xla.py: parse_bench failed on {path}:\n{done.stderr}")
    return json.loads(done.stdout)


def measure(parse, binary, path, rounds, repeat):
    text = path.read_text(encoding="utf-8")
    row = {"file": path.name, "bytes": path.stat().st_size, "xla": float("inf"), "shoal": float("inf"), "peak": 0}
    for _ in range(rounds):
        row["xla"] = min(row["xla"], time_xla(parse, text, repeat))
        ours = time_shoal(binary, path, repeat)
        row["shoal"] = min(row["shoal"], ours["seconds"])
        row["peak"] = max(row["peak"], ours["peak_bytes"])
    row["ratio"] = row["xla"] / row["shoal"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bench/parse_bench")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each parser (default 3)")
    parser.add_argument("--repeat", type=int, default=3, help="parses per round (default 3)")
    parser.add_argument("--at-least", type=float, default=0, metavar="RATIO", help="fail if a ratio is lower")
    options = parser.parse_args()
    corpus = ROOT.parent / "shared/corpus/xla"
    files = options.files or sorted(path for path in corpus.glob("*.hlo") if path.stat().st_size > LARGE)
    if not files:
        sys.exit("vs_xla.py: no files given, and there is no ../shared/corpus/xla")
    if not options.bin.exists():
        sys.exit(f"vs_xla.py: {options.bin} is missing: cmake -B build -DSHOAL_BENCH=ON && ninja -C build parse_bench")

    parse = xla_parser()
    print(f"{'file':48}{'MB':>7}{'XLA MB/s':>10}{'shoal MB/s':>12}{'ratio':>7}{'bytes/byte':>12}")
    rows = []
    for path in files:
        row = measure(parse, options.bin, path, options.rounds, options.repeat)
        rows.append(row)
        size = row["bytes"] / 1e6
        print(f"{row['file'][-47:]:48}{size:7.2f}{size / row['xla']:10.1f}{size / row['shoal']:12.1f}"
              f"{row['ratio']:7.1f}{row['peak'] / row['bytes']:12.2f}", flush=True)
    lowest = min(rows, key=lambda row: row["ratio"])
    slowest = min(row["bytes"] / row["shoal"] for row in rows) / 1e6
    most = max(row["peak"] / row["bytes"] for row in rows)
    print(f"lowest ratio {lowest['ratio']:.1f} ({lowest['file']}), lowest speed {slowest:.0f} MB/s, "
          f"most memory {most:.2f} bytes per byte")
    return 1 if lowest["ratio"] < options.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
