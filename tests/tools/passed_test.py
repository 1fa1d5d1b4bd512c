#!/usr/bin/env python3
"""What the checks repeat that keep in results/ with which sources they passed: tools/race_check.py and tools/architectures.py."""
import contextlib
import io
import json
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import architectures  # noqa: E402
import race_check  # noqa: E402


class RecordTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "record.json")

    def run_main(self, module, *arguments, **fakes):
        """Its status and the last line that it prints."""
        with mock.patch.multiple(module, RECORD=self.file, **fakes), mock.patch.object(sys, "argv", ["x", "--jobs", "1", *arguments]), \
                contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
            status = module.main()
        return status, out.getvalue().strip()

    def record(self):
        return json.loads(self.file.read_text(encoding="utf-8"))


class Races(RecordTest):
    def races(self, operators, simt, *arguments, failing=()):
        self.checked = []

        def check(kolmo, op, threads):
            self.checked.append(op)
            return op not in failing

        return self.run_main(race_check, *arguments, operator_hashes=lambda command: operators, simt_hash=lambda: simt, check=check,
                             WITNESSES=("a", "b"))

    def test_what_changed_is_checked(self):
        now = {"a": "1", "b": "1", "c": "1"}
        self.assertEqual(self.races(now, "s", "--pending"), (1, ""))
        self.assertEqual(self.races(now, "s", failing=["c"]), (1, "2 1 0"))
        self.assertEqual(self.record(), {"a": "1", "b": "1"})  # as c failed, simt/ is not yet known to work
        self.assertEqual(self.races(now, "s"), (0, "3 0 0"))
        self.assertEqual(self.checked, ["a", "b", "c"])
        self.assertEqual(self.record(), now | {"simt": "s"})
        self.assertEqual(self.races(now, "s", "--pending"), (0, ""))
        self.assertEqual(self.races({"a": "1", "b": "2"}, "s"), (0, "2 0 0"))
        self.assertEqual((self.checked, self.record()), (["b"], {"a": "1", "b": "2", "simt": "s"}))

    def test_a_change_of_simt_has_the_witnesses_checked(self):
        now = {"a": "1", "b": "1", "c": "1"}
        self.races(now, "s")
        self.assertEqual(self.races(now, "t", "--pending"), (1, ""))
        self.assertEqual(self.races(now, "t", failing=["b"]), (1, "2 1 0"))
        self.assertEqual(self.checked, ["a", "b"])
        self.assertEqual(self.races(now, "t"), (0, "3 0 0"))
        self.assertEqual(self.record(), now | {"simt": "t"})
        self.races(now, "t", "--all")
        self.assertEqual(self.checked, ["a", "b", "c"])

    def test_the_hash_of_simt_covers_its_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "simt", Path(folder, "simt"))
            root, before = Path(folder), race_check.simt_hash()
            self.assertEqual(race_check.simt_hash(root), before)
            for name in ("simt/warp.hpp", "simt/block.cpp", "simt/shim/mma.h"):
                text = (root / name).read_text(encoding="utf-8")
                (root / name).write_text(text + "// a comment\n", encoding="utf-8")
                self.assertEqual(race_check.simt_hash(root), before)
                (root / name).write_text(text + "int more;\n", encoding="utf-8")
                self.assertNotEqual(race_check.simt_hash(root), before)
                (root / name).write_text(text, encoding="utf-8")

    def test_witnesses_are_operators(self):
        self.assertLessEqual({*race_check.WITNESSES}, {name for h in (ROOT / "kolmo/ops").rglob("*.hpp") for names in
                             re.findall(r"^extern const Op<\w+> ([\w, ]+);", h.read_text(encoding="utf-8"), re.M) for name in names.split(", ")})


class Architectures(RecordTest):
    def compiled(self, folders, *arguments, failing=()):
        self.sources = []

        def compiles(nvcc, source):
            self.sources.append(f"{source.parent.name}/{source.name}")
            return source.name not in failing

        return self.run_main(architectures, "--nvcc", "nvcc", folders=lambda: folders, compiles=compiles)

    def test_every_source_of_a_changed_folder_is_compiled(self):
        folders = {"dense/matmul": "1", "nn/softmax": "1"}
        self.assertEqual(self.compiled(folders, failing=["matmul.cu"]), (1, "1 1 0"))
        self.assertEqual(self.sources, [*(f"matmul/{p.name}" for p in sorted((ROOT / "kolmo/ops/dense/matmul").glob("*.cu"))), "softmax/softmax.cu"])
        self.assertEqual(self.record(), {"nn/softmax": "1"})
        self.assertEqual(self.compiled(folders), (0, "2 0 0"))
        self.assertEqual(self.record(), folders)
        self.assertEqual((self.compiled(folders), self.sources), ((0, "2 0 0"), []))

    def test_folders_are_those_with_kernels(self):
        self.assertEqual([*architectures.folders()], sorted({"/".join(p.parts[-3:-1]) for p in (ROOT / "kolmo/ops").glob("*/*/*.cu")}))

    def test_what_nvcc_says_decides(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertTrue(architectures.compiles("true", Path("a.cu")))
            self.assertFalse(architectures.compiles("false", Path("a.cu")))
        self.assertIn("code=[sm_80,sm_86,sm_89]", said.getvalue())

    def test_the_documentation_names_them(self):
        numbers = ", ".join(f"{real // 10}.{real % 10}" for targets in architectures.TARGETS.values() for real in targets)
        self.assertIn(f"| {numbers} |", (ROOT / "docs/gpu.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
