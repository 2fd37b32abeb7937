"""Simulates two hosts by network namespaces, with separate addresses and names and one link between them."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import faults
import mpi

NAMES = ["shoal-test-a", "shoal-test-b"]
ADDRESSES = ["10.213.77.1", "10.213.77.2"]


def call(arguments):
    subprocess.run(arguments, check=True, capture_output=True)


def available():
    """The reason why namespaces are not available; empty if they are."""
    if mpi.HYDRA:
        return "this launcher takes no agent instead of ssh"
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        return "no ip or no unshare"
    if subprocess.run(["unshare", "-n", "-u", "true"], capture_output=True, check=False).returncode != 0:
        return "namespaces are not allowed here"
    return ""


def pids():
    """The ids of the processes on both hosts."""
    return [int(pid) for name in NAMES
            for pid in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False).stdout.split()]


@contextlib.contextmanager
def two_hosts():
    try:
        for name in NAMES:
            call(["ip", "netns", "add", name])
        call(["ip", "link", "add", "shoal-a", "netns", NAMES[0], "type", "veth", "peer", "name", "shoal-b", "netns", NAMES[1]])
        for name, link, address in zip(NAMES, ("shoal-a", "shoal-b"), ADDRESSES):
            call(["ip", "-n", name, "addr", "add", f"{address}/24", "dev", link])
            call(["ip", "-n", name, "link", "set", link, "up"])
            call(["ip", "-n", name, "link", "set", "lo", "up"])
        yield
    finally:
        for name in NAMES:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def launch(scratch, arguments):
    """The command that starts one process on each host: instead of ssh, a script enters the other namespace."""
    agent = pathlib.Path(scratch, "agent.sh")
    agent.write_text("#!/bin/bash\nshift\n"
                     f"exec ip netns exec {NAMES[1]} unshare -u bash -c 'hostname host-b; exec bash -c \"$*\"' agent \"$@\"\n",
                     encoding="utf-8")
    agent.chmod(0o755)
    net = f"{ADDRESSES[0].rsplit('.', 1)[0]}.0/24"
    start = ["mpirun", "--allow-run-as-root", "--mca", "plm_rsh_agent", str(agent), "--mca", "btl", "self,tcp",
             "--mca", "btl_tcp_if_include", net, "--mca", "oob_tcp_if_include", net, "--mca", "pml", "ob1",
             "--host", ",".join(ADDRESSES), "-n", "2", *arguments]
    inside = "hostname host-a; exec \"$@\""
    return ["ip", "netns", "exec", NAMES[0], "unshare", "-u", "bash", "-c", inside, "launch", *start]


def check_output_and_deadlock(binary, scratch):
    """The output equals that of one process; a deadlock is explained with host names; a lost host is reported."""
    root = pathlib.Path(__file__).parents[2]
    module = str(root / "examples/tensor_parallel_mlp.hlo")
    alone = subprocess.run([binary, "run", module, "--print_literals"], capture_output=True, text=True, check=False)
    job = subprocess.run(launch(scratch, [binary, "run", module, "--print_literals"]), capture_output=True, text=True,
                         timeout=60, check=False, env=mpi.environment())
    if job.stdout != alone.stdout:
        return f"different output over TCP: exit status {job.returncode}: {job.stderr[:500]}"
    deadlock = str(root / "tests/interp/collectives/bad-deadlock-crossed.hlo")
    job = subprocess.run(launch(scratch, [binary, "run", deadlock]), capture_output=True, text=True, timeout=60,
                         check=False, env=mpi.environment())
    for part in ("devices 0,2 wait at all-reduce y", "devices 0,1 are on host-a (rank 0)", "devices 2,3 are on host-b (rank 1)"):
        if part not in job.stderr:
            return f"a deadlock report without {part!r}: {job.stderr[:800]}"
    return check_host_gone(binary, scratch)


def check_host_gone(binary, scratch):
    """The link goes down: within ten seconds the job reports the lost host."""
    path = faults.write(scratch, "long.hlo", faults.FOREVER)
    process = subprocess.Popen(launch(scratch, [binary, "run", path]), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=mpi.environment(), start_new_session=True)
    begun = time.monotonic()
    while sum(map(faults.is_monitoring, pids())) < 2 and time.monotonic() < begun + 30:
        time.sleep(0.1)
    time.sleep(0.5)
    begun = time.monotonic()
    call(["ip", "-n", NAMES[1], "link", "set", "shoal-b", "down"])
    reported = None
    os.set_blocking(process.stderr.fileno(), False)
    err = ""
    try:
        while process.poll() is None and reported is None and time.monotonic() < begun + 15:
            err += (process.stderr.read() or b"").decode()
            if reported is None and " is gone" in err:
                reported = time.monotonic() - begun
            time.sleep(0.1)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for pid in pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    # mpirun itself keeps waiting for its other half.
    if reported is None or reported > 10 or "rank 1 on host-b, which ran devices 2,3, is gone" not in err:
        return f"a lost host: reported after {reported} s: {err[:500]}"
    return ""


def check(binary):
    """The error; empty if there is none, None if the check is skipped."""
    if reason := available():
        print(f"two hosts as network namespaces: skipped: {reason}")
        return None
    with tempfile.TemporaryDirectory() as scratch:
        try:
            with two_hosts():
                return check_output_and_deadlock(binary, scratch)
        except subprocess.CalledProcessError as error:
            print(f"two hosts as network namespaces: skipped: {error.stderr.decode().strip()}")
            return None
