"""What a job of several processes does when something goes wrong: it ends in time, says why, and leaves nothing."""
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time

import mpi

# A loop of collectives that lasts until somebody ends it.
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
  n = s32[] constant(ROUNDS)
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
FOREVER = LONG.replace("ROUNDS", "2000000000")


def watches(pid):
    """Whether a process looks after the others of its job."""
    try:
        names = [task.joinpath("comm").read_text() for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return False
    return "shoal peers\n" in names


class Job:
    """A job that was started; its processes are found by what their environment says."""

    def __init__(self, words, ranks, scratch):
        self.mark = f"{os.getpid()}-{time.monotonic_ns()}"
        self.start = time.monotonic()
        self.said = ""  # all of standard error, at the end
        self.process = subprocess.Popen(mpi.command(ranks, words), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, cwd=scratch, env={**mpi.environment(), "SHOAL_TEST_MARK": self.mark})

    def ranks(self):
        """Process id of each rank that is there."""
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
                if rank:  # else its environment was read before it became what it is
                    found[int(rank[0].split(b"=")[1])] = int(path.name)
        return found

    def wait_for_ranks(self, count):
        while len(self.ranks()) < count:
            if time.monotonic() > self.start + 30 or self.process.poll() is not None:
                raise TimeoutError("the processes did not start")
            time.sleep(0.02)

    def all_watch(self, count):
        """Whether so many processes look after each other by now."""
        return sum(watches(pid) for pid in self.ranks().values()) == count

    def wait_until_all_watch(self, count):
        while not self.all_watch(count):
            if time.monotonic() > self.start + 30 or self.process.poll() is not None:
                raise TimeoutError("the processes have not met")
            time.sleep(0.05)

    def end(self, seconds):
        """Standard output, ours of standard error, and what is wrong with how it ended."""
        begun = time.monotonic()
        try:
            out, err = self.process.communicate(timeout=seconds)
            self.said = err
        except subprocess.TimeoutExpired:
            left = self.ranks()
            for pid in left.values():
                os.kill(pid, signal.SIGKILL)
            self.process.kill()
            out, err = self.process.communicate()
            self.said = err
            if not left and "PMIX ERROR" in err:  # ours have ended; mpirun lost count of a process it was starting
                return out, mpi.ours(err), ""
            return out, mpi.ours(err), f"had not ended after {time.monotonic() - begun:.1f} s: left {left}, said {err!r}"
        time.sleep(0.05)
        left = self.ranks()
        for pid in left.values():
            os.kill(pid, signal.SIGKILL)
        return out, mpi.ours(err), f"left processes {left}" if left else ""


def write(scratch, name, text):
    path = pathlib.Path(scratch, name)
    path.write_text(text, encoding="utf-8")
    return str(path)


SKIPPED = "skipped: nobody may mount here"


def check_kill(binary, scratch, rng, number):
    """A process that is killed is named, with its devices, within ten seconds."""
    job = Job([binary, "run", write(scratch, "long.hlo", FOREVER)], 4, scratch)
    job.wait_for_ranks(4)
    time.sleep(rng.uniform(0, 1.5))
    rank = number % 4
    pid = job.ranks().get(rank)
    if pid is None:
        return "ended before it was killed: " + job.end(10)[1]
    have_met = job.all_watch(4)
    os.kill(pid, signal.SIGKILL)
    out, err, why = job.end(10)
    if why:
        return f"killed rank {rank}: {why}"
    if re.search(rf"error: rank {rank} on \S+(, which ran device {rank},)? is gone", err):
        return ""
    # Before all have met nobody can know more than the launcher says, which MPICH's does by its status alone.
    if not have_met and (re.search(rf"process rank {rank} .*signal 9", job.said + out) or mpi.HYDRA and job.process.returncode):
        return ""
    return f"killed rank {rank}, {'after' if have_met else 'before'} all had met: said {job.said!r}"


def check_stop(binary, scratch):
    """A process that is stopped for a while is waited for."""
    job = Job([binary, "run", write(scratch, "short.hlo", LONG.replace("ROUNDS", "100"))], 4, scratch)
    job.wait_for_ranks(4)
    time.sleep(0.3)
    pid = job.ranks().get(2)
    if pid is not None:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(3)
        os.kill(pid, signal.SIGCONT)
    out, err, why = job.end(60)
    if why or job.process.returncode != 0 or "f32[4096]" not in out:
        return why or f"exit status {job.process.returncode}: {err}"
    return ""


def check_stall(binary, scratch):
    """A stall across processes is explained as in one process, whether few bytes are on their way or many."""
    folder = pathlib.Path(__file__).parents[1] / "interp/collectives"
    for name in ("bad-deadlock-crossed.hlo", "bad-deadlock-large.hlo"):
        path = write(scratch, name, (folder / name).read_text(encoding="utf-8"))
        alone = subprocess.run([binary, "run", path], capture_output=True, text=True, check=False, env=mpi.environment())
        job = mpi.run(4, [binary, "run", path])
        if mpi.ours(job.stderr) != alone.stderr.strip("\n") or job.returncode != alone.returncode:
            return f"{name}: said {job.stderr!r}"
    return ""


def check_other_module(binary, scratch):
    """A process with another module is named."""
    one = write(scratch, "one.hlo", LONG.replace("ROUNDS", "3"))
    other = write(scratch, "other.hlo", LONG.replace("ROUNDS", "4"))
    done = subprocess.run([*mpi.LAUNCH, "-n", "2", binary, "run", one, ":", "-n", "1", binary, "run", other],
                          capture_output=True, text=True, timeout=60, check=False, env=mpi.environment())
    if "rank 2 has another module" not in done.stderr or done.returncode != 2:
        return f"exit status {done.returncode}: {done.stderr}"
    return ""


def check_other_flags(binary, scratch):
    """And one that was called with other options."""
    one = write(scratch, "one.hlo", LONG.replace("ROUNDS", "3"))
    done = subprocess.run([*mpi.LAUNCH, "-n", "2", binary, "run", one, ":", "-n", "1", binary, "run", one, "--random_seed=7"],
                          capture_output=True, text=True, timeout=60, check=False, env=mpi.environment())
    if "rank 2 was called with other options" not in done.stderr or done.returncode != 2:
        return f"exit status {done.returncode}: {done.stderr}"
    return ""


def check_full_disk(binary, scratch):
    """A process that cannot write its outputs ends all with that message, and leaves no half of a file."""
    path = write(scratch, "module.hlo", LONG.replace("ROUNDS", "3"))
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
    if job.returncode != 2 or "error: " not in mpi.ours(job.stderr) or left:
        return f"exit status {job.returncode}, left {left}: {job.stderr}"
    return ""


def check_interrupt(binary, scratch):
    """Ctrl-C at mpirun ends all, with one message."""
    job = Job([binary, "run", write(scratch, "long.hlo", FOREVER)], 4, scratch)
    job.wait_until_all_watch(4)
    time.sleep(0.5)
    job.process.send_signal(signal.SIGINT)
    _, err, why = job.end(10)
    if why or err.count("interrupted") != 1 or "gone" in err:
        return why or f"said {err!r}"
    return ""


def check_error(binary, scratch):
    """An error on one device is everybody's, once."""
    path = pathlib.Path(__file__).parents[1] / "interp/collectives/bad-ragged-all-to-all-sizes.hlo"
    alone = subprocess.run([binary, "run", path, "--num_replicas=2"], capture_output=True, text=True, check=False)
    job = mpi.run(2, [binary, "run", str(path), "--num_replicas=2"])
    if mpi.ours(job.stderr) != alone.stderr.strip("\n") or job.returncode != alone.returncode:
        return f"exit status {job.returncode}: {job.stderr}"
    return ""


def check_all(binary, kills, seed):
    """(name, what is wrong) of each."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as scratch:
        for check in (check_stop, check_stall, check_other_module, check_other_flags, check_full_disk, check_interrupt,
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
