"""The names that changed between version 1 and version 2 of shoal's outputs, and the parts of an output that vary.

tools/same_outputs.py uses these tables to compare a binary that writes version 1 with one that writes version 2.
docs/schema/CHANGES.md describes the changes for users.

A path is written as in "$.collectives[].overlap.flops", without "$.". In a pattern, "*" stands for any text. The tables
are by command; those under "*" apply to every command.
"""
import functools
import re

# Options, values of options and names of passes: old to new.
WORDS = {
    "--max_steps": "--max_instructions",
    "--topology": "--groups",
    "double-windows": "decompose-reduce-windows",
    "keep-shared": "sink-per-device-values",
    "expand-short-rows": "unroll-short-reductions",
    "read-before-write": "order-reads-before-writes",
    "run.defect": "run.internal",
    "device.matrix_share": "device.matrix_efficiency",
    "device.memory_share": "device.memory_efficiency",
    "device.launch": "device.launch_overhead",
    "device.host_start": "device.step_overhead",
    "node.link_share": "node.link_efficiency",
    "node.sums_in_switch": "node.in_switch_reduction",
    "cluster.nic_share": "cluster.nic_efficiency",
    "torus.link_share": "torus.link_efficiency",
    "torus.wraps_from": "torus.min_ring_size",
}

# Path in version 1 to the new name of its last key.
KEYS = {
    "comm": {
        "joins": "participants",
        "collectives[].joins": "participants",
        "collectives[].overlap.around_loop": "crosses_iteration",
        "loops[].trips": "trip_count",
    },
    "compare": {"outputs[].put_together": "reassembled_by"},
    "diff": {"figures": "metrics", "thresholds[].figure": "metric"},
    "machines": {"machines[].figures": "parameters"},
    "mem": {"held_at_peak": "live_at_peak", "over_time": "timeline", "backend.why": "reason"},
    # The data of a page, as tools/page_data.py reads them.
    "report": {
        "sections.a.joins": "a.participants",
        "sections.b.joins": "b.participants",
        "sections.*.comm.joins": "participants",
        "sections.*.comm.alike": "group",
        "sections.*.comm.across_ring": "inter_node_ring",
        "sections.*.comm.across_direct": "inter_node_direct",
        "sections.*.words": "label",
    },
    "run": {
        "loops[].entered": "executions",
        "loops[].rounds": "iterations",
        "branches[].of": "executions",
        "numerics.why": "reason",
    },
    "stats": {
        "unreadable[].why": "reason",
        "other_files.without ending": "without extension",
        "modules[].stage_changes[].changes.plumbing": "forwarding",
        "modules[].stage_changes[].changes.follows": "propagated",
    },
    "time": {"*ops[].terms[].from": "basis", "[].terms[].from": "basis"},
}

KERNELS = {
    "row tiles": "Triton rows",
    "column tiles": "Triton columns",
    "library product": "library GEMM",
    "tiled product": "Triton GEMM",
    "copy by the driver": "driver copy",
    "copy to or from the host": "host copy",
}
AXES = {"each to itself": "each device to itself", "each by itself": "groups of 1"}

# Path in version 1 to the new values of an enumeration or a label.
VALUES = {
    "*": {"version": {1: 2}, "error.rule": WORDS, "*diagnostics[].rule": WORDS},
    "comm": {"*axis": AXES, "by_axis[].name": AXES},
    "diff": {
        "changes[].kind": {"plumbing": "forwarding", "follows": "propagated"},
        "changes[].after": {"other values": "different values"} | AXES,
        "changes[].before": AXES,
    },
    "show": {"*items[].kind": {"light": "minor"}, "*axis": AXES},
    "time": {
        "*schedule": {"ours": "estimated", "the module's": "module"},
        "*axis": AXES,
        "*kernel": KERNELS,
        "*algorithm": {"measured on groups around it": "measured, interpolated between group sizes"},
    },
}

# Lists sorted by a number, largest first, then by a label that VALUES renames.
SORTED = {"comm": {"by_axis[]": ("wire_bytes_direct", "name")}}

# Sentences, at their paths in version 2. Only their presence and number are compared.
SENTENCES = {
    "*": ["error.message", "*diagnostics[].message", "assumptions[]"],
    "comm": ["devices.from"],
    "compare": ["a", "b", "inputs", "notes[]", "outputs[].reassembled_by"],
    "machines": ["machines[].description", "machines[].parameters.*.source"],
    "mem": ["backend.reason"],
    "run": ["devices.from", "inputs", "numerics.reason"],
    "show": ["devices.from"],
    "stats": ["unreadable[].reason"],
    "time": ["*warnings[]", "*terms[].basis"],
}

# Measured times, at their paths in version 2.
TIMES = {"run": ["seconds", "compile_seconds", "run_seconds[]"]}


@functools.cache
def pattern(text):
    return re.compile(re.escape(text).replace(r"\*", ".*"))


def entries(table, command):
    """The entries of a table that apply to a command, with their patterns."""
    for name in ("*", command):
        rows = table.get(name, ())
        yield from rows.items() if isinstance(rows, dict) else ((row, True) for row in rows)


@functools.cache
def found(table_name, command, path):
    """The entry of a table for a path, or None."""
    for text, entry in entries(globals()[table_name], command):
        if pattern(text).fullmatch(path):
            return entry
    return None


def new_key(command, path, key):
    """The key in version 2 for the key `key` at `path` in version 1."""
    parameter = WORDS.get(key) if command in ("machines", "time") else None
    return found("KEYS", command, path) or parameter or key


def upgraded(value, command, path=""):
    """A JSON value of version 1 with the names of version 2."""
    if isinstance(value, dict):
        at = {key: f"{path}.{key}" if path else key for key in value}
        return {new_key(command, at[key], key): upgraded(each, command, at[key]) for key, each in value.items()}
    if isinstance(value, list):
        items = [upgraded(each, command, path + "[]") for each in value]
        if keys := found("SORTED", command, path + "[]"):
            items.sort(key=lambda item: (-item[keys[0]], item[keys[1]]))
        return items
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return (found("VALUES", command, path) or {}).get(value, value)
    return value


def masked(value, command, path=""):
    """A JSON value of version 2 without sentences and measured times."""
    if isinstance(value, dict):
        return {key: masked(each, command, f"{path}.{key}" if path else key) for key, each in value.items()}
    if isinstance(value, list):
        return [masked(each, command, path + "[]") for each in value]
    if isinstance(value, str) and value and found("SENTENCES", command, path):
        return "(a sentence)"
    if isinstance(value, (int, float)) and found("TIMES", command, path):
        return "(a time)"
    return value


def spelled(text, version):
    """A command line, or a text with names of passes, in the spelling of a version."""
    words = WORDS if version > 1 else {new: old for old, new in WORDS.items()}
    every = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.sub(rf"(?<![\w.-])(?:{every})(?![\w-])", lambda match: words[match[0]], text)
