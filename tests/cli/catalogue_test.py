"""The commands over the catalogue: devices, list, info, validate, bench, run, completion."""
import json
import os
import pty
import signal
import struct
import subprocess
import time
import unittest

from command import KOLMO, CommandTest, kolmo, needs, result

COMMANDS = ["devices", "list", "info", "validate", "bench", "tune", "run", "occupancy", "completion", "entropy", "mi", "te", "ais", "network",
            "simulate"]
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


class Help(CommandTest):
    def test_every_command_explains_itself_with_an_example(self):
        overview = kolmo("--help").stdout
        for name in COMMANDS:
            run = kolmo(name, "--help")
            self.assertEqual(run.returncode, 0)
            self.assertIn(f"Usage: kolmo {name}", run.stdout)
            self.assertIn(f"  kolmo {name}", run.stdout.split("Example")[1].replace("source <(", "  "))
            self.assertTrue(run.stdout.endswith("\n"))
            self.assertIn(f"  {name} ", overview)

    def test_version(self):
        self.assertRegex(kolmo("--version").stdout, r"^kolmo \d+\.\d+\.\d+ \(\S+\)\n$")

    def test_wrong_usage_is_one_line(self):
        self.refused(mentions=["kolmo --help"])
        self.refused("frobnicate", mentions=["no command 'frobnicate'"])
        self.refused("list", "--frob", mentions=["--frob", "kolmo list --help"])
        self.refused("info", mentions=["op"])
        self.refused("info", "vector_ad", mentions=["vector_ad", "vector_add"])
        self.refused("list", "--group", "none", mentions=["'none'"])
        self.refused("validate", "nothing", mentions=["'nothing'"])
        self.refused("validate", "vector_add", "--device", "gpu", mentions=["'gpu'"])
        self.refused("bench", "--samples", "1", mentions=["--samples"])
        self.refused("completion", "tcsh", mentions=["tcsh"])

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "w") as full:
            run = subprocess.run([KOLMO, "list"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot write", run.stderr)


class Catalogue(CommandTest):
    def test_devices(self):
        devices = result("devices")
        self.assertEqual(devices[0]["device"], "cpu")
        self.assertIn(devices[0]["name"], kolmo("devices").stdout)

    def test_list_and_info_agree(self):
        ops = result("list")
        names = [op["name"] for op in ops]
        self.assertIn("vector_add", names)
        text = kolmo("list").stdout
        for op in ops:
            self.assertIn(op["name"], text)
            self.assertEqual(result("info", op["name"]), op)
            self.assertRegex(op["cuda_sources"], r"^([0-9a-f]{64})?$")
            self.assertTrue(op["cases"])
            for field in op["fields"]:
                self.assertIn(field["name"], kolmo("info", op["name"]).stdout)
        self.assertEqual({op["group"] for op in result("list", "--group", "info")}, {"info"})

    def test_aliases_are_the_operator_with_options_set(self):
        alias = result("info", "fused_layernorm_gelu")
        self.assertEqual(alias["alias_of"], "layer_norm")
        defaults = {f["name"]: f.get("default") for f in alias["fields"]}
        self.assertEqual(defaults["activation"], "gelu")
        self.assertTrue(all("gelu" in case["name"] for case in alias["cases"]))
        self.assertLess(len(alias["cases"]), len(result("info", "layer_norm")["cases"]))
        self.assertIn("= layer_norm with activation=gelu", kolmo("list", "--group", "nn").stdout)
        self.assertIn("alias fused_layernorm_gelu", kolmo("info", "layer_norm").stdout)
        record = result("validate", "fused_layernorm_gelu", "--device", "cpu")
        self.assertEqual([op["name"] for op in record["ops"]], ["fused_layernorm_gelu"])
        self.assertEqual({r["case"] for r in record["ops"][0]["results"]}, {"fused_layernorm_gelu k=300 f32"})

    def test_aliases_are_listed_with_dtypes_and_variants(self):
        lines = kolmo("list", "--aliases").stdout.splitlines()
        self.assertEqual(lines[0].split(), ["group", "name", "is", "devices", "dtypes", "variants"])
        self.assertEqual(sorted(line.split()[1] for line in lines[1:]), sorted(op["name"] for op in result("list")))
        line = next(line for line in lines if " fused_layernorm_gelu " in line)
        self.assertRegex(line, r"layer_norm with activation=gelu +cpu.* f64 f32 f16 bf16 +\d+ on CUDA, \d+ on CPU$")

    def test_an_alias_lists_the_cuda_variants_it_stands_for(self):
        for name in ["tensor_core_matmul", "tensor_core_matmul_wmma"]:
            described = result("info", name)
            names = [row["name"] for row in described["variants"]]
            self.assertTrue(all(n.startswith("tensor ") for n in names), names)
            self.assertEqual(bool(names), described["devices"] != ["cpu"])
            line = [x for x in kolmo("info", name).stdout.splitlines() if x.startswith("variants on CUDA: ")]
            shown = [row["name"] + " (hardware only)" * row["hardware_only"] for row in described["variants"]]
            self.assertEqual(line, ["variants on CUDA: " + ", ".join(shown)] if shown else [])
        self.assertIn("naive", [row["name"] for row in result("info", "matmul")["cpu_variants"]])

    def test_cpu_variants_are_listed(self):
        rows = result("info", "fp32_to_fp16")["cpu_variants"]
        self.assertEqual([row["naive"] for row in rows], [False, True])

    def test_colours_only_on_a_terminal(self):
        self.assertNotIn("\033", kolmo("list").stdout)
        self.assertIn(b"\033[", self.on_terminal({}))
        self.assertNotIn(b"\033[", self.on_terminal({"NO_COLOR": "1"}))

    def on_terminal(self, variables):
        ours, theirs = pty.openpty()
        environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | variables
        subprocess.run([KOLMO, "info", "vector_add"], stdout=theirs, env=environment, check=True)
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:  # the terminal's end
            pass
        os.close(ours)
        return seen


class Validate(CommandTest):
    def test_counts_and_says_where(self):
        run = kolmo("validate", "vector_add", "--device", "cpu")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertTrue(run.stdout.startswith("device: cpu ("))
        self.assertRegex(run.stdout, r"\noperator +cases +passed +failed +worst error / tolerance\nvector_add +[1-9]\d* +\d+ +0 +\d.* %\n")
        self.assertRegex(run.stdout, r"\n\d+ passed, 0 failed\n$")

    @needs(SIMT, "this build has no emulated GPU")
    def test_emulated_results_say_so(self):
        run = kolmo("validate", "vector_add", "--device", "simt")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("emulated", run.stdout.splitlines()[0])
        self.assertTrue(run.stdout.endswith("(emulated)\n"))
        self.assertTrue(result("validate", "vector_add", "--device", "simt")["device"]["emulated"])

    def test_record(self):
        path = self.path / "record.json"
        kolmo("validate", "vector_add", "--device", "cpu", "--record", path)
        record = json.loads(path.read_text())
        self.assertEqual(record["kind"], "validate")
        self.assertEqual(record["device"]["device"], "cpu")
        self.assertIn("--record", record["command"])
        [op] = record["ops"]
        self.assertEqual(op["cuda_sources"], result("info", "vector_add")["cuda_sources"])
        aspects = {r["aspect"] for r in op["results"]}
        self.assertLessEqual({"result", "memory", "repeat", "graph", "stream", "arguments", "cost", "fact"}, aspects)
        for key in ["kolmo_version", "commit", "date", "driver"]:
            self.assertIn(key, record)
        run = kolmo("validate", "vector_add", "--record", self.path / "missing" / "record.json")
        self.assertEqual(run.returncode, 2)
        self.assertEqual(list(self.path.iterdir()), [path])

    def record(self, name, date, sources, ok=True, device="cuda:0"):
        return self.file(name, json.dumps({
            "date": date, "kind": "validate", "device": {"device": device},
            "ops": [{"name": "vector_add", "cuda_sources": sources, "results": [{"ok": ok}]}]}))

    def state(self):
        states = {op["name"]: op["state"] for op in result("validate", "--unverified", self.path)}
        return states.get("vector_add", "verified")

    def test_unverified_follows_the_latest_record(self):
        sources = result("info", "vector_add")["cuda_sources"]
        self.assertEqual(self.state(), "never validated")
        self.record("cpu.json", "2026-01-01T00:00:00Z", sources, device="cpu")
        self.assertEqual(self.state(), "never validated")
        self.record("a.json", "2026-01-02T00:00:00Z", sources)
        self.assertEqual(self.state(), "verified")
        self.record("b.json", "2026-01-03T00:00:00Z", "0" * 64)
        self.assertIn("sources changed since 2026-01-03", self.state())
        self.record("c.json", "2026-01-04T00:00:00Z", sources, ok=False)
        self.assertIn("failed when last validated", self.state())
        self.record("d.json", "2026-01-05T00:00:00Z", sources)
        self.assertEqual(self.state(), "verified")
        self.file("e.json", "{")
        self.refused("validate", "--unverified", self.path, mentions=["e.json"])


class Bench(CommandTest):
    def test_keeps_raw_samples(self):
        record = result("bench", "vector_add", "--case", "n=1000", "--samples", "4", "--device", "cpu", "--threads", "1")
        [timing] = record["ops"][0]["results"]
        self.assertEqual(timing["case"], "n=1000 f64")
        self.assertEqual(len(timing["samples"]), 4)
        self.assertLessEqual(min(timing["samples"]), timing["seconds"])
        self.assertLessEqual(timing["seconds"], max(timing["samples"]))
        self.assertEqual(timing["bytes"], 24000)
        self.assertGreater(record["device"]["bytes_per_second"], 0)

    def test_a_case_of_an_alias_is_shown_under_its_name(self):
        record = result("bench", "layer_norm", "--case", "fused_layernorm_gelu k=300", "--samples", "3", "--device", "cpu")
        self.assertEqual([r["name"] for r in record["ops"][0]["results"]], ["fused_layernorm_gelu"])

    def test_a_baseline_is_timed_beside_unless_it_is_not_wanted(self):
        args = ["bench", "fp16_to_fp32", "--default", "--case", "n=1003", "--samples", "3", "--device", "cpu"]
        self.assertTrue(all(r["baseline"]["variant"] == "one by one" for r in result(*args)["ops"][0]["results"]))
        self.assertFalse(any("baseline" in r for r in result(*args, "--no-baseline")["ops"][0]["results"]))

    def test_the_baseline_of_an_operator_without_a_naive_variant_is_one_thread(self):
        args = ["bench", "vector_add", "--case", "n=1000", "--samples", "3", "--device", "cpu", "--threads"]
        self.assertEqual({r["baseline"]["variant"] for r in result(*args, "2")["ops"][0]["results"]}, {"one thread"})
        self.assertFalse(any("baseline" in r for r in result(*args, "1")["ops"][0]["results"]))

    def test_says_what_its_budget_left_out(self):
        args = ["bench", "matmul", "--case", "256 cube f32", "--device", "cpu", "--threads", "1", "--budget"]
        run = kolmo(*args, "0.000001")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("not measured, to end in 1e-06 s (--budget): matmul, 256 cube f32", run.stdout)
        [left_out] = result(*args, "0.000001")["ops"][0]["results"]
        self.assertIn("left_out", left_out)
        [measured] = result(*args, "0")["ops"][0]["results"]
        self.assertFalse(measured["cut_short"])
        self.assertGreater(measured["seconds"], 0)
        self.refused("bench", "--budget", "-1", mentions=["--budget"])

    def test_ctrl_c_ends_it_without_a_record(self):
        path = self.path / "record.json"
        run = subprocess.Popen([KOLMO, "bench", "--samples", "10000", "--record", str(path)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        run.stdout.readline()  # the line with the device: it has started
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGINT)
        self.assertIn("kolmo: interrupted", errors)
        self.assertEqual(list(self.path.iterdir()), [])


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
        self.refused("run", "layer_norm", *given, "--variant", "none", mentions=["no variant is called 'none'"])

    def test_outputs_without_inputs_have_the_dtype_asked_for(self):
        given = ["run", "random_uniform", "--set", "n=3", "--out", f"values={self.z}"]
        self.assertIn("(3) f64", kolmo(*given).stdout)
        self.assertEqual(len(read_f8(self.z)), 3)
        self.assertIn("(3) f32", kolmo(*given, "--dtype", "f32").stdout)
        self.refused(*given, "--dtype", "i64", mentions=["random_uniform: no output can be i64"])

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


class Completion(CommandTest):
    def complete(self, *words):
        script = ('source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kolmo; '
                  'echo "${COMPREPLY[@]}"')
        return subprocess.run(["bash", "-c", script, KOLMO, *words], capture_output=True, text=True,
                              check=True).stdout.split()

    def test_bash(self):
        self.assertEqual(self.complete("kolmo", "netw"), ["network"])
        self.assertEqual(set(COMMANDS) - set(self.complete("kolmo", "")), set())
        self.assertEqual(self.complete("kolmo", "info", "vector_a"), ["vector_add"])
        self.assertIn("--unverified", self.complete("kolmo", "validate", "--"))
        self.assertIn("simt", self.complete("kolmo", "bench", "--device", ""))

    def test_zsh_names_every_command(self):
        script = kolmo("completion", "zsh").stdout
        self.assertTrue(script.startswith("#compdef kolmo\n"))
        for name in COMMANDS:
            self.assertIn(f"\n    {name})\n", script)


if __name__ == "__main__":
    unittest.main()
