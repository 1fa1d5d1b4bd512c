#!/usr/bin/env python3
"""The budgets of tools/check_build.py."""
import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from check_build import (  # noqa: E402
    KERNELS, MORE_KERNELS, ROOT, kernel_faults, kernels_in, kernels_of, object_faults, operators_in, processor_seconds, time_faults)

LOG = """# ninja log v5
0\t9000\t1\ta.cpp.o\tx
0\t5000\t1\ta.cpp.o\tx
1000\t32000\t1\tb.cpp.o\tx
1000\t90000\t1\tlib.a\tx
"""
SYMBOLS = """
0000 b _ZGVZL16__device_stub__Z1aE5__tmp
0000 b _ZZL16__device_stub__Z1aE4__f
0000 t _ZL20__device_stub__Z1bv
0000 T main
"""


def quietly(faults, *arguments):
    with contextlib.redirect_stdout(io.StringIO()):
        return list(faults(*arguments))


class Budgets(unittest.TestCase):
    def test_time(self):
        self.assertEqual(quietly(time_faults, LOG, 100), ["b.cpp.o: 31 s; the cap is 30"])
        self.assertEqual(quietly(time_faults, LOG, 30)[1:], ["36 s of compilers; the cap is 30"])
        self.assertEqual(quietly(time_faults, LOG, 30, 18), [])  # others had the cores half of the time
        self.assertEqual(quietly(time_faults, "# ninja log v5\n", 30), ["nothing was compiled"])

    def test_time_of_kernels(self):
        self.assertEqual(processor_seconds("0m0.01s 0m0.02s\n1m3.50s 0m1.25s\n"), 64.75)
        self.assertEqual(processor_seconds(subprocess.run(["sh", "-c", "times"], check=True, capture_output=True, text=True).stdout), 0)
        self.assertEqual(quietly(object_faults, {"a.cu.o": 30.0, "b.cu.o": 31.0}), ["b.cu.o: 31 s; the cap is 30"])
        self.assertEqual(quietly(object_faults, {"a.cu.o": 59.0, "b.cu.o": 62.0}, 1.5), ["b.cu.o: 31 s; the cap is 30"])
        self.assertEqual(quietly(object_faults, {"b.cu.o": 31.0}, 4.2), ["b.cu.o: 31 s; the cap is 30"])
        self.assertIn("nothing says", quietly(object_faults, {})[0])

    def test_kernels(self):
        self.assertEqual(kernels_in(SYMBOLS), 2)
        self.assertEqual(operators_in("extern const Op<A> a, b;\nextern const Op<B> c;  // third\n"), 3)
        known = {op: (cap, 1) for op, (cap, _) in MORE_KERNELS.items()}
        self.assertEqual(quietly(kernel_faults, known), [])
        self.assertEqual(quietly(kernel_faults, known | {"info/new": (KERNELS + 1, 1)}),
                         ["info/new: 25 kernels an operator; the cap is 24"])
        self.assertEqual(quietly(kernel_faults, known | {"info/family": (15 * KERNELS, 15)}), [])
        self.assertEqual(len(quietly(kernel_faults, known | {"info/family": (15 * KERNELS + 1, 15)})), 1)
        self.assertEqual(len(quietly(kernel_faults, known | {"dense/matmul": (MORE_KERNELS["dense/matmul"][0] + 1, 1)})), 1)
        self.assertIn("no exception", quietly(kernel_faults, known | {"dense/matmul": (24, 1)})[0])
        self.assertIn("no kernel was found", quietly(kernel_faults, {})[0])

    def test_contributing_says_the_same(self):
        page = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
        caps = sorted(cap for cap, _ in MORE_KERNELS.values())
        largest = [MORE_KERNELS[op][0] for op in ("dense/matmul", "info/ksg_conditional_mutual_information")]
        self.assertEqual(largest, caps[-2:])
        self.assertIn(f"At most {KERNELS} kernels an operator and architecture", page)
        self.assertIn(f"up to {caps[-3]}, {caps[-2]} for `matmul`, and {caps[-1]} for nearest-neighbour estimates", page)

    def test_the_sources_of_a_folder_count_together(self):
        with tempfile.TemporaryDirectory() as name:
            root, build = Path(name), Path(name, "build")
            folder, objects = (base / "kolmo/ops/dense/op" for base in (root, build / "CMakeFiles/kolmo_kernels.dir"))
            folder.mkdir(parents=True)
            objects.mkdir(parents=True)
            (folder / "op.hpp").write_text("extern const Op<A> op;\n", encoding="utf-8")
            for source in ("op.cu", "op_more.cu", "gone.cu"):
                if source != "gone.cu":
                    (folder / source).touch()
                subprocess.run(["cc", "-xc", "-c", "-", "-o", objects / f"{source}.o"], check=True, text=True,
                               input="void __device_stub__Z1av(void) {}")
            self.assertEqual(kernels_of(build, root), {"dense/op": (2, 1)})


if __name__ == "__main__":
    unittest.main()
