"""Checks that only cli prints, ends the process, handles signals, reads the environment or keeps mutable global state."""
import functools
import re

from one_definition import type_of
from sources import SRC, bare_code_of, cpp_files, line_at

# The exceptions: the calls and variables of a file, and the reason.
SCRATCH = "scratch memory of each thread, kept between calls because its allocation takes longer than a small input"
ALLOWED = {
    "analyze/cost/curves.cc": ("mutex parsed", "measured curves of devices, each parsed at its first use under a mutex and "
                               "constant from then on"),
    "compile/codegen/load.cc": ("mutex loaded", "the code generator's library is loaded once and stays loaded"),
    "compile/codegen/object_code.cc": ("getenv", "SHOAL_DUMP_IR prints LLVM IR, for developers of the code generator"),
    "compile/library/dot.cc": ("offsets", SCRATCH),
    "core/base/check.h": ("abort fprintf", "SHOAL_CHECK: a bug in shoal, after which no result can be trusted"),
    "core/base/task_log.cc": ("getenv is_inside_task", "SHOAL_TASK_LOG records the tasks of a run, for bench/scaling.py; this "
                              "thread runs a recorded task"),
    "core/base/files.cc": ("unfinished count", "a signal handler in cli deletes unfinished files and can reach only "
                           "globals; the counter makes the names of temporary files unique"),
    "core/base/source.cc": ("isatty", "a terminal has an end, other devices may have none"),
    "execute/collectives/process_link.cc": ("runs", "numbers the runs of a process, so that their messages do not mix"),
    "execute/runtime/sequence.cc": ("getenv", "SHOAL_CHECK_PLAN lets tests compare plans whose values share memory with others"),
    "execute/transport/mpi.cc": ("fprintf", "MPI calls this error handler and then ends all processes of the job"),
    "execute/transport/load.cc": ("getenv", "MPI launchers pass rank and job size in environment variables"),
    "execute/transport/peers.cc": ("open_sockets open_count is_interrupted",
                                   "a signal handler in cli notifies the other processes and can reach only globals"),
    "kernels/algorithms/lane_fft.cc": ("mutex cache spares", "twiddle factors, which cost more than the transforms, are "
                                       "cached by length under a mutex; spares are " + SCRATCH),
    "kernels/arrays/block_cache.cc": ("blocks", "one cache of large blocks, never destroyed, so that it outlives every array"),
    "kernels/arrays/buffer.cc": ("meter_of_this_thread small_blocks", "the meter that this thread's allocations are charged "
                                 "to, and its cache of small blocks"),
    "kernels/arrays/floats.cc": ("flags tables counts", "lookup tables, each built once under a once_flag and constant from then "
                                 "on, when enough elements were counted"),
    "kernels/elementwise/lane_function.cc": ("workspace", SCRATCH),
    "kernels/linalg/blas_memory.cc": ("is_checked", "this thread has checked that OpenBLAS can allocate its buffer"),
    "kernels/linalg/onednn.cc": ("is_set stream block size matmuls", "OpenMP's number of threads, oneDNN's stream, its scratch "
                                 "memory and the products that the thread has prepared belong to a thread"),
    "kernels/linalg/panel_gemm.cc": ("panel", SCRATCH),
    "kernels/linalg/small_gemm.cc": ("packed", SCRATCH),
}

CALL = re.compile(r"""(?<![.\w>:])(?:std::|::)?(_?exit|_Exit|quick_exit|at_quick_exit|atexit|abort|terminate|signal|sigaction
    |sigprocmask|pthread_sigmask|raise|set_new_handler|set_terminate|isatty|(?:secure_)?getenv|(?:un)?setenv|putenv|v?f?printf|f?puts|f?putc|putchar|perror
    |cout(?=\s*<<)|cerr(?=\s*<<))\s*(?:\(|<<)""", re.X)
NO_VARIABLE = re.compile(r"(?:using|typedef|friend|static_assert|extern|class|struct|enum|union|namespace|concept|template|return|"
                         r"goto|case|requires|asm|else|do)\b|.*\boperator\b", re.S)


