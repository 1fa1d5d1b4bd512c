#!/usr/bin/env python3
"""What cmake/cuda.cmake decides: CUDA where a GPU is or where it is asked for, and for which GPUs. cuda_option_test.py CMAKE"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CMAKE = sys.argv[1]
NVCC = subprocess.run([ROOT / "tools/find_nvcc.sh"], capture_output=True, text=True).stdout.strip()
GPU_IS_HERE = any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/dxg").exists()
PROJECT = f"""cmake_minimum_required(VERSION 3.22)
project(option LANGUAGES CXX)
include({ROOT}/cmake/cuda.cmake)
message(STATUS "decided: ${{KOLMO_CUDA}} ${{CMAKE_CUDA_ARCHITECTURES}}")
"""


class Option(unittest.TestCase):
    def decided(self, *options: str, capabilities: str = "") -> str:
        """With an nvidia-smi that prints these capabilities, or fails."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
            tool = Path(folder, "bin/nvidia-smi")
            tool.parent.mkdir()
            tool.write_text(f"#!/bin/sh\nprintf '{capabilities}'\nexit {0 if capabilities else 9}\n", encoding="utf-8")
            tool.chmod(0o755)
            environment = os.environ | {"PATH": f"{tool.parent}:{os.environ['PATH']}"}
            done = subprocess.run([CMAKE, "-S", folder, "-B", f"{folder}/build", "-G", "Ninja", *options], env=environment,
                                  capture_output=True, text=True)
            lines = [line.split("decided: ")[1].strip() for line in done.stdout.splitlines() if "decided: " in line]
            return lines[0] if done.returncode == 0 else done.stderr

    def test_off(self):
        self.assertEqual(self.decided("-DKOLMO_CUDA=OFF"), "OFF")
        self.assertIn("it must be ON, OFF or AUTO", self.decided("-DKOLMO_CUDA=SOMETIMES"))

    @unittest.skipIf(GPU_IS_HERE, "a GPU is here")
    def test_nvcc_alone_compiles_no_kernels(self):
        self.assertEqual(self.decided(), "OFF")

    @unittest.skipIf(not NVCC, "there is no nvcc")
    def test_asked_for(self):
        for capabilities, architectures in (("", "80-virtual;90a-real"), ("8.6\\n8.6\\n12.0\\n", "86-real;120a-real"), ("7.5\\n8.0\\n", "80-real")):
            with self.subTest(capabilities):
                self.assertEqual(self.decided("-DKOLMO_CUDA=ON", f"-DCMAKE_CUDA_COMPILER={NVCC}", capabilities=capabilities), f"ON {architectures}")
        self.assertEqual(self.decided("-DKOLMO_CUDA=ON", f"-DCMAKE_CUDA_COMPILER={NVCC}", "-DCMAKE_CUDA_ARCHITECTURES=89"), "ON 89")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
