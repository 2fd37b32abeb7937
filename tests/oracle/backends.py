"""The two implementations that are compared: XLA in a worker process that may crash, and shoal on files."""
import os
import pathlib
import pickle
import select
import shlex
import subprocess
import sys

import numpy as np

WORKER = pathlib.Path(__file__).with_name("xla_worker.py")


class Xla:
    """Runs jobs in one worker process at a time and starts another when it aborts or hangs."""

    def __init__(self, timeout=30):
        self._timeout, self._worker = timeout, None

    def execute(self, program, input_sets):
        """The results for each set of inputs, device -> leaf -> array; or an error message."""
        patience = self._timeout
        if self._worker is None:
            patience *= 10  # it imports JAX, which is slow on a busy machine
            command = [sys.executable, str(WORKER)]
            self._worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        job = dict(text=program.text, replicas=program.replicas, partitions=program.partitions, input_sets=input_sets)
        try:
            pickle.dump(job, self._worker.stdin)
            self._worker.stdin.flush()
            if not select.select([self._worker.stdout], [], [], patience)[0]:
                self.close()
                return f"no answer in {patience} s"
            return pickle.load(self._worker.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            self.close()
            return "aborted"

    def close(self):
        if self._worker:
            self._worker.kill()
            self._worker.wait()
            self._worker.stdin = self._worker.stdout = None
            self._worker = None


def save_arrays(folder, devices):
    """Writes folder/dD/K.npy for every device and leaf. Types that numpy lacks become bytes of their width."""
    for device, leaves in enumerate(devices):
        path = pathlib.Path(folder, f"d{device}")
        path.mkdir(parents=True, exist_ok=True)
        for leaf, array in enumerate(leaves):
            known = array.dtype.kind in "biufc"
            np.save(path / f"{leaf}.npy", array if known else array.view(np.dtype(f"V{array.dtype.itemsize}")))


def load_arrays(folder, types):
    """The inverse of save_arrays: `types` are the numpy types of the leaves of each device."""
    devices = []
    for device, leaves in enumerate(types):
        arrays = []
        for leaf, dtype in enumerate(leaves):
            array = np.load(pathlib.Path(folder, f"d{device}", f"{leaf}.npy"))
            arrays.append(array if array.dtype == dtype else array.view(dtype))
        devices.append(arrays)
    return devices


class Shoal:
    def __init__(self, binary, timeout=60, launcher=()):
        self._binary, self._timeout, self._launcher = binary, timeout, launcher

    def command(self, folder, program):
        """The command that computes folder/out from folder/module.hlo and folder/in."""
        return [*self._launcher, self._binary, "run", f"{folder}/module.hlo", f"--num_replicas={program.replicas}",
                f"--num_partitions={program.partitions}", f"--inputs={folder}/in", f"--outputs={folder}/out"]

    def execute(self, program, folder, types):
        """The results, device -> leaf -> array; or an error message."""
        os.makedirs(f"{folder}/in", exist_ok=True)
        pathlib.Path(folder, "module.hlo").write_text(program.text, encoding="utf-8")
        save_arrays(f"{folder}/in", program.inputs)
        try:
            command = self.command(folder, program)
            done = subprocess.run(command, capture_output=True, timeout=self._timeout, check=False)
        except subprocess.TimeoutExpired:
            return f"no answer in {self._timeout} s"
        if done.returncode != 0:
            message = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
            return f"exit status {done.returncode}: {message}"
        try:
            return load_arrays(f"{folder}/out", types)
        except (OSError, ValueError) as error:
            return f"results: {error}"


def rerun_text(shoal, folder, program):
    return shlex.join(shoal.command(folder, program))
