"""Starts shoal as the processes of an MPI job on this machine, and extracts shoal's part of the output."""
import os
import re
import shutil
import subprocess

# To use another MPI, set SHOAL_MPIRUN=mpirun.mpich and build libshoal_mpi.so with that MPI.
LAUNCHER = os.environ.get("SHOAL_MPIRUN", "mpirun")


def is_hydra():
    """True for Hydra, the launcher of MPICH and its derivatives."""
    if shutil.which(LAUNCHER) is None:
        return False
    version = subprocess.run([LAUNCHER, "--version"], capture_output=True, text=True, check=False).stdout
    return "HYDRA" in version


HYDRA = is_hydra()
# Allows more processes than cores, any user, and only transports that always exist.
LAUNCH = [LAUNCHER, "-disable-auto-cleanup"] if HYDRA else [LAUNCHER, "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader,tcp"]
RANK = "PMI_RANK" if HYDRA else "OMPI_COMM_WORLD_RANK"  # the environment variable with the rank


def available(binary):
    """The reason why no job can be started; empty if one can."""
    if shutil.which(LAUNCHER) is None:
        return f"no {LAUNCHER}"
    if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(binary)), "libshoal_mpi.so")):
        return "this shoal was built without MPI"
    return ""


def command(ranks, arguments):
    return [*LAUNCH, "-n", str(ranks), *arguments]


def environment():
    """The environment for several processes on few cores, without variables of another job."""
    kept = {name: value for name, value in os.environ.items() if not re.match("OMPI_|PMIX_|PMI_", name)}
    # Transports that read the memory of another process abort if that process has ended. MPICH's MPI_Finalize may hang
    # over UCX's tcp.
    return {**kept, "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "UCX_TLS": "self,posix" if HYDRA else "self,posix,tcp"}


def shoal_output(text):
    """The text without mpirun's messages about a failed job."""
    text = re.sub(r"^-{50,}\n.*?^-{50,}\n", "", text, flags=re.M | re.S)
    text = re.sub(r"^(mpirun|\[[^\]]*\]|Primary job).*\n", "", text, flags=re.M)
    text = re.sub(r"^=   (BAD|PID|EXIT|CLEANING|YOU).*\n|^={50,}\n|^YOUR APPLICATION.*\n|^(This typically|Please see).*\n", "",
                  text, flags=re.M)
    return text.strip("\n")


def run(ranks, arguments, timeout=60, cwd=None):
    return subprocess.run(command(ranks, arguments), capture_output=True, text=True, timeout=timeout, check=False,
                          cwd=cwd, env=environment())
