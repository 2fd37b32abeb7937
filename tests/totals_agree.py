#!/usr/bin/env python3
"""The metrics of one module add up, and are equal in all commands.

    tests/totals_agree.py [--bin build/shoal] [--shared ../shared] [--max-bytes N]

On every module of examples/ and, if present, the goldens: the rows of `cost`, for every grouping, add up to its total;
the totals of `show` have the same flops and memory; no metric is negative; the payloads of `show` and `comm` agree.
"""
import argparse
import json
import pathlib
import subprocess
import sys


def report(binary, *arguments):
    done = subprocess.run([binary, *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def near(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1)


def differences(binary, path):
    cost = report(binary, "cost", path)
    if cost is None:
        return None
    total = cost["total"]
    metrics = ("flops", "transcendentals", "bytes_read", "bytes_written")
    found = [f"total {name} is {total[name]}" for name in metrics if total[name] < 0]
    for by in ("op", "opcode", "computation", "line"):
        rows = report(binary, "cost", path, f"--by={by}")["rows"]
        names = [row["name"] for row in rows]
        if len(names) != len(set(names)):
            found.append(f"cost --by={by} has a duplicate name")
        for name in metrics:
            if not near(sum(row[name] for row in rows), total[name]):
                found.append(f"rows by {by} have {sum(row[name] for row in rows)} {name}, the total {total[name]}")
    show = report(binary, "show", path)["totals"]
    shown = {name: sum(kind[name] for kind in show) for name in ("flops", "memory_bytes", "payload_bytes")}
    for name, expected in (("flops", total["flops"]), ("memory_bytes", total["bytes_read"] + total["bytes_written"])):
        if not near(shown[name], expected):
            found.append(f"show has {shown[name]} {name}, cost {expected}")
    comm = report(binary, "comm", path)
    payload = sum(row["times"] * row["payload_bytes"] for row in comm["collectives"])
    if not near(shown["payload_bytes"], payload):
        found.append(f"show has {shown['payload_bytes']} of payload, comm {payload}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/shoal")
    parser.add_argument("--shared", type=pathlib.Path, default=pathlib.Path("../shared"))
    parser.add_argument("--max-bytes", type=int, default=400_000)
    options = parser.parse_args()
    paths = sorted(pathlib.Path("examples").glob("*.hlo"))
    for folder in ("golden/gpu8", "golden/h200", "golden/gpu_nodes", "golden/jax", "seeds"):
        paths += sorted(path for path in (options.shared / folder).glob("*") if path.suffix in (".hlo", ".txt"))
    read = failed = 0
    for path in paths:
        if path.stat().st_size > options.max_bytes:
            continue
        found = differences(options.bin, path)
        read += found is not None
        failed += bool(found)
        for line in found or []:
            print(f"{path}: {line}")
    print(f"{read - failed} passed, {failed} failed")
    return 1 if failed or read < 6 else 0


if __name__ == "__main__":
    sys.exit(main())
