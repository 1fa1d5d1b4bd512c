#!/usr/bin/env python3
"""pytorch_test.py KOLMO: the cases of bench/gpu_pytorch.py are cases of `kolmo bench`, and the table of both has what both have."""
import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from beside_pytorch import table  # noqa: E402
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


if __name__ == "__main__":
    KOLMO = sys.argv.pop(1)
    unittest.main()
