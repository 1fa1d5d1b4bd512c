#!/usr/bin/env python3
"""Tests what tools/gpu_tests.py records. Scripts stand in for the programs of a build, so that no GPU is needed."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/gpu_tests.py"
KOLMO = """#!/usr/bin/env python3
import json, sys
said = {"devices": [{"device": "cpu"}] + [{"device": "cuda:0", "name": "a GPU", "driver": "1"}] * GPUS,
        "list": [{"name": "add", "cuda_sources": "12", "alias_of": None}, {"name": "plus", "cuda_sources": "12", "alias_of": "add"}]}
print("kolmo 0.2.0 (abc)" if sys.argv[1] == "--version" else json.dumps(said[sys.argv[1]]))
"""
TESTS = """#!/usr/bin/env python3
import os, sys
assert "--gtest_filter=-Conformance_*" in sys.argv
file = next(a.split("xml:")[1] for a in sys.argv if "xml:" in a)
given = os.environ
gpu = given.get("CUDA_VISIBLE_DEVICES") != "-1"
skipped = '<skipped message="a_test.cpp:1&#x0A;needs TEXT"/>'
cases = {"anywhere": "", "on_the_gpu": "" if gpu else skipped.replace("TEXT", "a GPU"), "on_two": skipped.replace("TEXT", "two GPUs")}
if gpu:
    cases["made_for_it"] = FAILURE
mine = [c for i, c in enumerate(cases.items()) if i % int(given["GTEST_TOTAL_SHARDS"]) == int(given["GTEST_SHARD_INDEX"])]
open(file, "w").write("<testsuites>" + "".join(f'<testcase classname="A" name="{n}">{x}</testcase>' for n, x in mine) + "</testsuites>")
sys.exit(any("failure" in x for _, x in mine))
"""


class Recorded(unittest.TestCase):
    def record(self, status: int, gpus: int = 1, failure: str = "''"):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("kolmo", KOLMO.replace("GPUS", str(gpus))), ("kolmo_tests", TESTS.replace("FAILURE", failure))):
                Path(folder, name).write_text(text, encoding="utf-8")
                Path(folder, name).chmod(0o755)
            file = Path(folder, "cpp.json")
            done = subprocess.run([sys.executable, TOOL, folder, file, "--jobs", "2"], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            return json.loads(file.read_text(encoding="utf-8")) if file.exists() else done.stderr

    def test_those_that_need_a_gpu_are_named(self):
        record = self.record(0)
        self.assertEqual(record["need_a_gpu"], [{"name": "A.made_for_it", "outcome": "passed"}, {"name": "A.on_the_gpu", "outcome": "passed"},
                                                {"name": "A.on_two", "outcome": "skipped: needs two GPUs"}])
        self.assertEqual(record["counts"], {"run": 4, "failed": 0, "need a GPU": 3})
        self.assertEqual((record["commit"], record["device"]["name"]), ("abc", "a GPU"))
        self.assertEqual(record["cuda_sources"], [{"name": "add", "hash": "12"}])

    def test_failures(self):
        self.assertEqual(self.record(1, failure='"<failure/>"')["failed"], ["A.made_for_it"])
        self.assertIn("no usable GPU", self.record(1, gpus=0))
        self.assertIn("crashed with status 1", self.record(1, failure="sys.exit('no memory')"))


if __name__ == "__main__":
    unittest.main()
