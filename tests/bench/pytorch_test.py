#!/usr/bin/env python3
"""pytorch_test.py KOLMO: the cases of bench/gpu_pytorch.py are cases of `kolmo bench`, the table of both has what both have, and that
of the counters the kernel with most of the time."""
import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from beside_pytorch import table  # noqa: E402
from gpu_bounds import COUNTERS, PIPES, TIME, kernels, table as bounds  # noqa: E402
from gpu_pytorch import CASES  # noqa: E402


class PyTorch(unittest.TestCase):
    def test_every_case_is_one_of_kolmo_bench(self):
        ops = json.loads(subprocess.run([KOLMO, "list", "--json"], check=True, capture_output=True, text=True).stdout)
        known = {f"{op['name']}: {case['name']}" for op in ops for case in op["cases"]}
        self.assertEqual([name for name in CASES if ": " in name and name not in known], [])

    def test_a_case_that_one_record_lacks_is_left_out(self):
        record = {"ops": [{"name": "relu", "results": [{"case": "n=2^24 f32", "seconds": 4e-5}, {"case": "one", "seconds": 1e-6}]},
                          {"name": "linear", "results": [{"name": "fused_linear_relu", "case": "fused_linear_relu, f32", "seconds": 2e-3}]},
                          {"name": "matmul", "results": [{"name": "tensor_core_matmul", "case": "64 cube", "seconds": 1e-5}]},
                          {"name": "softmax", "results": [{"case": "4096 rows of 4096 f32", "seconds": 1e-5}]}]}
        torch = {"microseconds": {"relu: n=2^24 f32": [10.0, 20.0, 900.0], "linear: fused_linear_relu, f32": [3000.0], "tanh: other": [1.0],
                                  "matmul: 64 cube": [11.0, 13.0], "copy 2^24 torch.float32": [1.0]}}
        self.assertEqual(table(record, torch).splitlines()[2:], [
            "| relu n=2^24 f32 | 40.0 us | 20.0 us | 0.50 |", "| tensor_core_matmul 64 cube | 10.0 us | 12.0 us | 1.20 |",
            "| fused_linear_relu, f32 | 2.00 ms | 3.00 ms | 1.50 |"])

    def test_bounds_are_means_of_the_kernel_with_most_of_the_time(self):
        def launch(name, time, shares):
            return {"ID": "1", "Kernel Name": name, TIME: time, **dict(zip([*COUNTERS.values(), *PIPES.values()], shares))}

        shares = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]
        found = kernels([launch("a", "1,000", shares), launch("b", "500", shares),
                         launch("a", "1,000", ["2"] * 11)])
        self.assertEqual([(k["kernel"], k["share_of_time"], k["dram"], k["pipes"]["alu"]) for k in found],
                         [("a", 0.8, 1.5, 4.0), ("b", 0.2, 1.0, 6.0)])
        record = {"cases": [{"shown": "relu n=4", "kernels": found}]}
        self.assertEqual(bounds(record).splitlines()[2:], ["| relu n=4 | `a`, 80 % | 2 % | 2 % | 2 % | 3 % | tensor cores 6 % | 4 % |"])


if __name__ == "__main__":
    KOLMO = sys.argv.pop(1)
    unittest.main()
