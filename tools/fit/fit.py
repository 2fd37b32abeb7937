#!/usr/bin/env python3
"""Fits the constants of the kernel time formulas, and prints their accuracy on held-out data.

usage: fit.py [--write] [--list] [--splits N] OPS_DIR MODULES_DIR
  OPS_DIR, MODULES_DIR  folders with *.hlo and timed.json: single kernels, whole modules, timed on one H200
  --splits N            number of splits into thirds; holds out each third in turn and prints the results of all splits
  --write               writes the constants to machines/fitted/kernels.yaml
  --list                also lists every kernel with its prediction

The formulas exist only in src/analyze/cost: build/tools/fit/shoal_kernel_times (ninja -C build shoal_kernel_times) evaluates them
for any constants. This script chooses the constants by least squares of log(predicted / measured), with a loss that is
robust to outliers and a weak prior at the start values of kernel_constants.def. It fits one family of kernels after the
other; the memory rates are fitted on the loop fusions and then fixed. Needs numpy and scipy.
"""
import argparse
import collections
import glob
import hashlib
import json
import os
import re
import subprocess
import sys

import numpy as np
from scipy.optimize import least_squares

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The constants that each family of kernels determines.
FAMILIES = collections.OrderedDict([
    ("loop fusion", "start first_wave cold read mix cache_rate dispatch issue window_step"),
    ("row reduction", "row_"), ("column reduction", "column_"), ("transpose", "transpose_"), ("Triton rows", "tile_"),
    ("Triton columns", "strip_"), ("library GEMM", "product_"), ("Triton GEMM", "triton_"), ("copy", "copy_"),
    ("driver copy", "memcpy_"), ("scatter", "scatter_"), ("attention", "attention_"),
    ("convolution", "convolution_"), ("radix sort", "radix_"), ("sort", "sort_"), ("top-k", "top_k_")])


class KernelFormulas:
    """The formulas, evaluated by a subprocess."""

    def __init__(self, files):
        command = [os.path.join(ROOT, "build/tools/fit/shoal_kernel_times"), "h200"] + files
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        head = json.loads(self.process.stdout.readline())
        self.constants, self.kernels = head["constants"], head["kernels"]
        self.names = [c["name"] for c in self.constants]

    def at(self, values, kernels=None):
        """Microseconds of the given kernels, or of all kernels."""
        kernels = range(len(self.kernels)) if kernels is None else kernels
        self.process.stdin.write(" ".join([f"{v:.8g}" for v in values] + [str(k) for k in kernels]) + "\n")
        self.process.stdin.flush()
        return np.array([float(v) for v in self.process.stdout.readline().split()])


def match(kernels, timed):
    """Microseconds of one run of each kernel, by op name. Kernels that were not timed separately are missing."""
    ops = dict(timed["ops"])
    # A recorded graph is timed as a whole. Its kernels have the names of their instructions, with other punctuation.
    inside = {name: ns for op in ops.values() for name, ns in op.get("kernels", {}).items()}
    times = {}
    for k in kernels:
        kernel = re.sub("[.-]", "_", k["op"])
        if k["op"] in ops:
            times[k["op"]] = ops.pop(k["op"])["ns"] / 1e3 / max(1, k["times"])
        elif kernel in inside:
            times[k["op"]] = inside[kernel] / 1e3 / max(1, k["times"])
    # Async copies are timed under an earlier name of the fusion, so match them by size: larger copies take longer.
    starts = sorted((k for k in kernels if k["op"] not in times and "-start" in k["op"]),
                    key=lambda k: k["times"] * (1e6 + k["read"] + k["written"]))
    rest = sorted((o for o in ops if "dynamic" in o), key=lambda o: ops[o]["ns"])
    if len(starts) == len(rest):
        for k, o in zip(starts, rest):
            times[k["op"]] = ops[o]["ns"] / 1e3 / max(1, k["times"])
    return times


def load(folders):
    modules = []
    for folder in folders:
        timed = json.load(open(os.path.join(folder, "timed.json")))
        for name in sorted(timed):
            path = os.path.join(folder, name + ".hlo")
            if os.path.exists(path):
                modules.append(dict(name=name, path=path, folder=folder, timed=timed[name],
                                    total=sum(o["ns"] for o in timed[name]["ops"].values()) / 1e3))
    return modules


def fit(formulas, rows, measured, start=None):
    x = np.log(np.array([c["start"] for c in formulas.constants])) if start is None else start.copy()
    prior = np.log(np.array([c["start"] for c in formulas.constants]))
    spread = np.array([c["spread"] for c in formulas.constants])
    for family, names in FAMILIES.items():
        chosen = names.split() if " " in names else [n for n in formulas.names if n.startswith(names)]
        ix = [formulas.names.index(n) for n in chosen]
        mine = [i for i in rows if formulas.kernels[i]["family"] == family]
        if not mine or not ix:
            continue
        t = np.array([measured[i] for i in mine])

        def residuals(v):
            y = x.copy()
            y[ix] = v
            p = formulas.at(np.exp(y), mine)
            return np.concatenate([np.log(np.maximum(p, 1e-6) / t), .15 * (v - prior[ix]) / spread[ix]])
        x[ix] = least_squares(residuals, x[ix], loss="soft_l1", f_scale=.1, diff_step=1e-2, max_nfev=40).x
    return x


