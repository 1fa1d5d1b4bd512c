"""Runs the kolmo command for the tests of this folder: `python3 xxx_test.py KOLMO`."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KOLMO = sys.argv.pop() if len(sys.argv) > 1 and not sys.argv[-1].startswith("-") else "kolmo"
DATA = Path(os.environ.get("KOLMO_TEST_DATA", Path(__file__).resolve().parents[2] / "../shared/data"))


def needs(condition, reason):
    """Skips a test or a class of them, and says so at the top of the output, where the test run looks for it."""
    if not condition:
        print(f"skipped: {reason}", flush=True)
    return unittest.skipUnless(condition, reason)


def kolmo(*args, stdin=None, **options):
    return subprocess.run([KOLMO, *map(str, args)], input=stdin, capture_output=True, text=True, timeout=300, **options)


def result(*args):
    """Runs the command, and returns the object that --json prints."""
    run = kolmo(*args, "--json")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="kolmo-cli-")
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def file(self, name, content):
        path = self.path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def refused(self, *args, mentions=()):
        """Checks that a command ends with one clear line on standard error and status 2."""
        run = kolmo(*args)
        self.assertEqual(run.returncode, 2, f"{args}: {run.stdout}{run.stderr}")
        lines = [line for line in run.stderr.splitlines() if not line.startswith(("kolmo: note:", "kolmo: warning:"))]
        self.assertEqual(len(lines), 1, run.stderr)
        self.assertEqual(run.stdout, "")
        for text in mentions:
            self.assertIn(str(text), lines[0])


def numbers(rows, columns=2, seed=1):
    """Makes rows of pseudo-random numbers, the same everywhere."""
    state, table = seed, []
    for _ in range(rows):
        row = []
        for _ in range(columns):
            total = 0
            for _ in range(4):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                total += state / 2**64
            row.append(round(total - 2, 9))
        table.append(row)
    return table


def csv(table, header=None):
    lines = [",".join(header)] if header else []
    return "\n".join(lines + [",".join(map(str, row)) for row in table]) + "\n"
