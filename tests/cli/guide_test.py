"""The commands of docs/guide.md print the lines shown under them."""
import re
import shlex
import unittest
from pathlib import Path

from command import kolmo

ROOT = Path(__file__).resolve().parents[2]


def words(line):
    return " ".join(line.split())


class Guide(unittest.TestCase):
    def test_every_line_is_printed(self):
        fences = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "docs/guide.md").read_text(encoding="utf-8"), re.M | re.S)
        blocks = [block for language, block in fences if not language]
        self.assertEqual(len(blocks), 4)
        for block in blocks:
            printed = ""
            for line in block.splitlines():
                if line.startswith("$ kolmo "):
                    run = kolmo(*shlex.split(line[8:]), "--device", "cpu", cwd=ROOT)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    printed = run.stdout + run.stderr
                else:
                    self.assertTrue(any(words(p).startswith(words(line)) for p in printed.splitlines()), line + "\n" + printed)


if __name__ == "__main__":
    unittest.main()
