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


def public_names():
    """(header, name) of each type and function of include/shoal/: Class::member, and shoal_x of the C API."""
    for header in sorted((ROOT / "include/shoal").glob("*.h")):
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text_of(header), flags=re.S)
        if header.name == "shoal.h":
            yield from ((header.name, name) for name in re.findall(r"\b(shoal_[a-z_]+)\(", text) if name != "shoal_init")
            continue
        scope, is_public = None, True
        for line in text.splitlines():
            if found := re.match(r"( *)(?:class|struct|enum class) +(?:\[\[nodiscard\]\] +)?(?:SHOAL_API +)?(\w+)(?=.*\{)", line):
                yield header.name, (f"{scope}::" if found[1] else "") + found[2]
                if not found[1]:
                    scope = None if line.rstrip().endswith("};") else found[2]
                    is_public = not line.lstrip().startswith("enum")
            elif line.startswith("}"):
                scope, is_public = None, True
            elif line.strip() in ("public:", "private:"):
                is_public = line.strip() == "public:"
            elif is_public and (found := re.match(r" {0,2}(?:SHOAL_API |static )*[\w:<>,&* ]*?[\w>&*] [&*]?(\w+)\(", line)):
                if found[1] not in (scope, "bool", "state") and (scope is not None) == line.startswith("  "):
                    yield header.name, (f"{scope}::" if scope else "") + found[1]


def check_api_reference(_):
    """docs/api.md names every type and function of include/shoal/, and no function that does not exist."""
    text = text_of(ROOT / "docs/api.md")
    named = set(re.findall(r"`([\w:]+)`", text))
    known = {name for _, name in public_names()}
    problems = [f"docs/api.md does not name {name} of {header}" for header, name in public_names() if name not in named]
    return problems + [f"docs/api.md names {name}, which does not exist" for name in sorted(named)
                       if re.match(r"shoal_[a-z]|\w+::\w", name) and not re.match(r"shoal::|std::|ExecuteOptions::", name) and name not in known
                       and name != "shoal_stop" and name != "shoal_error"]
