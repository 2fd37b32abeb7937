#!/usr/bin/env python3
"""Programs of JAX 0.4.13 to 0.10, TensorFlow 2.21 as their compilers wrote them: tests/producers/run.py [--bin PATH].

X.before.hlo and X.after.hlo are the texts of program X, and .hlo.pb its protobufs, both gzipped. Text and protobuf must
agree, shoal must reproduce the producer's outputs from its inputs, and find both stages equal. tools/producers/run.py
does the same with programs that it compiles itself.
"""
import argparse
import gzip
import pathlib
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "tools/producers"))
from run import Checker, check  # pylint: disable=wrong-import-position


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=FOLDER.parent.parent / "build/shoal", type=pathlib.Path)
    flags = parser.parse_args()
    checker = Checker(str(flags.bin.resolve()))
    passed, failures = 0, []
    for producer in sorted({path.name.rsplit(".", 3)[0].split(".")[0] for path in FOLDER.glob("*.gz")}):
        with tempfile.TemporaryDirectory() as folder:
            for path in FOLDER.glob(f"{producer}.*"):
                packed = path.suffix == ".gz"
                (pathlib.Path(folder) / path.name.removesuffix(".gz")).write_bytes(
                    gzip.decompress(path.read_bytes()) if packed else path.read_bytes())
            rows, failed = check("tensorflow" if producer.startswith("tensorflow") else producer, pathlib.Path(folder), checker)
        passed += sum(good for good, _ in rows.values())
        failures += failed
    print("\n".join(failures) + f"\n{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
