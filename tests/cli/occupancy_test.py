"""kolmo occupancy, without a GPU."""
import json
import unittest

from command import CommandTest, kolmo, needs, result

SIMT = any(d["device"] == "simt" for d in result("devices"))
# The output of nvcc 13.0 for three of vector_add's kernels; the hashes differ from build to build.
ROOM = "_ZN5kolmo4cuda41_GLOBAL__N__849bbb09_9_binary_cu_ff88aa8c15"
PACKED = ROOM + "packed_elementsILi%dELi%dELi4EfNS_3SumIfEEffLi2EEEvT3_NS1_7SourcesIT4_XT6_EEEPT5_l"
SINGLE = ROOM + "single_elementsIfNS_3SumIfEEffLi2EEEvT0_NS1_7SourcesIT1_XT3_EEEPT2_lNS_4WalkIXT3_EEEb"
ENTRIES = [PACKED % (256, 2), PACKED % (512, 4), SINGLE]
LOG = "".join(f"""ptxas info    : Compiling entry function '{ENTRIES[v]}' for '{arch}'
ptxas info    : Function properties for {ENTRIES[v]}
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
        self.assertEqual([r["kernel"] for r in rows], [
            "packed_elements<256, 2, 4, float, Sum<float>, float, float, 2>",
            "packed_elements<512, 4, 4, float, Sum<float>, float, float, 2>",
            "single_elements<float, Sum<float>, float, float, 2>"])
        self.assertEqual([r["registers"] for r in rows], [48, 49, 50])
        self.assertEqual(rows[0]["spill_load_bytes"], 4)

    @needs(SIMT, "built without the emulated GPU")
    def test_operators(self):
        log = self.file("log.txt", LOG)
        rows = result("occupancy", "vector_add", "--table", log, "--processors", 100)
        self.assertEqual([(r["capability"], r["variant"], r["threads"], r["blocks"], r["grid"]) for r in rows], [
            (capability, *row) for capability in ("8.0", "9.0") for row in (
                ("block 256, 2 packs", 256, 5, 8192), ("block 512, 4 packs", 512, 2, 2048),
                ("element by element", 256, 4, 65536))])
        self.assertAlmostEqual(rows[0]["waves"], 8192 / 500)
        self.refused("occupancy", "vector_add", "--table", log, "--case", "f16", mentions=["Half", "for 8.0"])
        self.refused("occupancy", "vector_add", "--table", log, "--capability", "8.9", mentions=["8.0, 9.0"])

    def test_every_kernel_of_this_build(self):
        shown = kolmo("occupancy", "--json")
        if "made without nvcc" in shown.stderr:  # the message must then say that nothing is known
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
