"""Checks of ARCHITECTURE.md and of the README.md of each component."""
import re

from components import rows
from sources import ROOT, SRC, name_of, text_of

MAX_README_LINES = 20
MIN_FILES_TO_READ = 3


def check_architecture(_):
    """ARCHITECTURE.md names every component of src/components.dag, in backticks, in bold or in a column of its own."""
    text = text_of(ROOT / "ARCHITECTURE.md")
    return [f"ARCHITECTURE.md does not name `{component}`" for component in rows(0)
            if not re.search(rf"(?:`|\*\*|\| )(?:src/)?{component}(?:`|/`|\*\*|/\*\*| \|)", text)]


def check_named_paths(_):
    """ARCHITECTURE.md and CONTRIBUTING.md name only paths of src/ that exist; a suffix may be left out, NAME is any name."""
    problems = []
    for document in (ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"):
        for line, text in enumerate(text_of(document).splitlines(), 1):
            for name in re.findall(rf"(?:`|\*\*)(?:src/)?((?:{'|'.join(rows(0))})/[\w./-]+)", text):
                path = SRC / re.sub(r"[A-Z]{2,}", "*", name.rstrip("./"))
                if not any(path.parent.glob(path.name)) and not any(path.parent.glob(path.name + ".*")):
                    problems.append(f"{name_of(document)}:{line}: {name} does not exist")
    return problems


def check_readmes(_):
    """Every component has a README.md of at most 20 lines that names at least three files to read first, all of which exist."""
    problems = []
    for component in rows(0):
        path = SRC / component / "README.md"
        if not path.exists():
            problems.append(f"{name_of(path)} does not exist")
            continue
        text, files = text_of(path), set()
        for name in re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", text):
            if "/" not in name and not re.search(r"\.(?:h|cc|def|md|dag|py|ts|json|yaml)$", name):
                continue
            existing = [place / name for place in (path.parent, SRC, ROOT) if (place / name).exists()]
            if not existing:
                problems.append(f"{name_of(path)}: {name} does not exist")
            files |= {found for found in existing if found.is_file()}
        if len(files) < MIN_FILES_TO_READ:
            problems.append(f"{name_of(path)} names {len(files)} files to read first, fewer than {MIN_FILES_TO_READ}")
        if text.count("\n") > MAX_README_LINES:
            problems.append(f"{name_of(path)} has {text.count(chr(10))} lines, more than {MAX_README_LINES}")
    return problems
