"""python -m shoal gate …: see shoal.gate."""
import sys

from .gate import main

if len(sys.argv) < 2 or sys.argv[1] != "gate":
    sys.exit("usage: python -m shoal gate CONFIG DUMPS…")
sys.exit(main(sys.argv[2:]))
