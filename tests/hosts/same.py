"""One process and a job on the same module: do they say and write the same?"""
import pathlib
import re
import subprocess
import tempfile

import mpi


def said(done):
    """What must be equal: the answer, the messages and the exit status. Times are not."""
    blind = lambda text: re.sub(r"\b[0-9.e+-]+ s\b", "… s", text)
    out = "\n".join(line for line in done.stdout.split("\n") if not re.match(r"in \d+ processes", line))
    return blind(out).strip("\n"), blind(mpi.ours(done.stderr)), done.returncode


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def difference(binary, name, words, path, ranks, placement, statuses=None):
    """None, or how the job differs from one process, whose exit status is added to `statuses`."""
    with tempfile.TemporaryDirectory() as scratch:
        call = [binary, "run", path.name, *words]
        alone, job = pathlib.Path(scratch, "alone"), pathlib.Path(scratch, "job")
        want = subprocess.run([*call, f"--outputs={alone}"], capture_output=True, text=True, cwd=path.parent, check=False,
                              env=mpi.environment())
        if statuses is not None:
            statuses.append(want.returncode)
        try:
            got = mpi.run(ranks, [*call, f"--outputs={job}", f"--placement={placement}"], cwd=path.parent)
        except subprocess.TimeoutExpired:
            return f"{name} {' '.join(words)}: {ranks} processes, {placement}: no end in 60 s"
        for what, a, b in zip(("standard output", "standard error", "exit status"), said(want), said(got)):
            if a != b:
                return f"{name} {' '.join(words)}: {ranks} processes, {placement}: {what}:\n  one process: {a}\n  the job: {b}"
        a, b = files_in(alone) if alone.exists() else {}, files_in(job) if job.exists() else {}
        if a != b:
            which = [key for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)]
            return f"{name} {' '.join(words)}: {ranks} processes, {placement}: the outputs differ: {' '.join(which[:5])}"
    return None
