"""What README.md shows works as it stands: commands run, code is that of a tested example, files and targets exist. Its Python is
run by python/tests/test_docs.py."""
import re
import shlex
import tempfile
import unittest
from pathlib import Path

from command import kolmo

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def fences(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)

# What the commands print, by a part of their file's name.
SAID = {"furnace": "gas_rate", "logistic": "x5", "macrodata": "realcons", "training": "lag_law"}


class Readme(unittest.TestCase):
    def lines(self):
        return [line for block in fences("sh") for line in block.replace("\\\n", " ").splitlines()]

    def test_commands_run(self):
        commands = [line for line in self.lines() if line.startswith("kolmo ")]
        self.assertGreaterEqual(len(commands), 3)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "examples").symlink_to(ROOT / "examples")
            for line in commands:
                run = kolmo(*shlex.split(line)[1:], cwd=folder)
                self.assertEqual(run.returncode, 0, line + "\n" + run.stderr)
                self.assertIn(next(word for part, word in SAID.items() if part in line), run.stdout)
            self.assertTrue((Path(folder) / "furnace.html").exists())

    def test_other_lines_are_those_that_the_empty_debian_runs(self):
        others = [line for line in self.lines() if not line.startswith("kolmo ")]
        self.assertEqual(len(others), 1, others)
        script = (ROOT / "tools/empty_debian.sh").read_text(encoding="utf-8")
        taken = re.search(r"grep -m 1 '(.+?)' README.md >", script)
        self.assertRegex(others[0], taken[1], "the script takes another line from the page")
        self.assertTrue(others[0].endswith("pip install '.[flow]'"))

    def test_the_code_is_that_of_an_example(self):
        self.assertEqual(fences("cpp"), [(ROOT / "examples/network.cpp").read_text(encoding="utf-8")])

    def test_what_is_named_exists(self):
        links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", README) if not link.startswith("http")]
        code = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", README, flags=re.M | re.S))
        paths = [word for word in code if re.fullmatch(r"[\w.-]+/[\w./-]*|[\w-]+\.(?:cpp|md|py|sh|toml)", word)]
        self.assertGreater(len(links) + len(paths), 15)
        for path in links + paths:
            self.assertTrue((ROOT / path).exists(), path)
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        for target in re.findall(r"`(?:\w+=\w+ )?make (\w[\w-]*)`", README):
            self.assertRegex(makefile, rf"(?m)^{target}:")


if __name__ == "__main__":
    unittest.main()
