#!/usr/bin/env python3
"""What tools/reference.py says of tolerances and of times."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from reference import accuracy, measured  # noqa: E402


def case(dtype, absolute, relative, benchmark_only=False):
    return {"dtype": dtype, "tolerance": {"absolute": absolute, "relative": relative}, "benchmark_only": benchmark_only}


class Reference(unittest.TestCase):
    def test_absolute_and_relative_tolerances(self):
        for cases, want in [
            ([case("f64", 1e-12, 1e-12), case("f64", 0, 0)], "f64 0 to 1.0e-12"),
            ([case("f64", 1e-12, 0), case("f64", 3e-12, 0), case("f32", 0, 1e-6)], "f64 1.0e-12 to 3.0e-12 absolute; f32 1.0e-06 relative"),
            ([case("f64", 1e-12, 2e-9)], "f64 1.0e-12 absolute or 2.0e-09 relative"),
            ([case("u8", 0, 0), case("f16", 1, 1, benchmark_only=True)], "u8 0"),
        ]:
            self.assertEqual(accuracy({"cases": cases})[0], f"Tolerances of its cases, by their dtype: {want}.")
        self.assertEqual(accuracy({"cases": []}), [])

    def test_a_time_without_a_share_of_the_roofline_is_shown(self):
        timing = {"name": "copy", "case": "n=1", "variant": "", "seconds": 2e-6, "flops": 0, "bytes": 16, "bytes_per_second": 8e6,
                  "flops_per_second": 0}
        record = {"ops": [{"results": [timing | {"share_of_roofline": None}, timing | {"share_of_roofline": 0.5},
                                       {"name": "copy", "case": "large", "left_out": "no time", "share_of_roofline": None}]}]}
        rows = [line for line in measured("copy", record) if line.startswith("| n=1")]
        self.assertEqual([row.split("| ")[-1] for row in rows], ["- |", "50 % |"])
        self.assertEqual(measured("other", record), [])

    def test_the_baseline_stands_beside_the_time(self):
        timing = {"name": "fused", "case": "n=1", "variant": "tiles", "seconds": 2e-6, "flops": 4, "bytes": 16, "bytes_per_second": 8e6,
                  "flops_per_second": 2e6, "share_of_roofline": None, "baseline": {"variant": "unfused", "seconds": 3.5e-6}}
        self.assertIn("| n=1 | tiles | 2 us | 3.5 us, unfused | 4 |", measured("fused", {"ops": [{"results": [timing]}]})[2])


if __name__ == "__main__":
    unittest.main()
