#!/usr/bin/env python3
"""What tools/bootstrap.sh says on a system without apt: nothing if all is there, else what is missing, and Fedora's names."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/bootstrap.sh"


class WithoutApt(unittest.TestCase):
    def run_without(self, *programs: str) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as folder:
            for path in os.get_exec_path():
                for program in Path(path).iterdir() if Path(path).is_dir() else ():
                    if program.name not in ("dpkg-query", *programs) and not Path(folder, program.name).is_symlink():
                        Path(folder, program.name).symlink_to(program)
            return subprocess.run([TOOL, "build"], env=os.environ | {"PATH": folder}, capture_output=True, text=True)

    def test_all_is_there(self):
        done = self.run_without()
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_what_is_missing_is_named(self):
        done = self.run_without("ninja", "g++")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "bootstrap: this system has no apt, and lacks:\n  g++ 11 or later\n  Ninja\n"
                                      "On Fedora: dnf install gcc-c++ ninja-build\n")


if __name__ == "__main__":
    unittest.main()
