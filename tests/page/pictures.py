#!/usr/bin/env python3
"""Creates the pictures of README.md and docs/report.md from modules in the folder SHARED.

    tests/page/pictures.py SHARED [--bin build/shoal] [--out docs/pictures] [--only NAME]
"""

import argparse
import base64
import glob
import json
import os
import struct
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as devtools  # noqa: E402
from checks import ROOT, write_page  # noqa: E402

TRANSFORMER, MIXTRAL, TRACED = "golden/gpu8/transformer_tp.hlo", "corpus/xla/*mixtral_8x7b_bf16_2x8.hlo", "golden/h200_traces/transformer_train_d512_f32.hlo"

# name, module, options, address, dark, keys
PICTURES = [
    ("overview", TRANSFORMER, ["--on=h200x8"], "overview", False, ""),
    ("program", TRANSFORMER, ["--on=h200x8", "--budget=80GB"], "program&i=region_0.5_spmd/all-reduce-start.4", False, ""),
    ("timeline", TRANSFORMER, ["--on=h200x8"], "timeline&i=region_0.5_spmd/all-reduce-start.4&z=0.0004-0.0026", False, ""),
    ("measured", TRACED, ["--on=h200", "--trace={trace}"], "timeline&z=0-0.001", True, ""),
    ("memory", MIXTRAL, ["--on=h100x8x2", "--budget=80GB"], "memory", True, ""),
    ("communication", MIXTRAL, [], "communication", False, "ArrowDown"),
    ("cost", TRANSFORMER, ["--on=h200x8"], "cost", False, ""),
    ("graph", TRANSFORMER, ["--on=h200x8"], "graph", False, "ArrowRight"),
    ("two", "golden/gpu8/transformer_dp.hlo", ["{folder}/transformer_fsdp.hlo", "--on=h200x8"], "program", False, ""),
]

# Colours with a meaning are kept, even if few pixels have them.
KEPT = """#1450be #c9400c #1f836b #3d4047 #6b1e7a #0b5cad #b3261e #86b6f2 #f56a30 #8cf0d4 #8f8c7c #d65cf5 #78b7ff #ff8a80
  #57606a #a0a9b6 #1b1f24 #e6eaf0""".split()
# Reduces a picture to 256 colours: the kept ones and the most frequent ones. Other pixels get the nearest of them.
REDUCE = """(async () => {
  const image = await createImageBitmap(await (await fetch('data:image/png;base64,%s')).blob());
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const kept = %s.map(hex => parseInt('ff' + hex.slice(5) + hex.slice(3, 5) + hex.slice(1, 3), 16)).filter(color => counts.has(color));
  const palette = [...new Set([...kept, ...[...counts].sort((a, b) => b[1] - a[1]).map(each => each[0])])].slice(0, 256);
  const parts = color => [color & 255, color >> 8 & 255, color >> 16 & 255];
  const chosen = palette.map(parts);
  const nearest = new Map(palette.map((color, i) => [color, i]));
  for (const color of counts.keys()) if (!nearest.has(color)) {
    const [r, g, b] = parts(color);
    let best = 0, min = Infinity;
    chosen.forEach(([x, y, z], i) => { const distance = (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2; if (distance < min) { min = distance; best = i; } });
    nearest.set(color, best);
  }
  let out = '';
  for (const pixel of pixels) out += String.fromCharCode(nearest.get(pixel));
  return { width: image.width, height: image.height, palette: chosen, pixels: btoa(out) };
})()"""


def compress(browser, path):
    """Rewrites a PNG with a palette, which halves its size without visible differences."""
    page = browser.page(200, 200)
    with open(path, "rb") as file:
        reduced = page.js("await " + REDUCE % (base64.b64encode(file.read()).decode(), json.dumps(KEPT)))
    page.close()
    width, pixels = reduced["width"], base64.b64decode(reduced["pixels"])
    rows = b"".join(b"\0" + pixels[at:at + width] for at in range(0, len(pixels), width))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, reduced["height"], 8, 3, 0, 0, 0))
                   + chunk(b"PLTE", bytes(part for color in reduced["palette"] for part in color)) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def main():
    """Takes each picture in a window of 1280 by 800 pixels."""
    parser = argparse.ArgumentParser()
    parser.add_argument("shared")
    parser.add_argument("--bin", default="build/shoal")
    parser.add_argument("--out", default=os.path.join(ROOT, "docs", "pictures"))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    app = devtools.Browser(devtools.find())
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, module, arguments, address, dark, keys in PICTURES:
                file = sorted(glob.glob(os.path.join(options.shared, module)))[0]
                if options.only not in name:
                    continue
                more = [each.format(trace=file[:-4] + ".trace.json.gz", folder=os.path.dirname(file)) for each in arguments]
                os.makedirs(options.out, exist_ok=True)
                out, path = os.path.join(folder, "page.html"), os.path.join(options.out, name + ".png")
                write_page(options, [file], out, *more)
                page = app.page(1280, 800, dark)
                page.open(out, address)
                for key in keys.split():
                    page.key(key)
                page.settled()
                page.settled()
                page.picture(path)
                page.close()
                compress(app, path)
                print(json.dumps({"picture": name, "bytes": os.path.getsize(path)}))
    finally:
        app.close()


if __name__ == "__main__":
    main()
