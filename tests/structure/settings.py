"""Checks that messages of the library name settings, and that the command line program has the options for them."""
import re
import subprocess

from sources import SRC, cpp_files, code_of, line_at, name_of, strings_of


def library_files():
    return [path for path in cpp_files(SRC) if SRC / "cli" not in path.parents]


def check_options_in_library(_):
    """No string below src/cli names an option of the program: a user of the library has none. Setting(…) names a setting."""
    option = re.compile(r"(?<![\w=-])--(?!xla_)[a-z]")
    return [f"{name_of(path)}:{line}: {string}" for path in library_files() for line, string in strings_of(path)
            if option.search(string)]


def check_settings(binary):
    """Every setting that a message names is an option of the program, or cli/commands/option_names.cc has its option."""
    commands = re.findall(r"^  ([a-z]+) ", subprocess.run([binary, "--help"], capture_output=True, text=True, check=True).stdout, re.M)
    helps = "".join(subprocess.run([binary, command, "--help"], capture_output=True, text=True, check=False).stdout
                    for command in commands)
    options = set(re.findall(r"--([a-z_]+)", helps))
    options |= set(re.findall(r'\{"([a-z_]+)", "--', code_of(SRC / "cli/commands/option_names.cc")))
    problems, count = [], 0
    for path in library_files():
        code = code_of(path)
        for found in re.finditer(r'\bSetting\("([a-z_]+)', code):
            count += 1
            if found[1] not in options:
                problems.append(f"{name_of(path)}:{line_at(code, found.start())}: no option for the setting {found[1]}")
    return problems or ([] if count else ["no message names a setting"])
