#!/usr/bin/env python3
"""Checks that no name of the C++ sources has two definitions, from the text alone: tests/one_definition.py [FOLDER…].

Two files that define the same type, inline function or variable differently break C++'s One Definition Rule. The linker
then keeps one of them, without a message. `./test --odr` lets g++ compare the types themselves, which takes a whole build.
This test takes a second, and finds inline functions too: it allows each name outside anonymous namespaces in one file
only. It checks every folder of tests/, tools/ and bench/ together with src/, because they are linked with it.
"""
import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Comments, literals and directives. A number comes first because of its separators, as in 1'000.
LEXICAL = re.compile(
    r"""(?P<number>\b\d[\w.']*)
      | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)")
      | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<directive>^[ \t]*\#(?:\\\n|//[^\n]*|/\*.*?\*/|[^\n/]|/)*)""", re.X | re.S | re.M)
TYPE = re.compile(r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+")
NAME = re.compile(r"(?:::)?\w+(?:::\w+)*")
WORD = re.compile(r"[\w:~]*operator\s*(?:\(\s*\)|\[\s*\]|[^\s\w(]+|\s\w[\w\s:<>*&]*)|[\w:~]+")
NO_FUNCTIONS = {"alignas", "decltype", "if", "for", "while", "switch", "return", "requires", "noexcept", "sizeof"}

Definition = collections.namedtuple("Definition", "kind name where")


def without_literals(text):
    """The text with comments, literals and directives blanked out, lines kept. Of #if … #else, only the first part stays."""
    branches = []  # for each open #if: True if the current part is kept
    kept = []
    end = 0

    def keep(piece):
        kept.append(piece if all(branches) else "\n" * piece.count("\n"))

    for found in LEXICAL.finditer(text):
        keep(text[end:found.start()])
        end = found.end()
        if found["number"]:
            keep(found[0])
            continue
        if found["directive"]:
            word = re.match(r"\s*#\s*(\w*)", found[0])[1]
            if word in ("if", "ifdef", "ifndef"):
                branches.append(True)
            elif word in ("else", "elif") and branches:
                branches[-1] = False
            elif word == "endif" and branches:
                branches.pop()
        keep('""' if found["string"] or found["raw"] else " ")
        kept.append("\n" * found[0].count("\n"))
    keep(text[end:])
    return "".join(kept)


def closing(text, start, pair):
    """The index after the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] == pair[0]:
            depth += 1
        elif text[i] == pair[1] and not (pair == "<>" and text[i - 1] == "-"):
            depth -= 1
            if depth == 0:
                return i + 1
    return len(text)


def squeezed(text):
    """The text with only those spaces that separate words."""
    return re.sub(r"\s*(\W)\s*", r"\1", re.sub(r"\s+", " ", text.strip()))


def template_head(head):
    """The template parameter lists that `head` begins with, and the rest."""
    start = 0
    while found := re.compile(r"\s*template\s*(?=<)").match(head, start):
        start = closing(head, found.end(), "<>")
    return head[:start], head[start:]


def arguments_at(text, start):
    """The template arguments that begin at `start`, if any."""
    found = re.compile(r"\s*(?=<)").match(text, start)
    return text[start:closing(text, found.end(), "<>")] if found else ""


def type_of(head):
    """The name of the type that `head {` defines, with the arguments of a specialization, or None."""
    _, rest = template_head(head)
    for found in TYPE.finditer(rest):
        start = found.end()
        while attribute := re.compile(r"(?:\[\[.*?\]\]|alignas\s*\([^()]*\)|__attribute__\s*\(\(.*?\)\))\s*").match(rest, start):
            start = attribute.end()
        name = NAME.match(rest, start)
        if not name:
            continue
        arguments = arguments_at(rest, name.end())
        behind = rest[name.end() + len(arguments):]
        if "(" not in rest[:found.start()] and re.match(r"\s*(?:final\b\s*)?(?::(?!:)|$)", behind):
            return name[0] + squeezed(arguments)
    return None


def parameter_types(parameters):
    """The parameters without their names and defaults."""
    types, depth, start = [], 0, 0
    for i, c in enumerate(parameters + ","):
        depth += (c in "(<[{") - (c in ")]}" or (c == ">" and parameters[i - 1] != "-"))
        if c == "," and depth == 0:
            parameter = parameters[start:i].partition("=")[0].strip()
            types.append(squeezed(re.sub(r"(?<=[\s&*>])\w+$", "", parameter)))
            start = i + 1
    return ",".join(types)


def function_of(head):
    """The function that `head {` defines, with its parameters' types; None if it is none or has internal linkage."""
    template, rest = template_head(head)
    if re.match(r'\s*extern\s*""', rest):  # C linkage: names may recur, as in the fuzzers, which are separate programs
        return None
    start = 0
    while found := WORD.search(rest, start):
        end = found.end()
        while not found[0].startswith("operator") and (arguments := arguments_at(rest, end)):
            member = re.compile(r"::~?\w+").match(rest, end + len(arguments))
            end = member.end() if member else end + len(arguments)
            if not member:
                break
        opening = re.compile(r"\s*\(").match(rest, end)
        if not opening:
            start = end
            continue
        behind = closing(rest, opening.end() - 1, "()")
        if found[0] in NO_FUNCTIONS:
            start = behind
            continue
        before = rest[:found.start()]
        if "=" in before or re.search(r"\bstatic\b", before) or rest[found.start():end] == "main":
            return None
        result = squeezed(before) if template else ""  # templates may differ only in their return type
        suffix = "const" if re.match(r"\s*const\b", rest[behind:]) else ""
        return f"{squeezed(template)}{result} {squeezed(rest[found.start():end])}({parameter_types(rest[opening.end():behind - 1])}){suffix}"
    return None


def variable_of(head):
    """The inline variable that the statement `head` defines, or None."""
    template, rest = template_head(head)
    declared = rest.partition("=")[0].partition("{")[0].rstrip()
    name = re.search(r"([\w:]+)\s*(?:\[[^\]]*\])*$", declared)
    if "(" in declared or not name or not re.search(r"\binline\b", declared):
        return None
    return name[1]


def definitions_in(text, where):
    """The definitions of a file at namespace scope, outside anonymous namespaces. `where` is its name."""
    text = without_literals(text)
    scopes = []  # the name of an open namespace, or None for anything else
    statement = depth = 0  # depth: of parentheses
    for found in re.finditer(r"[{}();]", text):
        if None in scopes and found[0] not in "{}":
            continue
        if found[0] in "()":
            depth += 1 if found[0] == "(" else -1
            continue
        head = text[statement:found.start()]
        line = text.count("\n", 0, found.start() - len(head.lstrip()) if head.strip() else found.start()) + 1
        place = f"{where}:{line}"
        path = "::".join(scope for scope in scopes if scope) + "::" if None not in scopes else ""
        if found[0] == "}":
            if not scopes:
                raise ValueError(f"{place}: a closing brace without an opening one")
            scopes.pop()
        elif found[0] == "{":
            namespace = re.match(r'\s*(?:inline\s+)?namespace\b\s*([\w:]*(?:::inline\s+\w+)?)\s*$', head)
            if None in scopes or depth:
                scopes.append(None)
            elif namespace:
                scopes.append(namespace[1] or None)
            elif re.match(r'\s*extern\s*""\s*$', head):
                scopes.append("")
            else:
                scopes.append(None)
                for kind, name in (("type", type_of(head)), ("function", function_of(head)), ("variable", variable_of(head))):
                    if name:
                        yield Definition(kind, path + name.strip(), place)
                        break
        elif depth == 0 and (name := variable_of(head)):
            yield Definition("variable", path + name, place)
        if found[0] != ";" or depth == 0:
            statement = found.end()
    if scopes:
        raise ValueError(f"{where}: {len(scopes)} braces are not closed")


def repeated(definitions):
    """(kind, name, places) for each name that is defined in two files or more."""
    places = {}
    for definition in definitions:
        places.setdefault(definition[:2], []).append(definition.where)
    for (kind, name), where in sorted(places.items()):
        if len({place.partition(":")[0] for place in where}) > 1:
            yield kind, name, where


# Two files. FOUND lists the names that the test must find in both.
PLANTED = ("""
namespace shoal { struct Module { int a; }; }
namespace shoal::internal { namespace { struct Hidden { int a; }; } /* struct Comment { */
struct Same { const char* text = "struct Text {"; int big = 1'000; };
enum class Kind : int { kA };
template <class T> struct Trait<T*> final : Base<T> { };
inline int Add(int a, int b = 2) { return a + b; }
int Overloaded(int a) { return a; }
static int Internal(int a) { return a; }
inline constexpr int kLimit = 3;
#if X
struct Chosen { };
#else
struct Other { };
#endif
struct Forward; using Alias = int;
Point::Point(int x) : x_{x}, y_(0) { struct Local { int z; }; }
}  // namespace shoal::internal
namespace shoal::internal::inner { struct Nested { }; }
""", """
namespace shoal::internal { namespace { struct Hidden { int b; }; }
struct Module { int b; };
struct Same { double other; };
enum class Kind : int { kB };
template <class T>
struct Trait<T *> final { };
constexpr int Add(int x, int y) { return x - y; }
int Overloaded(double a) { return a; }
static int Internal(int a) { return -a; }
inline constexpr int kLimit{4};
struct Other { }; struct Comment { }; struct Text { }; struct Local { }; struct Forward { };
using Alias = double;
Point::Point(int y) { }
namespace inner { struct Nested { }; }
}
""")
FOUND = ["Point::Point(int)", "Add(int,int)", "kLimit", "Kind", "Same", "Trait<T*>", "inner::Nested"]


def check_itself():
    found = {name for _, name, _ in repeated([d for i, text in enumerate(PLANTED) for d in definitions_in(text, f"{i}.h")])}
    expected = {f"shoal::internal::{name}" for name in FOUND}
    return [f"planted definition not found: {name}" for name in sorted(expected - found)] + [
        f"found {name}, which was not planted" for name in sorted(found - expected)]


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cc"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path, metavar="FOLDER", help="instead of src/ and what is linked with it")
    options = parser.parse_args()
    passed = failed = 0

    def count(check, problems):
        nonlocal passed, failed
        passed += not problems
        failed += bool(problems)
        if problems:
            print(f"FAILED {check}\n" + "".join(f"  {problem}\n" for problem in problems))

    count("the test finds the definitions planted in it", check_itself())
    known, broken = {}, []

    def definitions(folder):
        for path in sources(folder):
            if path not in known:
                name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
                try:
                    known[path] = list(definitions_in(path.read_text(encoding="utf-8"), name))
                except ValueError as error:
                    known[path] = []
                    broken.append(str(error))
            yield from known[path]

    main_folder, *others = options.folders or [ROOT / "src", *sorted(
        path for parent in ("tests", "tools", ".") for path in (ROOT / parent).iterdir()
        if path.name != "src" and (path / "CMakeLists.txt").exists() and sources(path))]
    own = list(definitions(main_folder))
    if not own:
        broken.append(f"{main_folder}: no definitions found")
    for kind in ("type", "function", "variable"):
        count(f"one definition of each {kind}", [f"{name}: {', '.join(where)}" for k, name, where in repeated(own) if k == kind])
    before = {name for _, name, _ in repeated(own)}
    for folder in others:
        count(f"one definition of each name in {folder.name}/ and {main_folder.name}/",
              [f"{name}: {', '.join(where)}" for _, name, where in repeated(own + list(definitions(folder))) if name not in before])
    count("every file can be read", broken)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
