"""Starts shoal as the processes of an MPI job on this machine, and tells what is ours in what comes out."""
import os
import re
import shutil
import subprocess

# More processes than cores, by whoever runs the tests, over what is sure to be there.
LAUNCH = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader,tcp"]


def available(binary):
    """Why there can be no job; empty if there can."""
    if shutil.which("mpirun") is None:
        return "no mpirun"
    if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(binary)), "libshoal_mpi.so")):
        return "this shoal was built without MPI"
    return ""


def command(ranks, words):
    return [*LAUNCH, "-n", str(ranks), *words]


def environment():
    """Several processes on few cores: one thread each for what is not ours, and nothing left from another job."""
    kept = {name: value for name, value in os.environ.items() if not re.match("OMPI_|PMIX_|PMI_", name)}
    return {**kept, "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def ours(text):
    """Without what mpirun says about a job that failed."""
    text = re.sub(r"^-{50,}\n.*?^-{50,}\n", "", text, flags=re.M | re.S)
    text = re.sub(r"^(mpirun|\[[^\]]*\]|Primary job).*\n", "", text, flags=re.M)
    return text.strip("\n")


def run(ranks, words, timeout=60, cwd=None):
    return subprocess.run(command(ranks, words), capture_output=True, text=True, timeout=timeout, check=False, cwd=cwd,
                          env=environment())
