"""The command that runs any operator on NPY files."""
import struct
import unittest

from command import CommandTest, kolmo, result

SIMT = any(d["device"] == "simt" for d in result("devices"))


def npy(values, shape, descr="<f8", code="d", fortran=False):
    header = str({"descr": descr, "fortran_order": fortran, "shape": shape})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(values)}{code}", *values)


def read_f8(path):
    content = path.read_bytes()
    start = 10 + struct.unpack("<H", content[8:10])[0]
    return list(struct.unpack(f"<{(len(content) - start) // 8}d", content[start:]))


class Run(CommandTest):
    def setUp(self):
        super().setUp()
        self.x = self.file("x.npy", npy([1, 2, 3, 4], (2, 2)))
        self.y = self.file("y.npy", npy([10, 20, 30, 40], (2, 2)))
        self.z = self.path / "z.npy"

    def test_any_operator_on_files(self):
        devices = ["cpu"] + (["simt"] if SIMT else [])
        for device in devices:
            run = kolmo("run", "vector_add", "--in", f"x={self.x}", "--in", f"y={self.y}", "--out", f"z={self.z}",
                        "--device", device)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn(f"device: {device}", run.stdout)
            self.assertEqual(read_f8(self.z), [11, 22, 33, 44])
            self.z.unlink()

    def test_fortran_order_is_read_as_what_it_means(self):
        x = self.file("fortran.npy", npy([1, 3, 2, 4], (2, 2), fortran=True))
        kolmo("run", "vector_add", "--in", f"x={x}", "--in", f"y={self.y}", "--out", f"z={self.z}")
        self.assertEqual(read_f8(self.z), [11, 22, 33, 44])

    def test_options_and_optional_outputs(self):
        rows = self.file("rows.npy", npy([0, 1, 2, 4, 7, 11, 16, 22, 29, 37], (1, 10, 1)))
        columns = self.file("columns.npy", npy([0, 1, 2, 4, 7, 11, 16, 22, 29, 37], (10, 1)))
        local = self.path / "local.npy"
        given = ["run", "ksg_mutual_information", "--in", f"x={rows}", "--in", f"y={columns}"]
        run = kolmo(*given, "--set", "k=3", "--set", "algorithm=ksg2", "--out", f"value={self.z}", "--out",
                    f"local={local}")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(read_f8(local)), 10)
        self.assertEqual(len(read_f8(self.z)), 1)
        self.refused(*given, "--set", "k=0", mentions=["ksg_mutual_information: k is 0, accepted are 1 to 64"])
        self.refused(*given, "--set", "k=1.5", mentions=["k is '1.5', expected an integer"])
        self.refused(*given, "--set", "algorithm=ksg3", mentions=["ksg1, ksg2"])
        self.refused(*given, "--set", "k=3", "--set", "k=4", mentions=["k is given twice"])

    def test_an_alias_and_a_variant(self):
        y = self.path / "y.npy"
        given = ["--in", f"x={self.x}", "--out", f"y={y}", "--set", "eps=0", "--device", "cpu"]
        run = kolmo("run", "fused_layernorm_gelu", *given)
        self.assertEqual(run.returncode, 0, run.stderr)
        for value, want in zip(read_f8(y), [-0.15865525393145705, 0.8413447460685429] * 2):
            self.assertAlmostEqual(value, want, places=14)
        self.refused("run", "fused_layernorm_gelu", *given, "--set", "activation=relu",
                     mentions=["fused_layernorm_gelu: its name says what activation is"])
        self.refused("run", "layer_norm", *given, "--variant", "none", mentions=["no variant is called 'none' here"])
        self.assertNotIn("there are", kolmo("run", "layer_norm", *given, "--variant", "none").stderr)  # its only variant has no name

    def test_outputs_without_inputs_have_the_dtype_asked_for(self):
        given = ["run", "random_uniform", "--set", "n=3", "--out", f"values={self.z}"]
        self.assertIn("(3) f64", kolmo(*given).stdout)
        self.assertEqual(len(read_f8(self.z)), 3)
        self.assertIn("(3) f32", kolmo(*given, "--dtype", "f32").stdout)
        self.refused(*given, "--dtype", "i64", mentions=["random_uniform: no output can be i64"])
        self.refused(*given, "--dtype", "f128", mentions=["--dtype: 'f128' is no dtype"])

    def test_a_dtype_that_the_inputs_contradict_is_refused(self):
        given = ["run", "layer_norm", "--in", f"x={self.x}", "--out", f"y={self.z}", "--dtype"]
        self.assertEqual(kolmo(*given, "f64").returncode, 0)
        self.refused(*given, "f16", mentions=["layer_norm: y cannot be f16: it is f64"])

    def test_a_list_does_not_end_with_a_comma(self):
        image = self.file("image.npy", npy(range(16), (1, 1, 4, 4)))
        weight = self.file("weight.npy", npy([1], (1, 1, 1, 1)))
        given = ["run", "conv2d", "--in", f"x={image}", "--in", f"weight={weight}", "--out", f"y={self.z}", "--set"]
        self.assertEqual(kolmo(*given, "stride=2,2").returncode, 0)
        for wrong in ("2,2,", ",", ",2", "2,,2"):
            self.refused(*given, f"stride={wrong}", mentions=["conv2d: stride is '"])

    def test_bool_and_narrow_integers_stay_what_they_are(self):
        for descr, code, values in [("|b1", "?", [True, False]), ("|i1", "b", [-128, 127]), ("<u8", "Q", [2**63 + 5, 0])]:
            x = self.file("narrow.npy", npy(values, (2,), descr, code))
            run = kolmo("run", "contiguous_copy", "--in", f"x={x}", "--out", f"y={self.z}")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn(f"'descr': '{descr}'".encode(), self.z.read_bytes())
            self.assertEqual(self.z.read_bytes()[-len(values) * struct.calcsize(code):], struct.pack(f"<2{code}", *values))

    def test_accuracy_is_the_option_of_products(self):
        values = [1 + i / 7 for i in range(64 * 64)]
        a = self.file("a.npy", npy(values, (64, 64), "<f4", "f"))
        given = ["run", "matmul", "--in", f"a={a}", "--in", f"b={a}", "--out", f"y={self.z}"]
        self.assertEqual(kolmo(*given, "--set", "accuracy=4").returncode, 0)
        set_by_name = self.z.read_bytes()
        run = kolmo(*given, "--accuracy", "4")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.z.read_bytes(), set_by_name)
        self.refused(*given, "--accuracy", "0.5", mentions=["matmul: accuracy is 0.5, accepted are 1 to"])
        self.refused(*given, "--accuracy", "exact", mentions=["matmul: accuracy is 'exact'"])
        self.refused(*given, "--accuracy", "4", "--set", "accuracy=4", mentions=["--accuracy and --set accuracy are the same option"])
        self.refused("run", "vector_add", "--in", f"x={self.x}", "--in", f"y={self.y}", "--accuracy", "4",
                     mentions=["--accuracy: vector_add has no such option", "matmul"])
        self.assertIn("--accuracy E", kolmo("run", "--help").stdout)

    def test_wrong_arguments_leave_no_file(self):
        short = self.file("short.npy", npy([1, 2, 3], (3,)))
        narrow = self.file("narrow.npy", npy([1, 2, 3, 4], (2, 2), "<f4", "f"))
        broken = self.file("broken.npy", self.x.read_bytes()[:-3])
        x, y, out = f"x={self.x}", f"y={self.y}", f"z={self.z}"
        for arguments, mentions in [
            (["--in", x, "--in", f"y={short}", "--out", out], ["vector_add: y is (3) f64"]),
            (["--in", x, "--in", f"y={narrow}", "--out", out], ["y is f32"]),
            (["--in", x, "--in", f"y={broken}", "--out", out], ["broken.npy"]),
            (["--in", x, "--in", "y=absent.npy", "--out", out], ["absent.npy"]),
            (["--in", x, "--out", out], ["y is missing"]),
            (["--in", x, "--in", y, "--in", f"w={self.y}", "--out", out], ["no input is called 'w'", "x, y"]),
            (["--in", x, "--in", y, "--out", f"q={self.z}"], ["no output is called 'q'", "z"]),
            (["--in", x, "--in", y, "--out", f"z={self.path}/no/z.npy"], ["z.npy"]),
            (["--in", "x", "--in", y, "--out", out], ["'x' is not NAME=VALUE"]),
            (["--in", x, "--in", y, "--set", "k=1", "--out", out], ["no option is called 'k'"]),
        ]:
            self.refused("run", "vector_add", *arguments, mentions=mentions)
        self.assertEqual({p.name for p in self.path.iterdir()},
                         {"x.npy", "y.npy", "short.npy", "narrow.npy", "broken.npy"})


if __name__ == "__main__":
    unittest.main()
