"""Unpacks and repacks the data of a page, to generate damaged, newer or very large pages."""

import array
import base64
import gzip
import json
import struct
import zlib


def unpack(data):
    """(version, directory, {name: raw bytes})"""
    raw = base64.b64decode(data)
    assert raw[:6] == b"SHOAL\0"
    version, size = struct.unpack_from("<HI", raw, 6)
    directory = json.loads(raw[12:12 + size])
    base = (12 + size + 7) // 8 * 8
    sections = {each["name"]: gzip.decompress(raw[base + each["at"]:base + each["at"] + each["bytes"]]) for each in directory["sections"]}
    return version, directory, sections


def pack(version, directory, sections):
    packed, entries = b"", []
    for entry in directory["sections"]:
        packed += b"\0" * (-len(packed) % 8)
        zipped = gzip.compress(sections[entry["name"]], 6)
        entries.append(dict(entry, at=len(packed), bytes=len(zipped), raw_bytes=len(sections[entry["name"]]), crc=zlib.crc32(zipped)))
        packed += zipped
    text = json.dumps(dict(directory, sections=entries)).encode()
    head = b"SHOAL\0" + struct.pack("<HI", version, len(text)) + text
    head += b"\0" * (-len(head) % 8)
    return base64.b64encode(head + packed).decode()


def with_version(data, version):
    raw = bytearray(base64.b64decode(data))
    struct.pack_into("<H", raw, 6, version)
    return base64.b64encode(bytes(raw)).decode()


def with_flipped_byte(data):
    """Flips one bit in the section a.instr, which every view needs."""
    raw = bytearray(base64.b64decode(data))
    size, = struct.unpack_from("<I", raw, 8)
    directory = json.loads(raw[12:12 + size])
    entry = next(each for each in directory["sections"] if each["name"] == "a.instr")
    raw[(12 + size + 7) // 8 * 8 + entry["at"] + entry["bytes"] // 2] ^= 1
    return base64.b64encode(bytes(raw)).decode()


def columns_of(entry, raw):
    """{name: (type, bytes of the column, count)}"""
    sizes = {"u8": 1, "u16": 2, "u32": 4, "i32": 4, "f64": 8}
    at, out = 0, {}
    for column in entry["columns"]:
        at = (at + 7) // 8 * 8
        if column["type"] == "str":
            end = at
            for _ in range(column["count"]):
                end = raw.index(b"\0", end) + 1
        else:
            end = at + column["count"] * sizes[column["type"]]
        out[column["name"]] = (column["type"], raw[at:end], column["count"])
        at = end
    return out


def section(columns):
    """(columns of the directory entry, raw bytes) for {name: (type, bytes, count)}"""
    raw, entries = b"", []
    for name, (kind, data, count) in columns.items():
        raw += b"\0" * (-len(raw) % 8) + data
        entries.append({"name": name, "type": kind, "count": count})
    return entries, raw


def numbers(kind, values):
    codes = {"u8": "B", "u32": "I", "i32": "i", "f64": "d"}
    values = array.array(codes[kind], values)
    return kind, values.tobytes(), len(values)


def with_many(html, slices, rows):
    """The page with an additional trace of `slices` slices and `rows` additional top-level rows."""
    start = html.index("id=shoal-data>") + len("id=shoal-data>")
    end = html.index("</script>", start)
    version, directory, sections = unpack(html[start:end])
    entries = {each["name"]: each for each in directory["sections"]}
    lanes = 8
    each = slices // lanes
    about = json.dumps({"name": "generated", "predicted": False, "devices": ["device 0"], "streams": [f"stream {i}" for i in range(lanes)]})
    trace = {"json": ("str", about.encode() + b"\0", 1), "labels": ("str", b"one\0two\0three\0", 3),
             "lane_device": numbers("u32", [0] * lanes), "lane_stream": numbers("u32", range(lanes)), "lane_end": numbers("u32", [(i + 1) * each for i in range(lanes)]),
             "start": numbers("f64", [i * 1e-6 for _ in range(lanes) for i in range(each)]), "duration": numbers("f64", [(3 + i * 7 % 6) * 1e-7 for _ in range(lanes) for i in range(each)]),
             "instr": numbers("i32", [-1] * (each * lanes)), "label": numbers("u32", [i % 3 for i in range(each * lanes)]), "kind": numbers("u8", [i * 2654435761 % 5 for i in range(each * lanes)]),
             "flow_from": numbers("u32", []), "flow_to": numbers("u32", [])}
    columns, raw = section(trace)
    directory["sections"].append({"name": "a.trace.9", "columns": columns})
    sections["a.trace.9"] = raw
    # Adds copies of the last instruction of the page, each with its own row.
    entry = entries["a.instr"]
    instr = columns_of(entry, sections["a.instr"])
    count = instr["computation"][2]
    more = rows
    sizes = {"u8": 1, "u32": 4, "i32": 4, "f64": 8}
    grown = {}
    for name, (kind, data, n) in instr.items():
        if name == "name":
            grown[name] = (kind, data + b"".join(b"more.%d\0" % i for i in range(more)), n + more)
        elif name in ("operand_back", "call"):
            grown[name] = (kind, data, n)
        elif name in ("operand_end", "call_end"):
            grown[name] = (kind, data + data[-4:] * more, n + more)
        else:
            grown[name] = (kind, data + data[-sizes[kind]:] * more, n + more)
    entry["columns"], sections["a.instr"] = section(grown)
    program = columns_of(entries["a.rows"], sections["a.rows"])
    last = struct.unpack("<I", program["member_end"][1][-4:])[0]
    flat = {"kind": numbers("u8", [0] * more), "parent": numbers("i32", [-1] * more), "label": numbers("u32", [0] * more), "repeats": numbers("u32", [1] * more),
            "member_end": numbers("u32", range(last + 1, last + more + 1)), "member": numbers("u32", range(count, count + more))}
    entries["a.rows"]["columns"], sections["a.rows"] = section({name: (kind, data + flat[name][1], n + flat[name][2]) for name, (kind, data, n) in program.items()})
    computations = columns_of(entries["a.computations"], sections["a.computations"])
    kind, data, n = computations["instructions"]
    sizes_of = list(struct.unpack(f"<{n}I", data))
    sizes_of[-1] += more
    computations["instructions"] = numbers("u32", sizes_of)
    entries["a.computations"]["columns"], sections["a.computations"] = section(computations)
    text = columns_of(entries["a.text"], sections["a.text"])["lines"][1][:-1] + b"".join(b"more.%d = f32[] add()\n" % i for i in range(more))
    entries["a.text"]["columns"], sections["a.text"] = section({"lines": ("str", text + b"\0", 1)})
    return html[:start] + pack(version, directory, sections) + html[end:]


def with_unknown(data):
    """Adds a section and a column that the viewer does not know."""
    version, directory, sections = unpack(data)
    columns, raw = section({"text": ("str", b"text\0", 1), "numbers": numbers("f64", [1, 2])})
    directory["sections"].append({"name": "a.from_the_future", "columns": columns})
    sections["a.from_the_future"] = raw
    entry = next(each for each in directory["sections"] if each["name"] == "a.steps")
    entry["columns"], sections["a.steps"] = section(dict(columns_of(entry, sections["a.steps"]), more=numbers("u8", [1, 2, 3])))
    return pack(version, directory, sections)
