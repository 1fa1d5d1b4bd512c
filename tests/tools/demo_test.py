#!/usr/bin/env python3
"""demo_test.py KOLMO: what `make demo` shows: the known link of the furnace is found and no other, and of the simulated ones it
says which were found, missed and added. The comparison itself is right."""
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KOLMO = sys.argv.pop() if len(sys.argv) > 1 and not sys.argv[-1].startswith("-") else "kolmo"
sys.path.insert(0, str(ROOT / "tools"))
from compare_links import comparison  # noqa: E402


def link(source, target, lag, significant):
    return {"source": source, "target": target, "lag": lag, "significant": significant}


class Demo(unittest.TestCase):
    def test_found_missed_added(self):
        document = {"links": [link("a", "b", 2, True), link("b", "a", 1, True), link("a", "c", 1, False), link("c", "a", 1, False),
                              link("b", "c", 3, True), link("c", "b", 1, False)]}
        self.assertEqual(comparison(document, {("a", "b"): 1, ("b", "c"): 3, ("a", "c"): None}),
                         "known links found: 2 of 3: a -> b (lag 2, known: 1), b -> c\nmissed: a -> c\n"
                         "added, of 3 pairs without a link: b -> a")

    def test_what_is_shown(self):
        run = subprocess.run([ROOT / "tools/show_demo.sh", KOLMO], capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("known links found: 1 of 1: gas_rate -> co2\nmissed: none\nadded, of 1 pairs without a link: none\n", run.stdout)
        self.assertRegex(run.stdout, "known links found: [89] of 9: x1 -> x0, .*\nmissed: .*\nadded, of 21 pairs without a link: none")
        self.assertIn(f"The command is {Path(KOLMO).resolve()}; to type only kolmo: export PATH=", run.stdout)
        for report in ("furnace", "simulated"):
            self.assertTrue((ROOT / f"out/{report}.html").exists(), report)


if __name__ == "__main__":
    unittest.main()
