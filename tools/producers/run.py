#!/usr/bin/env python3
"""Holds shoal against other producers of HLO: installs versions of JAX, TensorFlow and PyTorch/XLA from PyPI, lets each
compile programs in its users' style, and checks for every module that

  text      the text and the protobuf have the same canonical print (the text may lack metadata and print fewer digits)
  values    both forms compute the same: shoal compare of the text and the protobuf
  runs      shoal runs the module and reproduces the producer's outputs (JAX and TensorFlow)
  compares  shoal compare finds the module equal before and after optimization

    tools/producers/run.py [--bin build/shoal] [--work FOLDER] [--only NAME…] [--python VERSION=PATH…]

The modules are written to FOLDER/modules/NAME/PROGRAMS; delete a folder to write it anew. Needs NumPy, Python
interpreters of the versions in PRODUCERS, several GB of disk and PyPI. Not part of ./test. Modules whose dump elides the
values of constants are not run.
"""
import argparse
import contextlib
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
JAX = {"single": ["jax_programs.py"], "sharded": ["jax_sharded.py"]}
TENSORFLOW = {"single": ["tensorflow_programs.py"], "strategies": ["tensorflow_strategies.py"]}
TORCH = {"train": ["torch_programs.py", "train"], "spmd4": ["torch_programs.py", "spmd"], "spmd8": ["torch_programs.py", "spmd"],
         "replicas": ["torch_programs.py", "replicas"]}
DEVICES = {"sharded": 8, "spmd4": 4, "spmd8": 8, "replicas": 4}
# Name, version of Python, packages, programs: scripts and their arguments.
PRODUCERS = [
    ("jax-0.4.13", "3.10", ["jax==0.4.13", "jaxlib==0.4.13", "numpy<1.25", "scipy<1.11"], JAX),
    ("jax-0.4.30", "3.10", ["jax==0.4.30", "jaxlib==0.4.30", "numpy<2", "scipy<1.13"], JAX),
    ("jax-0.4.36", "3.10", ["jax==0.4.36", "jaxlib==0.4.36"], JAX),
    ("jax-0.6.2", "3.10", ["jax==0.6.2", "jaxlib==0.6.2"], JAX),
    ("jax-0.8.3", "3.12", ["jax==0.8.3", "jaxlib==0.8.3"], JAX),
    ("jax-newest", "3.12", ["jax"], JAX),
    ("tensorflow-2.21", "3.12", ["tensorflow-cpu==2.21.0"], TENSORFLOW),
    ("torch_xla-2.5", "3.10", ["torch==2.5.0", "torch_xla==2.5.0", "numpy<2"], TORCH),
    ("torch_xla-2.9", "3.12", ["torch==2.9.0", "torch_xla==2.9.0", "numpy"], TORCH),
]


def environment(work, name, python, packages):
    """The Python of a virtual environment with the packages; creates it if it does not exist."""
    venv = work / "venvs" / name
    if not (venv / "bin" / "python").exists():
        subprocess.run([python, "-m", "venv", str(venv)], check=True)
        subprocess.run([venv / "bin" / "pip", "install", "--quiet", *packages], check=True)
    return venv / "bin" / "python"


