#!/usr/bin/env python3
"""Compares `shoal mem` with XLA's memory analysis and with the memory that `shoal run` used.

usage: tests/memory.py --bin build/shoal [--golden ../shared/golden]

- xla: argument, output, temporary and peak bytes of each module of golden/h200 and golden/jax equal those of XLA's
  memory analysis. (XLA's peak of a CPU module excludes temporaries.)
- run: for every example and golden module (all of them can run), run_peak_bytes of `mem --run` equals peak_bytes of
  `run --engine=interp` on each device.
The last line is "N passed, N failed".
"""
import argparse
import json
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent


def report(shoal, command, path, *flags):
    done = subprocess.run([shoal, command, str(path), '--json', *flags], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return None


def xla_difference(shoal, path, expected, peak_has_temporaries):
    memory = report(shoal, 'mem', path)
    if memory is None:
        return 'no report'
    device = memory['device']
    found = {
        'argument_size_in_bytes': device['arguments'],
        'output_size_in_bytes': device['outputs'],
        'alias_size_in_bytes': device['aliased'],
        'temp_size_in_bytes': device['temporaries'],
        'peak_memory_in_bytes': device['peak'] - (0 if peak_has_temporaries else device['live_temporaries']),
    }
    return ', '.join(f'{name} {found[name]}, not {expected[name]}' for name in found if found[name] != expected[name])


def run_difference(shoal, path, *inputs):
    ran = report(shoal, 'run', path, '--engine=interp', *inputs)
    if ran is None or not ran.get('peak_bytes'):
        return 'does not run'
    memory = report(shoal, 'mem', path, '--run')
    if memory is None:
        return 'no report'
    peaks = sorted(each['bytes'] for each in memory['run_peak_bytes'] for _ in range(each['devices']))
    if peaks == sorted(ran['peak_bytes']) and all(
            ran['peak_bytes'][each['device']] == each['bytes'] for each in memory['run_peak_bytes']):
        return ''
    return f'mem reports {memory["run_peak_bytes"]}, run used {ran["peak_bytes"]}'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--bin', required=True)
    parser.add_argument('--golden', type=pathlib.Path, default=root.parent / 'shared' / 'golden')
    parser.add_argument('only', nargs='*', help='parts of file names')
    flags = parser.parse_args()
    differences = {}

    def note(kind, path, difference):
        differences[f'{kind} {path}'] = difference

    def is_selected(path):
        return not flags.only or any(part in str(path) for part in flags.only)

    for folder, table, ending, peak_has_temporaries in (('h200', 'timed.json', '.hlo', True),
                                                        ('jax', 'info.json', '.after.hlo', False)):
        listed = flags.golden / folder / table
        for name, facts in json.loads(listed.read_text()).items() if listed.exists() else ():
            path = flags.golden / folder / (name + ending)
            if is_selected(path) and 'memory' in facts:
                note('xla', path, xla_difference(flags.bin, path, facts['memory'], peak_has_temporaries))
    for path in sorted((root / 'examples').glob('*.hlo')) + sorted((flags.golden / 'jax').glob('*.hlo')):
        if is_selected(path):
            note('run', path, run_difference(flags.bin, path))
    bad = {case: difference for case, difference in differences.items() if difference}
    for case, difference in bad.items():
        print(f'FAILED {case}: {difference}')
    print(f'{len(differences) - len(bad)} passed, {len(bad)} failed')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
