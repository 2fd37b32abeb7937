"""Starts shoal as the processes of an MPI job on this machine, and tells what is ours in what comes out."""
import os
import re
import shutil
import subprocess

# Another MPI's launcher: SHOAL_MPIRUN=mpirun.mpich, with a libshoal_mpi.so that was built with that MPI.
LAUNCHER = os.environ.get("SHOAL_MPIRUN", "mpirun")


def is_hydra():
    """MPICH's and its relatives'."""
    if shutil.which(LAUNCHER) is None:
        return False
    said = subprocess.run([LAUNCHER, "--version"], capture_output=True, text=True, check=False).stdout
    return "HYDRA" in said


HYDRA = is_hydra()
# More processes than cores, by whoever runs the tests, over what is sure to be there.
LAUNCH = [LAUNCHER, "-disable-auto-cleanup"] if HYDRA else [LAUNCHER, "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader,tcp"]
RANK = "PMI_RANK" if HYDRA else "OMPI_COMM_WORLD_RANK"  # the variable that says it


def available(binary):
    """Why there can be no job; empty if there can."""
    if shutil.which(LAUNCHER) is None:
        return f"no {LAUNCHER}"
    if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(binary)), "libshoal_mpi.so")):
        return "this shoal was built without MPI"
    return ""


def command(ranks, words):
    return [*LAUNCH, "-n", str(ranks), *words]


def environment():
    """Several processes on few cores: one thread each for what is not ours, and nothing left from another job."""
    kept = {name: value for name, value in os.environ.items() if not re.match("OMPI_|PMIX_|PMI_", name)}
    # What reads the memory of another process has no better idea than to abort when that is gone. MPICH's MPI_Finalize
    # does not always come to its end over UCX's tcp.
    return {**kept, "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "UCX_TLS": "self,posix" if HYDRA else "self,posix,tcp"}


def ours(text):
    """Without what mpirun says about a job that failed."""
    text = re.sub(r"^-{50,}\n.*?^-{50,}\n", "", text, flags=re.M | re.S)
    text = re.sub(r"^(mpirun|\[[^\]]*\]|Primary job).*\n", "", text, flags=re.M)
    text = re.sub(r"^=   (BAD|PID|EXIT|CLEANING|YOU).*\n|^={50,}\n|^YOUR APPLICATION.*\n|^(This typically|Please see).*\n", "",
                  text, flags=re.M)
    return text.strip("\n")


def run(ranks, words, timeout=60, cwd=None):
    return subprocess.run(command(ranks, words), capture_output=True, text=True, timeout=timeout, check=False, cwd=cwd,
                          env=environment())
