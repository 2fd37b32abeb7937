#!/usr/bin/env python3
"""Runs the tests of the servers with real clients: pytest-lsp and Neovim. tests/serve/run.py [--bin PATH] [--shared DIR]

Also builds the extension for VS Code and tests its grammar with VS Code's engine. Needs a Python with pytest-lsp; without
Neovim or npm, their tests are skipped.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run_pytest(environment):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE)], env=environment,
                          capture_output=True, text=True, timeout=600, check=False)
    counts = {name: int(number) for number, name in re.findall(r"(\d+) (passed|failed|skipped|error)", done.stdout)}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    if failed or not counts:
        print(done.stdout[-8000:], done.stderr[-2000:])
    return counts.get("passed", 0), failed or (0 if counts else 1), counts.get("skipped", 0)


def run_nvim(environment):
    nvim = shutil.which("nvim")
    if nvim is None:
        return 0, 0, 1
    shared = pathlib.Path(environment["SHOAL_SHARED"])
    files = [*sorted((shared / "seeds").glob("*")), *(shared / "corpus/xla").glob("*mixtral_8x7b_bf16_2x8.hlo"),
             ROOT / "tests/ops/bad-reverse-c2.hlo", ROOT / "tests/stablehlo/loop.mlir"]
    done = subprocess.run([nvim, "--headless", "-u", "NONE", "-S", str(HERE / "nvim.lua")], capture_output=True, text=True,
                          env={**environment, "SHOAL_ROOT": str(ROOT), "SHOAL_FILE": str(ROOT / "examples/nested_loops.hlo"),
                               "SHOAL_FILES": "\n".join(map(str, files))}, timeout=300, check=False)
    output = done.stdout + done.stderr
    expected = [r"filetype hlo", r"symbols [1-9]", r"hover trip count: \d"]
    expected += [f"answered {method} {len(files)}\\b" for method in
                 ("hover", "definition", "references", "documentSymbol", "foldingRange", "semanticTokens/full", "completion")]
    expected += [f"answered {method} [1-9]" for method in ("codeLens", "inlayHint", "codeAction", "formatting", "prepareRename",
                                                           "prepareCallHierarchy", "documentHighlight", "documentLink")]
    missing = [pattern for pattern in expected if not re.search(pattern, output)]
    if missing:
        print(f"Neovim printed\n{output}\nwithout {missing}")
    return len(expected) - len(missing), len(missing), 0


def run_vscode(_):
    """The extension: its manifest, and the scopes of its grammar."""
    if any(shutil.which(tool) is None for tool in ("npm", "node", "esbuild", "tsc")):
        return 0, 0, 1
    work = ROOT / "build/vscode-test"
    work.mkdir(parents=True, exist_ok=True)
    packages = ["vscode-textmate@9.2.0", "vscode-oniguruma@2.0.1"]
    installed = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--no-save", "--no-package-lock", *packages],
                               cwd=work, capture_output=True, text=True, timeout=300, check=False)
    if installed.returncode != 0:
        return 0, 0, 1  # npm's registry cannot be reached
    problems = []
    extension = work / "shoal-hlo.vsix"
    built = subprocess.run([ROOT / "editors/vscode/build", extension], capture_output=True, text=True, timeout=300, check=False)
    if built.returncode != 0:
        problems.append(built.stderr)
    else:
        with zipfile.ZipFile(extension) as archive:
            for asset in re.findall(r'Path="([^"]+)"', archive.read("extension.vsixmanifest").decode()):
                archive.getinfo(asset)
            archive.getinfo("extension/dist/extension.js")
    grammar = subprocess.run(["node", HERE / "grammar.js", ROOT / "editors/vscode/syntaxes/hlo.tmLanguage.json"], text=True,
                             env={**os.environ, "NODE_PATH": str(work / "node_modules")}, capture_output=True, timeout=60, check=False)
    counts = re.search(r"(\d+) passed, (\d+) failed", grammar.stdout)
    if counts is None or counts[2] != "0":
        problems.append(grammar.stdout + grammar.stderr)
    print("\n".join(problems))
    return (int(counts[1]) if counts else 0) + (built.returncode == 0), len(problems), 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build/shoal", type=pathlib.Path)
    parser.add_argument("--shared", default=ROOT / "../shared", type=pathlib.Path)
    options = parser.parse_args()
    environment = {**os.environ, "SHOAL_BIN": str(options.bin.resolve()), "SHOAL_SHARED": str(options.shared.resolve())}
    results = [run_pytest(environment), run_nvim(environment), run_vscode(environment)]
    passed, failed, skipped = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
