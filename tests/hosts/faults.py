"""Errors in a job of several processes: the job ends in time, reports the reason, and leaves no processes or files."""
import functools
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time

import mpi

# A loop of collectives that runs until it is stopped.
LONG = """HloModule long, num_partitions=4
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
body {
  s = (s32[], f32[4096]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4096] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4096] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=sum
  q = f32[] constant(0.25)
  r = f32[4096] broadcast(q), dimensions={}
  z = f32[4096] multiply(y, r)
  ROOT t = (s32[], f32[4096]) tuple(j, z)
}
condition {
  s = (s32[], f32[4096]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(ITERATIONS)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[4096] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[4096]) tuple(zero, x)
  w = (s32[], f32[4096]) while(t), condition=condition, body=body
  ROOT r = f32[4096] get-tuple-element(w), index=1
}
"""
FOREVER = LONG.replace("ITERATIONS", "2000000000")


def is_monitoring(pid):
    """True if a process has started to monitor the others of its job."""
    try:
        names = [task.joinpath("comm").read_text() for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return False
    return "shoal peers\n" in names


class Job:
    """A started job; its processes are found by a mark in their environment."""

    def __init__(self, arguments, ranks, scratch):
        self.mark = f"{os.getpid()}-{time.monotonic_ns()}"
        self.start = time.monotonic()
        self.stderr = ""  # complete after the job has ended
        self.process = subprocess.Popen(mpi.command(ranks, arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, cwd=scratch, env={**mpi.environment(), "SHOAL_TEST_MARK": self.mark})

    def ranks(self):
        """Process id of each running rank."""
        found = {}
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                variables = (path / "environ").read_bytes().split(b"\0")
                if os.path.basename(os.readlink(path / "exe")) != "shoal":
                    continue
            except OSError:
                continue
            if f"SHOAL_TEST_MARK={self.mark}".encode() in variables:
                rank = [each for each in variables if each.startswith(f"{mpi.RANK}=".encode())]
                if rank:  # else its environment was read before exec
                    found[int(rank[0].split(b"=")[1])] = int(path.name)
        return found

    def wait_for_ranks(self, count):
        while len(self.ranks()) < count:
            if time.monotonic() > self.start + 30 or self.process.poll() is not None:
                raise TimeoutError("the processes did not start")
            time.sleep(0.02)

    def all_monitor(self, count):
        """True if `count` processes monitor each other."""
        return sum(is_monitoring(pid) for pid in self.ranks().values()) == count

    def wait_until_all_monitor(self, count):
        while not self.all_monitor(count):
            if time.monotonic() > self.start + 30 or self.process.poll() is not None:
                raise TimeoutError("the processes have not connected")
            time.sleep(0.05)

    def end(self, seconds):
        """Standard output, shoal's part of standard error, and the error if the job has not ended properly."""
        begun = time.monotonic()
        try:
            out, err = self.process.communicate(timeout=seconds)
            self.stderr = err
        except subprocess.TimeoutExpired:
            left = self.ranks()
            for pid in left.values():
                os.kill(pid, signal.SIGKILL)
            self.process.kill()
            out, err = self.process.communicate()
            self.stderr = err
            if not left and "PMIX ERROR" in err:  # shoal has ended; mpirun lost track of a process that it was starting
                return out, mpi.shoal_output(err), ""
            seconds = time.monotonic() - begun
            return out, mpi.shoal_output(err), f"had not ended after {seconds:.1f} s: left {left}, printed {err!r}"
        time.sleep(0.05)
        left = self.ranks()
        for pid in left.values():
            os.kill(pid, signal.SIGKILL)
        return out, mpi.shoal_output(err), f"left processes {left}" if left else ""


def write(scratch, name, text):
    path = pathlib.Path(scratch, name)
    path.write_text(text, encoding="utf-8")
    return str(path)


SKIPPED = "skipped: mounting is not permitted here"


def check_kill(binary, scratch, rng, number):
    """A killed process is reported, with its devices, within ten seconds."""
    job = Job([binary, "run", write(scratch, "long.hlo", FOREVER)], 4, scratch)
    job.wait_for_ranks(4)
    time.sleep(rng.uniform(0, 1.5))
    rank = number % 4
    pid = job.ranks().get(rank)
    if pid is None:
        return "ended before it was killed: " + job.end(10)[1]
    are_connected = job.all_monitor(4)
    os.kill(pid, signal.SIGKILL)
    out, err, reason = job.end(10)
    if reason:
        return f"killed rank {rank}: {reason}"
    if re.search(rf"error: rank {rank} on \S+(, which ran device {rank},)? is gone", err):
        return ""
    # Before all processes are connected, only the launcher can report the loss. MPICH's does so only by its status.
    if not are_connected and (re.search(rf"process rank {rank} .*signal 9", job.stderr + out) or
                              mpi.HYDRA and job.process.returncode):
        return ""
    return f"killed rank {rank}, {'after' if are_connected else 'before'} all were connected: printed {job.stderr!r}"


def check_stop(binary, scratch):
    """A job waits for a process that is stopped and later continued."""
    job = Job([binary, "run", write(scratch, "short.hlo", LONG.replace("ITERATIONS", "100"))], 4, scratch)
    job.wait_for_ranks(4)
    time.sleep(0.3)
    pid = job.ranks().get(2)
    if pid is not None:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(3)
        os.kill(pid, signal.SIGCONT)
    out, err, reason = job.end(60)
    if reason or job.process.returncode != 0 or "f32[4096]" not in out:
        return reason or f"exit status {job.process.returncode}: {err}"
    return ""


def check_deadlock(binary, scratch):
    """A deadlock across processes is explained as in one process, whether messages in flight are small or large."""
    folder = pathlib.Path(__file__).parents[1] / "interp/collectives"
    for name in ("bad-deadlock-crossed.hlo", "bad-deadlock-large.hlo"):
        path = write(scratch, name, (folder / name).read_text(encoding="utf-8"))
        alone = subprocess.run([binary, "run", path], capture_output=True, text=True, check=False, env=mpi.environment())
        job = mpi.run(4, [binary, "run", path])
        if mpi.shoal_output(job.stderr) != alone.stderr.strip("\n") or job.returncode != alone.returncode:
            return f"{name}: printed {job.stderr!r}"
    return ""


def check_other_module(binary, scratch):
    """A process with a different module is reported."""
    one = write(scratch, "one.hlo", LONG.replace("ITERATIONS", "3"))
    other = write(scratch, "other.hlo", LONG.replace("ITERATIONS", "4"))
    done = subprocess.run([*mpi.LAUNCH, "-n", "2", binary, "run", one, ":", "-n", "1", binary, "run", other],
                          capture_output=True, text=True, timeout=60, check=False, env=mpi.environment())
    if "rank 2 has a different module" not in done.stderr or done.returncode != 2:
        return f"exit status {done.returncode}: {done.stderr}"
    return ""


def check_other_flags(binary, scratch):
    """A process that was called with different options is reported."""
    one = write(scratch, "one.hlo", LONG.replace("ITERATIONS", "3"))
    done = subprocess.run([*mpi.LAUNCH, "-n", "2", binary, "run", one, ":", "-n", "1", binary, "run", one, "--random_seed=7"],
                          capture_output=True, text=True, timeout=60, check=False, env=mpi.environment())
    if "rank 2 was called with different options" not in done.stderr or done.returncode != 2:
        return f"exit status {done.returncode}: {done.stderr}"
    return ""


def check_full_disk(binary, scratch):
    """A process that cannot write its outputs ends the job with that message, and leaves no incomplete file."""
    path = write(scratch, "module.hlo", LONG.replace("ITERATIONS", "3"))
    out = pathlib.Path(scratch, "full")
    out.mkdir(exist_ok=True)
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
        return SKIPPED
    small = f"""if [ "${mpi.RANK}" = 2 ]; then
  exec unshare -m bash -c 'mount -t tmpfs -o size=8k none {out} && exec "$@"' mount "$@"
fi
exec "$@"
"""
    script = write(scratch, "small_disk.sh", small)
    job = mpi.run(4, ["bash", script, binary, "run", path, f"--outputs={out}"])
    left = [each.name for each in out.rglob("*") if each.is_file() and each.suffix != ".npy"] if out.exists() else []
    if job.returncode != 2 or "error: " not in mpi.shoal_output(job.stderr) or left:
        return f"exit status {job.returncode}, left {left}: {job.stderr}"
    return ""


def check_interrupt(binary, scratch):
    """Ctrl-C at mpirun ends all processes, with one message."""
    job = Job([binary, "run", write(scratch, "long.hlo", FOREVER)], 4, scratch)
    job.wait_until_all_monitor(4)
    time.sleep(0.5)
    job.process.send_signal(signal.SIGINT)
    _, err, reason = job.end(10)
    if reason or err.count("interrupted") != 1 or "gone" in err:
        return reason or f"printed {err!r}"
    return ""


def check_error(binary, scratch):
    """An error on one device ends all processes and is printed once, as without a job."""
    root = pathlib.Path(__file__).parents[2]
    # Which device exceeds the memory first is not determined.
    without_device = functools.partial(re.sub, r"device \d+", "device N")
    for call in ([root / "tests/interp/collectives/bad-ragged-all-to-all-sizes.hlo", "--num_replicas=2"],
                 [root / "examples/auto_sharded_step.hlo", "--max_memory=4000"]):
        command = [binary, "run", *map(str, call)]
        alone = subprocess.run(command, capture_output=True, text=True, check=False)
        job = mpi.run(2, command)
        same = without_device(mpi.shoal_output(job.stderr)) == without_device(alone.stderr.strip("\n"))
        if not same or job.returncode != alone.returncode:
            return f"exit status {job.returncode}: {job.stderr}"
    return ""


def check_all(binary, kills, seed):
    """(name, error) of each check."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as scratch:
        for check in (check_stop, check_deadlock, check_other_module, check_other_flags, check_full_disk, check_interrupt,
                      check_error):
            try:
                yield check.__name__, check(binary, scratch)
            except (subprocess.TimeoutExpired, TimeoutError) as error:
                yield check.__name__, str(error)
        for number in range(kills):
            try:
                yield f"check_kill {number}", check_kill(binary, scratch, rng, number)
            except (subprocess.TimeoutExpired, TimeoutError) as error:
                yield f"check_kill {number}", str(error)
