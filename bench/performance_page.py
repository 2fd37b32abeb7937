"""Writes bench/performance.md from the measurements of run_vs_xla.py."""
import json
import math
import os
import pathlib
import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The text before and after the table of the page, and the limiting factors of modules that are slower than XLA's.
PAGE = ROOT / "bench" / "performance_notes.json"


def geometric_mean(numbers):
    return math.exp(statistics.fmean(math.log(x) for x in numbers)) if numbers else float("nan")


def machine():
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")]
    flags = next((line for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("flags")), "")
    vectors = "AVX-512" if "avx512f" in flags else "AVX2, no AVX-512" if "avx2" in flags else "no AVX2"
    return f"{len(os.sched_getaffinity(0))} × {cpu[0]} ({vectors})" if cpu else "an unknown machine"


def markdown(measured):
    """The page of one or several runs of run_vs_xla.py. If a module is in several runs, the last one counts."""
    rows = {row["name"]: row for each in measured for row in each["rows"]}
    said = json.loads(PAGE.read_text(encoding="utf-8"))
    ratios = [row["xla"] / row["shoal"] for row in rows.values()]
    compiles = [row["xla_compile"] / row["shoal_compile"] for row in rows.values() if row["shoal_compile"] > 0]
    best = {name: row.get("xla_best", row["xla"]) / row.get("shoal_best", row["shoal"]) for name, row in rows.items()}
    runs = sorted({row.get("runs", 0) for row in rows.values()})
    lines = ["# Performance", "", *said["before"], "",
             f"{measured[0]['machine']}; shoal and JAX {measured[0]['jax']} on all cores; medians of "
             f"{' to '.join(str(n) for n in dict.fromkeys([runs[0], runs[-1]]))} runs of each, alternating; load average "
             f"before and after (from other processes): {', '.join(each['load'] for each in measured)}.", "",
             f"{len(rows)} modules: geometric mean {geometric_mean(ratios):.2f} times XLA's speed, "
             f"{sum(r < 1 for r in ratios)} below 1.0, {sum(r < 0.6 for r in ratios)} below 0.6; compilation "
             f"{geometric_mean(compiles):.1f} times as fast. By the best run of each module, on which other processes "
             "have the least influence: "
             f"{geometric_mean(list(best.values())):.2f} times, {sum(r < 1 for r in best.values())} below 1.0, "
             f"{sum(r < 0.6 for r in best.values())} below 0.6.", "",
             "| module | XLA ms | ± % | shoal ms | ± % | speed | best-run speed | compile ms | XLA compile ms | limiting factor |",
             "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |"]
    for row in sorted(rows.values(), key=lambda row: best[row["name"]]):
        ratio = row["xla"] / row["shoal"]
        why = said["limits"].get(row["name"], "not investigated") if best[row["name"]] < 1 else ""
        lines.append(f"| {row['name']} | {row['xla'] * 1e3:.3g} | {row.get('xla_spread', 0) * 50:.0f} | {row['shoal'] * 1e3:.3g} "
                     f"| {row.get('shoal_spread', 0) * 50:.0f} | {ratio:.2f} | {best[row['name']]:.2f} | {row['shoal_compile'] * 1e3:.0f} "
                     f"| {row['xla_compile'] * 1e3:.0f} | {why} |")
    return "\n".join([*lines, "", *said["after"], ""])


def write_page(path, measured):
    path.write_text(markdown(measured), encoding="utf-8")
