"""Compares the output and the files of one process and of a job on the same module."""
import pathlib
import re
import subprocess
import tempfile

import mpi


def comparable(done):
    """The parts that must be equal: output, messages and exit status, without times."""
    without_times = lambda text: re.sub(r"\b[0-9.e+-]+ s\b", "… s", text)
    out = "\n".join(line for line in done.stdout.split("\n") if not re.match(r"in \d+ processes", line))
    return without_times(out).strip("\n"), without_times(mpi.shoal_output(done.stderr)), done.returncode


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def difference(binary, name, arguments, path, ranks, placement, statuses=None):
    """None, or the difference between the job and one process, whose exit status is appended to `statuses`."""
    with tempfile.TemporaryDirectory() as scratch:
        title = f"{name} {' '.join(arguments)}: {ranks} processes, {placement}"
        call = [binary, "run", path.name, *arguments]
        alone, job = pathlib.Path(scratch, "alone"), pathlib.Path(scratch, "job")
        want = subprocess.run([*call, f"--outputs={alone}"], capture_output=True, text=True, cwd=path.parent, check=False,
                              env=mpi.environment())
        if statuses is not None:
            statuses.append(want.returncode)
        try:
            got = mpi.run(ranks, [*call, f"--outputs={job}", f"--placement={placement}"], cwd=path.parent)
        except subprocess.TimeoutExpired:
            return f"{title}: not finished in 60 s"
        for part, a, b in zip(("standard output", "standard error", "exit status"), comparable(want), comparable(got)):
            if a != b:
                return f"{title}: {part}:\n  one process: {a}\n  the job: {b}"
        a, b = files_in(alone) if alone.exists() else {}, files_in(job) if job.exists() else {}
        if a != b:
            which = [key for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)]
            return f"{title}: the outputs differ: {' '.join(which[:5])}"
    return None
