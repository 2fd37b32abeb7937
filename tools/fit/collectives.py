#!/usr/bin/env python3
"""Makes machines/fitted/collectives.yaml from measured collectives.

usage: collectives.py collective.csv > machines/fitted/collectives.yaml

The table has columns dev, op, dtype, ngroups, group_size, shape_bytes, throughput_Bps, pairs. Of each device, op and
group size one curve of microseconds over bytes is kept: the geometric mean over types, numbers of groups and lists of
pairs. Bytes are those of the result; of reduce-scatter and collective-permute those of the operand. GB300 (sm_103) is
within 3 % of GB200 and left out. Group size 0 is a permute's. Outliers go (a running median of three) and a larger
message takes no less time than a smaller one (pool adjacent violators, on logarithms).
"""
import collections
import csv
import math
import sys


def smooth(logs):
    """Without single outliers, and never falling."""
    middle = [sorted(logs[max(0, i - 1):i + 2])[1] for i in range(1, len(logs) - 1)]
    kept = [min(logs[:2])] + middle + logs[-1:] if len(logs) > 2 else logs
    pools = []  # [sum, count]
    for value in kept:
        pools.append([value, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            last = pools.pop()
            pools[-1] = [pools[-1][0] + last[0], pools[-1][1] + last[1]]
    return [total / count for total, count in pools for _ in range(count)]


def read(path):
    """Measured microseconds by (device, op, group size) and bytes: a list of all rows."""
    points = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path, encoding="utf-8") as table:
        for row in csv.DictReader(table):
            if row["dev"] == "sm_103":
                continue
            if float(row["throughput_Bps"]) <= 0:
                continue
            group = 0 if row["group_size"] == "?" else int(row["group_size"])
            size = int(row["shape_bytes"]) * (group if row["op"] == "reduce-scatter" else 1)
            points[row["dev"], row["op"], group][size].append(size / float(row["throughput_Bps"]) * 1e6)
    return points


def curve_of(rows):
    """The curve through the points of one device, op and group size: bytes to microseconds."""
    sizes = sorted(rows)
    logs = smooth([sum(map(math.log, rows[size])) / len(rows[size]) for size in sizes])
    return {size: math.exp(log) for size, log in zip(sizes, logs)}


def main(path):
    points = read(path)
    print("# Measured collectives: microseconds over bytes, by device, op and group size (0: permutes).")
    print("# Made by tools/fit/collectives.py, which says what was left out; the measurements are XLA's own tables.")
    device = op = None
    for (a, b, group), rows in sorted(points.items()):
        if a != device:
            print(f"{a}:")
        if (a, b) != (device, op):
            print(f"  {b}:")
        device, op = a, b
        pairs = [f"{size}: {us:.4g}" for size, us in curve_of(rows).items()]
        print(f"    {group}: {{{', '.join(pairs)}}}")


if __name__ == "__main__":
    main(sys.argv[1])