def produce(python, programs, arguments, folder):
    folder.mkdir(parents=True, exist_ok=True)
    devices = DEVICES.get(programs, 1)
    env = dict(os.environ, PYTHONPATH=str(HERE), JAX_PLATFORMS="cpu", CPU_NUM_DEVICES=str(devices), PJRT_DEVICE="CPU")
    env["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    if arguments[0] in ("torch_programs.py", "tensorflow_strategies.py"):
        env["XLA_FLAGS"] += f" --xla_dump_to={folder} --xla_dump_hlo_as_text --xla_dump_hlo_as_proto --xla_dump_large_constants"
        env |= {"XLA_SAVE_TENSORS_FILE": str(folder / "tensors.txt"), "XLA_SAVE_TENSORS_FMT": "hlo", "XLA_IR_DEBUG": "1", "XLA_HLO_DEBUG": "1"}
    with open(folder / "log.txt", "w") as log:
        # The replicas of XLA:CPU deadlock on machines with few cores; their modules have been written by then.
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([python, HERE / arguments[0], folder, *arguments[1:]], stdout=log, stderr=log, env=env, check=False, timeout=600)


def pairs(folder):
    """The text and protobuf of each module: (name, stage, text, protobuf)."""
    for text in sorted(folder.iterdir()):
        if text.name.endswith((".before.hlo", ".after.hlo")):
            name, stage, _ = text.name.rsplit(".", 2)
            yield name, stage, text, text.with_name(text.name + ".pb")
        elif found := re.fullmatch(r"(module_\d+\..*)\.(before|cpu_after)_optimizations\.txt", text.name):
            proto = text.with_name(text.name[:-4] + ".hlo.pb")
            yield found[1], found[2].removeprefix("cpu_"), text, proto


def canonical(text):
    """Without the header's line, and without the trailing digits of numbers, which a text may lack."""
    text = re.sub(r"^HloModule.*", "", text)
    text = re.sub(r", backend_config=\{.*\}", "", text)  # keys in any order; some texts omit it
    text = re.sub(r"-?\d+\.\d+(e[-+]?\d+)?", lambda number: f"{float(number[0]):.4g}", text)
    return sorted(text.split())


class Checker:
    def __init__(self, shoal):
        self.shoal = shoal

    def call(self, *arguments):
        result = subprocess.run([self.shoal, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        return result.returncode, result.stdout, result.stderr

    def text(self, text, proto):
        a, b = (self.call("print", "--format=short", file) for file in (text, proto))
        if a[0] or b[0]:
            return (a[2] or b[2]).splitlines()[0]
        if "constant({...})" in a[1] + b[1]:
            return ""  # a dump without values: nothing to compare
        return "" if canonical(a[1]) == canonical(b[1]) else "text and protobuf differ"

    def runs(self, module, inputs, outputs, work):
        import numpy
        target = work / (module.name + ".out")
        status = self.call("run", module, f"--inputs={inputs}", f"--outputs={target}")
        if status[0]:
            return status[2].splitlines()[0]
        rtol = 2e-2 if b"bf16" in module.read_bytes() or b"bfloat16" in module.name.encode() else 2e-3
        with numpy.load(outputs) as expected:
            for k, name in enumerate(expected.files):
                actual = numpy.load(target / "d0" / f"{k}.npy")
                want = expected[name]
                if want.dtype.kind in "fc" and not numpy.allclose(actual, want, rtol=rtol, atol=rtol / 10, equal_nan=True):
                    return f"output {k} differs by {numpy.abs(actual - want).max():.3g}"
                if want.dtype.kind not in "fc" and not numpy.array_equal(actual.astype(want.dtype), want):
                    return f"output {k} differs"
        return ""

    def compares(self, before, after):
        status, out, err = self.call("compare", before, after, "--max_seconds=60")
        return "" if status == 0 else out.splitlines()[-1] if out else (err.splitlines() or ["failed"])[0]

    def same_values(self, text, proto):
        """None if the text cannot be run."""
        failure = self.compares(text, proto)
        return None if "if the dump omits configurations" in failure else failure


def is_elided(module):
    """True for a text without the values of its constants: its results cannot be judged."""
    return module.suffix != ".pb" and "constant({...})" in module.read_text()


KINDS = ("text", "values", "runs", "compares")


def check(producer, folder, checker):
    rows, failures = {kind: [0, 0] for kind in KINDS}, []

    def record(kind, name, failure):
        rows[kind][1] += 1
        rows[kind][0] += not failure
        if failure:
            failures.append(f"{producer} {name}: {kind}: {failure}")

    modules = {}
    for name, stage, text, proto in pairs(folder):
        record("text", f"{name} {stage}", checker.text(text, proto))
        if not any(map(is_elided, (text, proto))) and stage == "before":
            if (failure := checker.same_values(text, proto)) is not None:
                record("values", f"{name} {stage}", failure)
        # TensorFlow's protobufs of optimized modules have no constants; their texts do.
        modules.setdefault(name, {})[stage] = text if producer.startswith("tensorflow") and stage == "after" else proto
    for name, stages in modules.items():
        inputs, outputs = folder / f"{name}.inputs.npz", folder / f"{name}.outputs.npz"
        for stage, module in stages.items():
            if inputs.exists() and not is_elided(module):
                record("runs", f"{name} {stage}", checker.runs(module, inputs, outputs, folder))
        if {"before", "after"} <= stages.keys() and not any(map(is_elided, stages.values())):
            record("compares", name, checker.compares(stages["before"], stages["after"]))
    return rows, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/shoal")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/producers"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--python", nargs="*", default=[], help="VERSION=PATH of an interpreter, such as 3.10=/usr/bin/python3.10")
    flags = parser.parse_args()
    pythons = dict(entry.split("=", 1) for entry in flags.python)
    checker, failures = Checker(str(pathlib.Path(flags.bin).resolve())), []
    print(f"{'producer':28}" + "".join(f"{kind:>10}" for kind in KINDS))
    for name, version, packages, all_programs in PRODUCERS:
        if flags.only and name not in flags.only:
            continue
        for programs, arguments in all_programs.items():
            folder = (flags.work / "modules" / name / programs).resolve()
            if not folder.exists():
                python = environment(flags.work.resolve(), name, pythons.get(version, f"python{version}"), packages)
                produce(python, programs, arguments, folder)
            rows, failed = check(f"{name} {programs}", folder, checker)
            failures += failed
            print(f"{name + ' ' + programs:28}" + "".join(f"{f'{good}/{all}':>10}" for good, all in rows.values()), flush=True)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