def declarators(declaration):
    """The declarators of `type a = 1, b`, split at the commas outside brackets. The first one has the type."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(declaration + ","):
        depth += (c in "(<[{") - (c in ")]}" or (c == ">" and declaration[i - 1] != "-"))
        if c == "," and depth <= 0:
            parts.append(declaration[start:i])
            start = i + 1
    return parts or [declaration]


def mutable_variables(head, scope):
    """The mutable variables with static storage that the statement `head` declares. `scope`: namespace, type or body."""
    head = re.sub(r"^(?:\s|\[\[.*?\]\]|__attribute__\s*\(\(.*?\)\)|(?:public|private|protected|default)\s*:(?!:))+", "", head)
    storage = re.match(r"(?:(?:static|thread_local|inline|constinit)\s+)*", head)[0]
    if scope != "namespace" and not re.search(r"static|thread_local", storage):
        return []
    rest = head[len(storage):]
    if NO_VARIABLE.match(rest) or re.search(r"\b(?:constexpr|consteval)\b", rest):
        return []
    first, *others = declarators(rest)
    declared = first.partition("=")[0]
    while declared != (flat := re.sub(r"<[^<>]*>", "", declared)):
        declared = flat
    if "(" in declared:
        if scope != "body":  # a function
            return []
        declared = declared.partition("(")[0]
    is_const = re.search(r"\bconst\b", declared) and (
        scope == "body" and "thread_local" not in storage or re.search(r"\bconst\b[^*]*$", declared))
    names = [re.match(r"[\w:]+[\s\w:*&]*[\s*&](\w+)\s*(?:\[.*)?$", declared.strip(), re.S)]
    if is_const or names[0] is None:
        return []
    return [names[0][1]] + [found[1] for other in others if (found := re.match(r"[\s*&]*(\w+)", other))]


def blank(found):
    return "\n" * found[0].count("\n")


def state_in(text):
    """(name, line) of each mutable variable with static storage. Of #if … #else, only the first branch counts."""
    text = re.sub(r"^[ \t]*#[ \t]*(?:else|elif)\b.*?^[ \t]*#[ \t]*endif", blank, text, flags=re.M | re.S)
    text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", blank, text, flags=re.M)
    scopes, scope, start, depth = [], "namespace", 0, 0
    for found in re.finditer(r"[{}();]", text):
        bracket = found[0]
        if bracket in "()":
            depth += 1 if bracket == "(" else -1
            continue
        if bracket == ";" and depth > 0:
            continue
        if bracket != "}":
            head = text[start:found.start()]
            inner = ("namespace" if re.match(r'\s*(?:inline\s+)?(?:namespace\b[\s\w:]*|extern\s*"")\s*$', head)
                     else "type" if scope != "body" and type_of(head) else "body") if bracket == "{" else None
            if inner in (None, "body") and (scope == "namespace" or "static" in head or "thread_local" in head):
                for name in mutable_variables(head, scope):
                    yield name, line_at(text, found.start())
            if inner:
                scopes.append((scope, depth))
                scope, depth = inner, 0
        elif scopes:
            scope, depth = scopes.pop()
        start = found.end()


PLANTED = """
#define MACRO static int in_macro;
namespace shoal::internal { namespace {
constexpr int kA = 1; const char* const kB = ""; const std::array<int, 2> kC{1, 2}; int Function(int a);
std::atomic<int> found_a = 0, found_b{1}; const char* found_c = ""; thread_local std::vector<int> found_d;
std::array<std::atomic<const char*>, 4> found_e; extern int declared; std::function<void(int)> found_f;
struct S { static int Make(); static std::atomic<int> found_g; static constexpr int kD = 1; int member = 0; } ;
}
void Run(int x) {
  static const int kE = x; static const auto* kF = new int(x); static int found_h = 0; int local = 0;
  Call([&] { thread_local Stream found_i(x); static std::mutex found_j; }, {local});
  static S& found_k = *new S();
}
}
"""


def check_scanner(_):
    """This test finds the mutable variables planted in it, and no others."""
    expected = [f"found_{c}" for c in "abcdefghijk"]
    found = [name for name, _ in state_in(PLANTED)]
    return [] if sorted(found) == expected else [f"found {' '.join(found)}"]


@functools.cache
def found_state():
    """{file: {call or variable: line}} outside cli."""
    result = {}
    for path in cpp_files(SRC):
        name = path.relative_to(SRC).as_posix()
        if name.startswith("cli/") or path.suffix == ".def":
            continue
        code = bare_code_of(path)
        if state := dict([(found[1], line_at(code, found.start())) for found in CALL.finditer(code)] + list(state_in(code))):
            result[name] = state
    return result


def check_process_state(_):
    """Outside cli nothing prints, exits, handles signals, reads the environment or keeps mutable globals, except ALLOWED."""
    problems = []
    for name, state in found_state().items():
        allowed = ALLOWED.get(name, ("", ""))[0].split()
        problems += [f"src/{name}:{line}: {what}: move it to cli, or give the reason in ALLOWED (process_state.py)"
                     for what, line in state.items() if what not in allowed]
    for name, (whats, _) in ALLOWED.items():
        problems += [f"src/{name} has no {what} any more: remove it from ALLOWED (process_state.py)"
                     for what in whats.split() if what not in found_state().get(name, ())]
    return problems


# What starts a thread or opens a file, and the only files that do: all others use their functions, which handle failure.
RESOURCES = {
    "starts a thread: use StartThread (core/base/threads.h)":
        (re.compile(r"std::j?thread\s*[({]\s*[^)}\s]|std::thread\b(?!::)|std::async\b|\bpthread_create\s*\("), ("core/base/threads.h", "api/cpp/execute.cc", "api/cpp/execute_state.h")),
    "opens a file: use OpenForReading or WriteFile (core/base/files.h)":
        (re.compile(r"(?<![\w.>])(?:::)?(?:fopen\s*\(|open(?:at)?\s*\([^;]*\bO_)|std::[io]?fstream\b"),
         ("core/base/files.cc", "core/base/read_files.cc", "core/base/host_memory.cc", "cli/commands/job.cc",
          "cli/commands/output.cc", "serve/mcp/allowed_folders.cc", "compile/codegen/object_cache.cc")),
    "maps a file: a mapped page of a truncated file ends the process":
        (re.compile(r"\bmmap\s*\((?![^;]*MAP_ANONYMOUS)"), ("execute/transport/job.cc", "execute/transport/mpi.cc")),
}


def check_resources(_):
    """Only the functions that handle failure start threads and open files, and no file is mapped."""
    problems = []
    for path in cpp_files(SRC):
        name, code = path.relative_to(SRC).as_posix(), bare_code_of(path)
        for what, (pattern, allowed) in RESOURCES.items():
            problems += [f"src/{name}:{line_at(code, found.start())} {what}" for found in pattern.finditer(code) if name not in allowed]
    return problems
