"""Checks that no file has banned phrases or old names. The tables are in phrases.py and old_names.py."""
import bisect
import re

from old_names import OLD_NAMES
from phrases import OLD_PATTERNS, PHRASES
from sources import ROOT, cpp_files, line_at, name_of, text_of, tokens

# These files quote banned phrases and old names.
QUOTING = ("tests/structure/phrases.py", "tests/structure/old_names.py", "docs/schema/CHANGES.md", "docs/glossary.md",
           "tools/json_versions.py")
STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
PYTHON = re.compile(rf'(?P<comment>#[^\n]*|""".*?""")|{STRING}', re.S)
TYPESCRIPT = re.compile(rf"//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|{STRING}", re.S)
COMMENT_MARK = re.compile(r"(?:^|(?<=[ \0]))(?:///?|/\*+|\*+/?|#+)(?= |$)")


def files(folder, *suffixes):
    return sorted(path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix in suffixes)


def prose_files():
    """(path, spans of its comments and strings) of every file whose English is checked."""
    for path in (path for folder in ("src", "bench", "tools") for path in cpp_files(ROOT / folder)):
        yield path, [span for kind, *span in tokens(path) if kind != "character"]
    for path in files("viewer/src", ".ts"):
        yield path, [found.span() for found in TYPESCRIPT.finditer(text_of(path))]
    for path in (path for folder in ("tests", "bench", "tools") for path in files(folder, ".py")):
        # Strings of tests may be expected outputs.
        is_test = ROOT / "tests" in path.parents
        yield path, [found.span() for found in PYTHON.finditer(text_of(path)) if found["comment"] or not is_test]
    for path in [*sorted(ROOT.glob("*.md")), *files("docs", ".md", ".json"), *files("viewer/src", ".css"),
                 *files("src", ".md", ".txt", ".cmake", ".dag", ".proto"), *files("bench", ".txt", ".json"),
                 *files("tools", "", ".sh", ".txt")]:
        yield path, [(0, len(text_of(path)))]


def prose_of(text, spans):
    """The text of `spans`, in lower case and on one line, with NULs for the rest; and the start of each line in it."""
    pieces, end = [], 0
    for start, after in spans:
        pieces += [re.sub(r"\S+", "\0", text[end:start]), text[start:after]]
        end = after
    lines = "".join([*pieces, re.sub(r"\S+", "\0", text[end:])]).lower().replace("\\n", "  ").split("\n")
    lines = [COMMENT_MARK.sub("", line.strip()) for line in lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return re.sub(r'"( +)"', r" \1 ", " ".join(lines)), starts  # joins adjacent string literals


def check_phrases(_):
    """Comments, strings and documents have none of the phrases of phrases.py."""
    pattern = re.compile(r"\b(?:" + "|".join(f"({phrase.replace(' ', ' +')})" for phrase in PHRASES) + r")\b")
    suggestions = list(PHRASES.values())
    problems = []
    for path, spans in prose_files():
        if name_of(path) in QUOTING:
            continue
        prose, starts = prose_of(text_of(path), spans)
        for found in pattern.finditer(prose):
            phrase = re.sub(" +", " ", found[0])
            place = f"{name_of(path)}:{bisect.bisect(starts, found.start())}"
            problems.append(f'{place}: "{phrase}": {suggestions[found.lastindex - 1]}')
    return problems


def check_names(_):
    """No file has a name that is in old_names.py or matches one of OLD_PATTERNS."""
    pattern = re.compile(r"\b(?:" + "|".join([r"k?[A-Z][a-z]+[A-Z]\w*", *OLD_PATTERNS]) + r")\b")
    problems = []
    paths = [*(path for path, _ in prose_files()), *cpp_files(ROOT / "tests")]
    for path in (path for path in paths if name_of(path) not in QUOTING):
        for name in set(pattern.findall(text_of(path))):
            new = OLD_NAMES.get(name) or next((new for old, new in OLD_PATTERNS.items() if re.fullmatch(old, name)), "")
            problems += [f"{name_of(path)}:{line_at(text_of(path), found.start())}: {name}: {new}"
                         for found in (re.finditer(rf"\b{name}\b", text_of(path)) if new else ())]
    return problems
