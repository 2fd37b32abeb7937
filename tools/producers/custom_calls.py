#!/usr/bin/env python3
"""Lists the custom-call targets that wheels of jaxlib, its GPU plugins and torch_xla contain:
tools/producers/custom_calls.py [--markdown]. Downloads each wheel from PyPI, searches its libraries and Python files
for names of the known families, and deletes it. --markdown prints docs/custom_calls.md. Not part of ./test."""
import argparse
import collections
import pathlib
import re
import subprocess
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Column, year, version of Python, package.
WHEELS = [
    ("jaxlib", 2023, "3.10", "jaxlib==0.4.13"), ("jaxlib", 2024, "3.10", "jaxlib==0.4.30"),
    ("jaxlib", 2024, "3.10", "jaxlib==0.4.38"), ("jaxlib", 2025, "3.10", "jaxlib==0.6.2"),
    ("jaxlib", 2025, "3.12", "jaxlib==0.8.3"), ("jaxlib", 2026, "3.12", "jaxlib"),
    ("jaxlib", 2024, "3.10", "jax-cuda12-plugin==0.4.30"), ("jaxlib", 2025, "3.10", "jax-cuda12-plugin==0.6.2"),
    ("jaxlib", 2026, "3.12", "jax-cuda12-plugin"), ("jaxlib", 2025, "3.12", "jax-rocm60-plugin"),
    ("torch_xla", 2023, "3.10", "torch_xla==2.1.0"), ("torch_xla", 2024, "3.10", "torch_xla==2.5.0"),
    ("torch_xla", 2025, "3.12", "torch_xla==2.9.0"),
]
XLA = ("Sharding|SPMDFullToShardShape|SPMDShardToFullShape|LayoutConstraint|AllocateBuffer|CreateBuffer|Pin|Unpin|TopK|"
       "PartialReduce|ApproxTopK|PadToStatic|SliceToDynamic|MoveToHost|MoveToDevice|annotate_device_placement|X64Combine|"
       "X64SplitHigh|X64SplitLow|InspectSharding|ShardBarrierFrom|ShardBarrierTo|SetBound|Qr|LuDecomposition|Eigh|"
       r"ProductOfElementaryHouseholderReflectors|GlobalToLocalShape|LocalToGlobalShape|mhlo\.topk|GetRngSeed")
FAMILIES = re.compile("|".join([
    r"(blas|lapack)_[cdsz][a-z0-9]+(_ffi)?", r"(dynamic_)?ducc_fft", r"(cu|hip)(solver|blas|sparse|hybrid)_[a-z0-9_]+",
    r"(cu|hip)_(cholesky_update|lu_pivots_to_permutation|threefry2x32|tridiagonal_solve_perturbed)(_ffi)?",
    r"cudnn_rnn(_bwd)?(_ffi)?", r"triton_kernel_call(_ffi)?", r"mosaic_gpu(_v2)?", "tpu_custom_call",
    r"xla_(ffi_|buffer_)?(partitioned_)?python_(cpu|gpu)_callback(_cmd_buffer)?", "tridiagonal_solve_perturbed_ffi",
    r"__(cublas|cudnn|cusolver|cub|gpu|onednn|op)\$[A-Za-z0-9$_]+", r"xla\.sdy\.(FuncResultSharding|(GlobalToLocal|LocalToGlobal)Shape)",
    XLA]))
# Parts of other names: versions, helper functions, and strings that the compiler merged.
OTHERS = re.compile(r"version$|workspace|descriptor|^build_|_thunk$|\$.*__|\$(H\d|I\d)|wa(E)?$|(?<!__c)udnn\$|ward\$|Backrd$|Forwinvokecc|grouudnn|DeH3")


def names_in(package, python, folder):
    subprocess.run(["python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder,
                    "--python-version", python, "--implementation", "cp", package,
                    *(f"--platform={tag}_x86_64" for tag in ("manylinux2014", "manylinux_2_27", "manylinux_2_28", "manylinux_2_31"))],
                   check=True)
    names = set()
    for wheel in pathlib.Path(folder).glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if not re.search(r"\.(so[.\d]*|py)$", member):
                    continue
                for found in re.findall(rb"[\x20-\x7e]{4,}", archive.read(member)):
                    names |= {part for part in re.findall(r"[\w.$]+", found.decode()) if FAMILIES.fullmatch(part)}
        wheel.unlink()
    return {re.sub(r"^(lapack|blas)_[cdsz]", r"\1_?", name) for name in names if not OTHERS.search(name)}


def rows():
    """(pattern, function, cost, traits) of each row of custom_calls.def, plain names first."""
    text = (ROOT / "src/core/ops/custom_calls.def").read_text()
    found = re.findall(r'^CALL\("([^"]+)",\s*(\w+),\s*(\w+),\s*\w+,\s*([\w| ]+)\)', text, re.M)
    return sorted(found, key=lambda row: bool(re.search(r"[*?]", row[0])))


def treatment(target):
    """What shoal does with a target, in words."""
    for pattern, function, cost, traits in rows():
        if not re.fullmatch(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), target):
            continue
        if function != "None":
            return "runs"
        if "kHostCallback" in traits:
            return "a callback: refused when it is reached"
        return "not run; cost known" if cost not in ("Unknown", "Estimate") else "not run"
    return "unknown"


HEADER = """# Custom calls

This table lists the custom-call targets in the wheels of jaxlib (with its plugins for CUDA and ROCm) and of torch_xla,
one version per half year since 2023, and what shoal does with them. `?` stands for c, d, s or z: the element type.
`--stub_custom_calls` of [run](run.md) generates results for calls that shoal does not run.
`tools/producers/custom_calls.py` prints this page, and a test checks its last column.

| target | jaxlib | torch_xla | shoal |
| --- | --- | --- | --- |
"""


def markdown(years):
    text = HEADER
    for target in sorted(years, key=str.lower):
        spans = [f"{min(all_years)} to {max(all_years)}" if len(set(all_years)) > 1 else f"{all_years[0]}" if all_years else ""
                 for all_years in (years[target].get("jaxlib", []), years[target].get("torch_xla", []))]
        text += f"| `{target}` | {spans[0]} | {spans[1]} | {treatment(target)} |\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", action="store_true")
    flags = parser.parse_args()
    years = collections.defaultdict(lambda: collections.defaultdict(list))
    for column, year, python, package in WHEELS:
        with tempfile.TemporaryDirectory() as folder:
            for name in names_in(package, python, folder):
                years[name][column].append(year)
    if flags.markdown:
        print(markdown(years), end="")
    else:
        for name in sorted(years):
            print(name, dict(years[name]), treatment(name))


if __name__ == "__main__":
    main()
