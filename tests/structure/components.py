"""Checks of the components of src/: their graph, their private headers, the namespace, the public headers."""
import functools
import re

from sources import ROOT, SRC, code_of, cpp_files, includes_of, name_of, text_of

DAG = SRC / "components.dag"
INCLUDE = ROOT / "include/shoal"
GENERATED = (".pb.h", "page_hashes.h")


@functools.cache
def rows(level):
    """Maps the name of each row of components.dag to its uses, bottom first. Level 0: components; level 1: folders."""
    found = re.findall(r"^([\w/]+):([^#\n]*)", text_of(DAG), re.M)
    return {name: uses.split() for name, uses in found if name.count("/") == level}


def covers(use, name):
    """True if the entry `use` of a row of components.dag allows the use of `name`."""
    return use in ("*", name) or (use.endswith("/*") and name.startswith(use[:-1]))


def folder_of(include):
    """COMPONENT/FOLDER of an include path. The headers of the public API are implemented in api/cpp."""
    return "api/cpp" if include.startswith("shoal/") else "/".join(include.split("/")[:2])


@functools.cache
def uses():
    """The folders that each folder includes from, and the including lines, as {folder: {folder: [place]}}."""
    result = {}
    for folder in rows(1):
        result[folder] = {}
        for path in cpp_files(SRC / folder):
            for line, include in includes_of(path):
                if include.startswith("shoal/") and folder.startswith("api/"):
                    continue
                result[folder].setdefault(folder_of(include), []).append(f"{name_of(path)}:{line}")
    return result


def check_folders(_):
    """src/components.dag names the components and folders of src/, and no others."""
    problems = []
    for level, pattern in enumerate(("*", "*/*")):
        existing = {path.relative_to(SRC).as_posix() for path in SRC.glob(pattern) if path.is_dir() and cpp_files(path)}
        problems += [f"src/{name} is not in src/components.dag" for name in sorted(existing - set(rows(level)))]
        problems += [f"src/components.dag names {name}, which has no sources" for name in rows(level) if name not in existing]
    return problems


def check_order(_):
    """Rows of src/components.dag name only rows above them, and a folder's row only what its component may use."""
    problems = []
    for level in (0, 1):
        names = list(rows(level))
        for i, (name, entries) in enumerate(rows(level).items()):
            component = name.split("/")[0]
            for entry in entries:
                if not any(covers(entry, above) for above in names[:i]):
                    problems.append(f"{name}: {entry} is not above it")
                elif level == 1 and entry != "*" and entry.split("/")[0] not in (component, *rows(0)[component]):
                    problems.append(f"{name}: {entry}, but the row of {component} does not have {entry.split('/')[0]}")
    return problems


def check_includes(_):
    """A file includes only from its own folder and from the folders and components that src/components.dag lets it use."""
    problems = []
    folders, components = list(rows(1)), list(rows(0))
    for i, folder in enumerate(folders):
        own = folder.split("/")[0]
        for other, places in uses()[folder].items():
            component, problem = other.split("/")[0], None
            if "/" not in other:
                problem = None if other.endswith(GENERATED) else f'"{other}" does not name component and folder'
            elif component in components and other not in folders:
                problem = f"{other} is not a folder of src/components.dag"
            elif other in folders and other != folder:
                if other not in folders[:i] or not any(covers(use, other) for use in rows(1)[folder]):
                    problem = f"{folder} may not use {other}"
                elif component not in (own, *rows(0)[own]):
                    problem = f"{own} may not use {component}"
            problems += [f"{place}: {problem}" for place in places if problem]
    return problems


def check_uses(_):
    """Every use that src/components.dag lists is needed by an include; "*" is exempt."""
    problems = []
    for folder, entries in rows(1).items():
        others = set(uses()[folder]) - {folder}
        problems += [f"{folder}: no file includes from {entry}" for entry in entries
                     if entry != "*" and not any(covers(entry, other) for other in others)]
    for component, entries in rows(0).items():
        others = {other.split("/")[0] for folder in rows(1) if folder.startswith(component + "/") for other in uses()[folder]}
        problems += [f"{component}: no file includes from {entry}" for entry in entries if entry not in others]
    return problems


def check_private_headers(_):
    """A header marked "Private to COMPONENT/FOLDER" or "Private to COMPONENT" is included only from there and tests/."""
    problems, owners = [], {}
    for path in cpp_files(SRC):
        comments = re.sub(r"\n//\s*", " ", text_of(path))
        for owner in re.findall(r"\bPrivate to ((?:[a-z_]+/)*[a-z_]+/?)", comments) if path.suffix == ".h" else ():
            if owner not in (*rows(0), *rows(1)):
                problems.append(f"{name_of(path)}: Private to {owner}: not a component or folder of src/components.dag")
            elif SRC / owner not in path.parents:
                problems.append(f"{name_of(path)}: Private to {owner}, but it is not there")
            else:
                owners[path.relative_to(SRC).as_posix()] = owner
    for path in (path for folder in ("src", "bench", "tools") for path in cpp_files(ROOT / folder)):
        for line, include in includes_of(path):
            if include in owners and SRC / owners[include] not in path.parents:
                problems.append(f"{name_of(path)}:{line}: {include} is private to {owners[include]}")
    return problems


def check_namespace(_):
    """All code of src/ is in namespace shoal::internal or, in cli, in shoal::cli.

    Exceptions are main.cc, extern "C" functions and, in api, the public API.
    """
    problems = []
    for path in cpp_files(SRC):
        code = code_of(path)
        problems += [f"{name_of(path)}: namespace {found}"
                     for found in re.findall(r"\bnamespace\s+(shoal(?!::internal\b)[\w:]*)", code)
                     if SRC / "api" not in path.parents and not (SRC / "cli" in path.parents and found == "shoal::cli")]
        is_exempt = path.suffix == ".def" or path.name == "main.cc" or 'extern "C"' in code or SRC / "api" in path.parents
        has_code = re.search(r"^\s*[^#\s]", re.sub(r"^#(?:\\\n|.)*", "", code, flags=re.M), re.M)
        if has_code and not is_exempt and not re.search(r"\bnamespace shoal::(internal|cli)\b", code):
            problems.append(f"{name_of(path)}: not in namespace shoal::internal")
    return problems


def check_public_headers(_):
    """A header of include/shoal/ includes only the standard library and other headers of include/shoal/."""
    problems = []
    for path in sorted(INCLUDE.rglob("*.h")) if INCLUDE.exists() else ():
        for found in re.finditer(r'^\s*#\s*include\s*(["<])([^">]+)', code_of(path), re.M):
            own = found[2].startswith("shoal/") and (ROOT / "include" / found[2]).exists()
            standard = re.fullmatch(r"[a-z_]+|(?:std(?:bool|def|int|io|lib)|assert|errno|float|limits|math|string)\.h", found[2])
            if not own and not (standard and found[1] == "<"):
                problems.append(f"{name_of(path)}: includes {found[2]}")
    return problems
