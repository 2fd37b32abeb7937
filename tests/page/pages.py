"""The modules to write pages for, with limits on the time and size of each page."""

import glob
import os
from dataclasses import dataclass, field

from checks import ROOT


@dataclass
class Subject:
    name: str
    file: str
    seconds: float = 1
    size: int = 4_000_000
    options: list = field(default_factory=list)
    traces: int = 0


def of_examples():
    for file in sorted(glob.glob(os.path.join(ROOT, "examples", "*.hlo"))):
        yield Subject(os.path.basename(file)[:-4], file)


def of_shared(shared):
    def found(*parts):
        return sorted(glob.glob(os.path.join(shared, *parts)))
    for file in found("seeds", "*.hlo") + found("seeds", "*.txt"):
        yield Subject("seed-" + os.path.basename(file).rsplit(".", 1)[0], file, size=300_000)
    for file in found("golden", "gpu8", "*.hlo"):
        yield Subject("gpu8-" + os.path.basename(file)[:-4], file)
    for pattern, name in (("*mixtral*2x8*", "mixtral"), ("*llama*405b*64x8*", "llama405b")):
        for file in found("corpus", "xla", pattern)[:1]:
            yield Subject(name, file, seconds=2)
    for file in found("golden", "h200_traces", "*.hlo"):
        profiles = [each for each in (file[:-4] + ".trace.json.gz", file[:-4] + ".xplane.pb") if os.path.exists(each)]
        yield Subject("h200-" + os.path.basename(file)[:-4], file, options=["--on=h200", *("--trace=" + each for each in profiles)], traces=len(profiles))
