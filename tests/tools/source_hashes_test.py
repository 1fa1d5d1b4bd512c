#!/usr/bin/env python3
"""What changes the hash of an operator, tried on copies of the tree: code does, comments and spaces do not."""
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cmake"))
from source_hashes import table, tokens  # noqa: E402

INNER, OUTER = "ksg_conditional_mutual_information", "ksg_transfer_entropy"


class Hashes(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree(ROOT / "kolmo", self.root / "kolmo")
        self.before = table(self.root)

    def edit(self, path: str, old: str, new: str) -> None:
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        self.assertIn(old, text)
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    def changed(self) -> tuple[set[str], set[str]]:
        """The operators whose hash for the CPU, and for GPUs, is another one now."""
        after = table(self.root)
        self.assertEqual(after.keys(), self.before.keys())
        cpu, cuda = ({op for op in after if after[op][i] != self.before[op][i]} for i in (0, 1))
        return cpu, cuda

    def test_every_folder_has_hashes_of_its_own(self):
        headers = [h for h in self.root.glob("kolmo/ops/*/*/*.hpp") if h.stem == h.parent.name]
        for i, suffix in enumerate((".cpp", ".cu")):
            hashes = {row[i] for row in self.before.values() if row[i]}
            self.assertEqual(len(hashes), sum(h.with_suffix(suffix).is_file() for h in headers))
            self.assertTrue(all(len(h) == 64 for h in hashes))

    def test_comments_and_spaces_change_nothing(self):
        for path in self.root.rglob("kolmo/**/*"):
            if path.suffix in (".hpp", ".cpp", ".cu", ".cuh"):
                text = path.read_text(encoding="utf-8")
                path.write_text(f"// another line\n/* and\n one more */\n\n{text}\n\n", encoding="utf-8")
        self.assertEqual(self.changed(), (set(), set()))

    def test_a_token_of_a_device_header_changes_who_includes_it(self):
        self.edit("kolmo/device/grid.cuh", "namespace kolmo", "struct Another;\nnamespace kolmo")
        cpu, cuda = self.changed()
        self.assertEqual(cpu, set())
        self.assertIn("vector_add", cuda)

    def test_the_frame_and_the_runtime_change_nothing(self):
        for path in ("kolmo/op/op.hpp", "kolmo/runtime/stream.hpp", "kolmo/runtime/memory/stats.hpp"):
            self.edit(path, "#pragma once\n", "#pragma once\nstruct Another;\n")
        self.assertEqual(self.changed(), (set(), set()))

    def test_an_operator_carries_what_it_calls(self):
        path = f"kolmo/ops/info/{INNER}/{INNER}.cu"
        file = self.root / path
        file.write_text(file.read_text(encoding="utf-8") + "struct Another;\n", encoding="utf-8")
        cpu, cuda = self.changed()
        self.assertEqual(cpu, set())
        self.assertTrue({INNER, OUTER} <= cuda, cuda)
        self.assertNotIn("vector_add", cuda)

    def test_what_operators_call_of_the_runtime_changes_the_gpu(self):
        descriptions = {"matmul", "attention", "conv2d"}
        for path in ("kolmo/runtime/cuda/tensor_copies.hpp", "kolmo/runtime/cuda/tensor_copies.cpp"):
            self.edit(path, "namespace kolmo", "struct Another;\nnamespace kolmo")
            cpu, cuda = self.changed()
            self.assertEqual(cpu, set())
            self.assertTrue(descriptions <= cuda, cuda)
            self.assertFalse({"vector_add", "shannon_entropy", INNER} & cuda, cuda)
            self.before = table(self.root)
        self.edit("kolmo/runtime/cuda/cublaslt.cpp", "namespace kolmo", "struct Another;\nnamespace kolmo")
        cpu, cuda = self.changed()
        self.assertEqual(cpu, set())
        self.assertTrue({"matmul", "linear", "gru_cell"} <= cuda, cuda)
        self.assertNotIn("vector_add", cuda)

    def test_every_source_of_a_folder_counts(self):
        self.edit("kolmo/ops/dense/matmul/matmul_f64.cu", "namespace kolmo", "struct Another;\nnamespace kolmo")
        cpu, cuda = self.changed()
        self.assertEqual(cpu, set())
        self.assertTrue({"matmul", "linear"} <= cuda, cuda)
        self.assertNotIn("vector_add", cuda)

    def test_cpu_code_changes_the_cpu(self):
        self.edit("kolmo/knn/tree.cpp", "namespace kolmo", "struct Another;\nnamespace kolmo")
        self.edit("kolmo/ops/recurrent/rows.cpp", "namespace kolmo", "struct Another;\nnamespace kolmo")
        cpu, cuda = self.changed()
        self.assertTrue({"ksg_mutual_information", "gru_cell", "rssm_rollout"} <= cpu, cpu)
        self.assertNotIn("vector_add", cpu)
        self.assertEqual(cuda, set())


class Tokens(unittest.TestCase):
    def test_strings_survive(self):
        self.assertEqual(tokens('f("a // b", \'"\', R"(x /* y */ " z)");  // gone'),
                         ["f", "(", '"a // b"', ",", "'\"'", ",", 'R"(x /* y */ " z)"', ")", ";"])

    def test_numbers_and_joined_lines(self):
        self.assertEqual(tokens("x = 1'000 + 1e-5f /* two */ - 0x1p+3;\na\\\nb"),
                         ["x", "=", "1'000", "+", "1e-5f", "-", "0x1p+3", ";", "ab"])

    def test_directives_end_with_their_line(self):
        self.assertNotEqual(tokens("#define A b\nc"), tokens("#define A b c"))
        self.assertEqual(tokens("#define A  b // why\nc"), tokens("# define A b\n\n c"))


if __name__ == "__main__":
    unittest.main()
