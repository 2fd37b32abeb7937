"""Reads the data embedded in a page of `shoal report`; docs/report.md describes the format."""
import base64
import gzip
import json
import re
import struct
import zlib

SIZES = {"u8": 1, "u16": 2, "u32": 4, "i32": 4, "f64": 8}
EXACT = ("text",)  # sections of strings that are HLO; the other strings include sentences


def aligned(at):
    return (at + 7) // 8 * 8


def column_end(data, at, column):
    if column["type"] != "str":
        return at + column["count"] * SIZES[column["type"]]
    for _ in range(column["count"]):
        at = data.index(b"\0", at) + 1
    return at


def columns_of(section, data):
    """Type, number of values and checksum of each column; strings that may be sentences have no checksum."""
    columns, at = {}, 0
    for column in section["columns"]:
        at = aligned(at)
        end = column_end(data, at, column)
        compared = column["type"] != "str" or section["name"].endswith(EXACT)
        columns[column["name"]] = [column["type"], column["count"], zlib.crc32(data[at:end]) if compared else None]
        at = end
    return columns


def page_data(html):
    """The version, the files and the columns of each section."""
    text = re.search(rb'<script type="application/octet-stream" id="?shoal-data"?>([^<]*)', html)[1]
    data = base64.b64decode(text)
    assert data.startswith(b"SHOAL\0"), "the page has no data"
    version, size = struct.unpack_from("<HI", data, 6)
    directory = json.loads(data[12:12 + size])
    start = aligned(12 + size)
    sections = {}
    for section in directory["sections"]:
        packed = data[start + section["at"]:start + section["at"] + section["bytes"]]
        sections[section["name"]] = columns_of(section, gzip.decompress(packed))
    return {"version": version, "files": directory["files"], "sections": sections}
