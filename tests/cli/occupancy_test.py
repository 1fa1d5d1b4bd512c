"""kolmo occupancy, without a GPU."""
import json
import unittest

from command import CommandTest, kolmo, needs, result

SIMT = any(d["device"] == "simt" for d in result("devices"))
# What nvcc 13.0 prints for two of vector_add's kernels; the hashes differ from build to build.
ENTRY = "_ZN5kolmo46_GLOBAL__N__c9b0f542_13_vector_add_cu_ff88aa8c3addIfLi%dEEEvPKT_S4_PS2_l"
LOG = "".join(f"""ptxas info    : Compiling entry function '{ENTRY % v}' for '{arch}'
ptxas info    : Function properties for {ENTRY % v}
    0 bytes stack frame, 0 bytes spill stores, 4 bytes spill loads
ptxas info    : Used {48 + v} registers, used 0 barriers, 8448 bytes smem
""" for v in range(3) for arch in ("sm_90a", "sm_80"))


class Occupancy(CommandTest):
    def test_numbers_alone(self):
        rows = result("occupancy", "--registers", 48, "--shared", 8448, "--threads", 256, "--capability", "9.0,12.0")
        self.assertEqual([(r["capability"], r["blocks"], r["occupancy"]) for r in rows],
                         [("9.0", 5, 0.625), ("12.0", 5, 40 / 48)])
        self.assertEqual(rows[0]["limits"], ["registers"])
        twice = result("occupancy", "--registers", 48, "--threads", 256, "--capability", "9.0,9.0")
        self.assertEqual(len(twice), 1)
        self.assertEqual(rows[0]["one_more_block"]["fewer_registers"], 8)
        table = kolmo("occupancy", "--registers", 48, "--shared", 8448, "--threads", 256, "--grid", 1000)
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn("-8 registers", table.stdout)
        self.assertEqual(table.stdout.count("62.5 %"), 4)

    def test_kernels_of_a_compiler_log(self):
        log = self.file("log.txt", LOG)
        rows = result("occupancy", "--table", log, "--threads", 256, "--capability", "8.0")
        self.assertEqual([r["kernel"] for r in rows], ["add<float, 0>", "add<float, 1>", "add<float, 2>"])
        self.assertEqual([r["registers"] for r in rows], [48, 49, 50])
        self.assertEqual(rows[0]["spill_load_bytes"], 4)

    @needs(SIMT, "built without the emulated GPU")
    def test_operators(self):
        log = self.file("log.txt", LOG)
        rows = result("occupancy", "vector_add", "--table", log, "--processors", 100)
        self.assertEqual([(r["capability"], r["variant"], r["threads"], r["blocks"], r["grid"]) for r in rows], [
            ("8.0", "block 256", 256, 5, 65536), ("8.0", "block 128", 128, 9, 131072), ("8.0", "block 512", 512, 2, 32768),
            ("9.0", "block 256", 256, 5, 65536), ("9.0", "block 128", 128, 9, 131072), ("9.0", "block 512", 512, 2, 32768)])
        self.assertAlmostEqual(rows[0]["waves"], 65536 / 500)
        self.refused("occupancy", "vector_add", "--table", log, "--case", "f16", mentions=["add<Half, 0> for 8.0"])
        self.refused("occupancy", "vector_add", "--table", log, "--capability", "8.9", mentions=["8.0, 9.0"])

    def test_every_kernel_of_this_build(self):
        shown = kolmo("occupancy", "--json")
        if "made without nvcc" in shown.stderr:  # then nothing is known, and that is what is said
            self.assertEqual((shown.returncode, shown.stdout, any(d["device"].startswith("cuda") for d in result("devices"))),
                             (2, "", False))
            return
        self.assertEqual(shown.returncode, 0, shown.stderr)
        named = {r["operator"] for r in json.loads(shown.stdout)}
        self.assertLess({"vector_add", "matmul", "tensor_core_matmul", "layer_norm", "fused_layernorm_gelu"}, named)

    def test_refusals(self):
        log = self.file("log.txt", LOG)
        self.refused("occupancy", "--registers", 48, mentions=["--threads"])
        self.refused("occupancy", "--registers", 48, "--threads", 64, "--capability", "7.5", mentions=["'7.5'", "9.0"])
        self.refused("occupancy", "--registers", 48, "--threads", 2000, mentions=["--threads"])
        self.refused("occupancy", "--registers", 48, "--threads", 64, "--table", log, mentions=["--table"])
        self.refused("occupancy", "--table", log, "--capability", "7.5", mentions=["7.5"])
        self.refused("occupancy", "--table", log, "--threads", 64, "--capability", "8.9", mentions=["no kernel"])
        self.refused("occupancy", "vector_add", "--table", log, "--shared", 64, mentions=["--shared"])
        self.refused("occupancy", "--table", log, "--shared", 64, mentions=["--threads"])
        self.refused("occupancy", "--table", log, "--threads", 64, "--barriers", 1, mentions=["--barriers"])
        self.refused("occupancy", "--verify", "--threads", 64, mentions=["--verify"])
        self.refused("occupancy", "--table", self.file("no.txt", "nothing"), mentions=["no.txt", "-Xptxas -v"])
        self.refused("occupancy", "--table", self.path / "missing", mentions=["missing"])
        self.refused("occupancy", "frobnicate", "--table", log, mentions=["'frobnicate'"])


if __name__ == "__main__":
    unittest.main()
