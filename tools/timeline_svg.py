#!/usr/bin/env python3
"""Draws a trace of `shoal time --trace` as SVG: tools/timeline_svg.py TRACE.json [TITLE] > picture.svg

There is one row for each stream of each device with events. Matmuls are blue, memory-bound kernels green, collectives
orange, waiting times red, and omitted iterations of a loop grey.
"""
import html
import json
import sys

COLORS = {"matrix": "#3b76c4", "memory": "#4aa564", "communication": "#e08a2e", "exposed": "#cc3d3d", "copy": "#8a63b5", "loop": "#d8d8d8"}
WIDTH, LEFT, ROW = 1000, 190, 34


def main(path, title=""):
    events = json.load(open(path, encoding="utf-8"))["traceEvents"]
    streams = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    devices = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    names = {row: (f"{devices[row[0]]}: " if len(devices) > 1 else "") + name for row, name in streams.items()}
    drawn = [e for e in events if e["ph"] == "X"]
    end = max((e["ts"] + e["dur"] for e in drawn), default=1) or 1
    rows = sorted({(e["pid"], e["tid"]) for e in drawn})
    height = ROW * len(rows) + 70
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">')
    print(f'<rect width="{WIDTH}" height="{height}" fill="white"/><text x="10" y="20" font-size="14">{html.escape(title)}</text>')
    for i, row in enumerate(rows):
        y = 34 + i * ROW
        print(f'<text x="10" y="{y + 17}">{html.escape(names.get(row, str(row)))}</text>')
        for e in drawn:
            if (e["pid"], e["tid"]) != row:
                continue
            x, w = LEFT + (WIDTH - LEFT - 10) * e["ts"] / end, max(.5, (WIDTH - LEFT - 10) * e["dur"] / end)
            print(f'<rect x="{x:.1f}" y="{y}" width="{w:.1f}" height="24" fill="{COLORS.get(e["cat"], "#999")}" stroke="white" stroke-width="0.3">'
                  f'<title>{html.escape(e["name"])}: {e["dur"]:.1f} us</title></rect>')
            if w > 60:
                print(f'<text x="{x + 4:.1f}" y="{y + 16}" font-size="10" fill="{"black" if e["cat"] == "loop" else "white"}">{html.escape(e["name"][:int(w / 6)])}</text>')
    y = 34 + len(rows) * ROW + 14
    print(f'<text x="{LEFT}" y="{y}">0</text><text x="{WIDTH - 10}" y="{y}" text-anchor="end">{end / 1e3:.3f} ms</text>')
    print("</svg>")


if __name__ == "__main__":
    main(*sys.argv[1:])