def report_errors(title, predicted, measured):
    p, t = np.array(predicted), np.array(measured)
    if not len(p):
        return
    e = p / t - 1
    print("%-36s n=%3d  median %5.1f %%  p90 %5.1f %%  worst %4.0f %%  bias %+5.1f %%" % (
        title, len(p), 100 * np.median(abs(e)), 100 * np.percentile(abs(e), 90), 100 * abs(e).max(), 100 * np.median(e)))


def fold_of(name, split=0):
    """The third that a program belongs to, the same in every run; all kernels of a program are in the same third."""
    return int(hashlib.md5((str(split or "") + name).encode()).hexdigest(), 16) % 3


def write(names, values):
    path = os.path.join(ROOT, "machines/fitted/kernels.yaml")
    text = open(path).read()
    block = "constants:\n" + "".join(f"  {n}: {v:.4g}\n" for n, v in zip(names, values))
    text = re.sub(r"constants:.*?\n(?=\n|instructions|#)", lambda _: block, text, count=1, flags=re.S)
    open(path, "w").write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs=2, metavar="DIR")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    modules = load(options.folders)
    formulas = KernelFormulas([m["path"] for m in modules])
    by_path = collections.defaultdict(list)
    for i, k in enumerate(formulas.kernels):
        by_path[k["file"]].append(i)
    measured, module_of = {}, {}
    for m in modules:
        times = match([formulas.kernels[i] for i in by_path[m["path"]]], m["timed"])
        for i in by_path[m["path"]]:
            module_of[i] = m
            if times.get(formulas.kernels[i]["op"], 0) > 0:
                measured[i] = times[formulas.kernels[i]["op"]]
    all_rows = sorted(measured)
    x = fit(formulas, all_rows, measured)
    fitted = formulas.at(np.exp(x))
    total = lambda m, p: sum(p[i] * formulas.kernels[i]["times"] for i in by_path[m["path"]])

    def report(title, p):
        for k, folder in enumerate(options.folders):
            ms = [m for m in modules if m["folder"] == folder]
            report_errors(("programs, " if k == 0 else "modules, ") + title, [total(m, p) for m in ms], [m["total"] for m in ms])
        large = [i for i in all_rows if module_of[i]["folder"] == options.folders[1] and
                 measured[i] * formulas.kernels[i]["times"] > .01 * module_of[i]["total"]]
        report_errors("their ops above 1 %, " + title, [p[i] for i in large], [measured[i] for i in large])

    print("constants fitted on all data")
    for family in list(FAMILIES) + [None]:
        rows = [i for i in all_rows if family in (None, formulas.kernels[i]["family"])]
        report_errors("  " + (family or "all kernels"), [fitted[i] for i in rows], [measured[i] for i in rows])
    report("fitted on all data", fitted)
    for split in range(options.splits):
        held_out = np.zeros(len(formulas.kernels))
        for fold in range(3):
            train = [i for i in all_rows if fold_of(module_of[i]["name"], split) != fold]
            p = formulas.at(np.exp(fit(formulas, train, measured)))
            for i in range(len(formulas.kernels)):
                if fold_of(module_of[i]["name"], split) == fold:
                    held_out[i] = p[i]
        print(f"each third predicted by constants fitted on the other two, split {split + 1}")
        for family in (list(FAMILIES) if split == 0 else []) + [None]:
            rows = [i for i in all_rows if family in (None, formulas.kernels[i]["family"])]
            report_errors("  " + (family or "all kernels"), [held_out[i] for i in rows], [measured[i] for i in rows])
        report("held out", held_out)
    for m in modules:
        if m["folder"] == options.folders[1]:
            print("  %-30s %10.1f us  %+6.1f %%  held out %+6.1f %%" % (m["name"], m["total"], 100 * (total(m, fitted) / m["total"] - 1), 100 * (total(m, held_out) / m["total"] - 1)))
    if options.list:
        worst = sorted((m for m in modules), key=lambda m: -abs(np.log(total(m, held_out) / m["total"])))
        print("\nprograms, worst first")
        for m in worst[:80]:
            print("  %-44s %10.2f us  %+6.1f %%" % (m["name"], m["total"], 100 * (total(m, held_out) / m["total"] - 1)))
        print("\nkernels, worst first")
        for i in sorted(all_rows, key=lambda i: -abs(np.log(held_out[i] / measured[i])))[:150]:
            k = formulas.kernels[i]
            extra = {n: k[n] for n in ("product", "tile", "blocks", "rounds", "row_length", "rows", "window", "masked", "contiguous") if k.get(n)}
            print("  %-18s %-32s %-30s %9.2f us %+5.0f %%  hit %.1f miss %.1f wr %.1f MB instr %.3gM %s" % (
                k["family"], module_of[i]["name"][:32], k["op"][:30], measured[i], 100 * (held_out[i] / measured[i] - 1),
                k["hit"] / 1e6, k["miss"] / 1e6, k["written"] / 1e6, k["instructions"] / 1e6, extra))
    for n, v, c in zip(formulas.names, np.exp(x), formulas.constants):
        print("%-22s %10.4g   started at %g" % (n, v, c["start"]))
    if options.write:
        write(formulas.names, np.exp(x))


if __name__ == "__main__":
    sys.exit(main())
