"""The commands over the catalogue: devices, list, info, validate, completion."""
import json
import os
import pty
import subprocess
import unittest

from command import KOLMO, CommandTest, kolmo, needs, result

COMMANDS = ["devices", "list", "info", "validate", "bench", "tune", "run", "occupancy", "completion", "entropy", "mi", "te", "ais", "network",
            "simulate"]
SIMT = any(d["device"] == "simt" for d in result("devices"))


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

    def test_devices_and_info_say_whether_cublaslt_was_found(self):
        self.assertNotIn("cuBLASLt", kolmo("info", "vector_add").stdout)
        said = [line for line in kolmo("devices").stdout.splitlines() if "cuBLASLt" in line]
        if "cuda" not in result("info", "matmul")["devices"]:
            self.assertEqual(said, [])  # this build has no CUDA
            return
        [line] = said
        self.assertRegex(line, r"^cuBLASLt( \S+)?: /\S+$|^cuBLASLt( \S+)? is not used: \S+")
        self.assertIn(line, kolmo("info", "matmul").stdout.splitlines())

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
            described = kolmo("info", op["name"]).stdout
            for field in op["fields"]:
                shown = f"\n{field['name']} " in described  # fields are rows of a table; an option that an alias binds is not
                self.assertEqual(shown, not field.get("bound"), (op["name"], field["name"]))
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
        record = result("validate", "fused_layernorm_gelu", "--device", "cpu", "--details")
        self.assertEqual([op["name"] for op in record["ops"]], ["fused_layernorm_gelu"])
        self.assertEqual({r["case"] for r in record["ops"][0]["results"]}, {"fused_layernorm_gelu k=300 f32"})

    def test_aliases_are_listed_with_dtypes_and_variants(self):
        lines = kolmo("list", "--aliases").stdout.splitlines()
        self.assertEqual(lines[0].split(), ["group", "name", "is", "devices", "dtypes", "variants"])
        self.assertEqual(sorted(line.split()[1] for line in lines[1:]), sorted(op["name"] for op in result("list")))
        line = next(line for line in lines if " fused_layernorm_gelu " in line)
        self.assertRegex(line, r"layer_norm with activation=gelu +cpu.* f64 f32 f16 bf16 +\d+ on CUDA, \d+ on CPU$")
        line = next(line for line in lines if " stdp_update " in line)
        self.assertRegex(line, r" f64 f32 +\d+ on CUDA")  # dtypes of the variable T; the first tensor is bool

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

    def test_the_engines_of_neighbour_estimates_on_the_cpu_are_named_with_their_rule(self):
        for name in ("ksg_conditional_mutual_information", "ksg_mutual_information", "ksg_transfer_entropy"):
            said = kolmo("info", name).stdout
            for text in ("engines on CPU, by rows, columns and estimates", "shared lists", "trees"):
                self.assertIn(text, said)
        self.assertNotIn("engines", kolmo("info", "matmul").stdout)

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
        except OSError:  # the terminal was closed
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

    def test_checks_every_device_unless_one_is_named(self):
        kinds = list(dict.fromkeys(d["device"].split(":")[0] for d in result("devices")))
        run = kolmo("validate", "vector_add", "softmax")
        self.assertEqual(run.returncode, 0, run.stdout)
        devices = [line.split()[1].split(":")[0] for line in run.stdout.splitlines() if line.startswith("device: ")]
        self.assertEqual(devices, kinds)
        table = run.stdout.split("\noperator ")[1].splitlines()
        self.assertEqual(table[0].split(), ["device", "cases", "passed", "failed", "worst", "error", "/", "tolerance"])
        rows = [(row.split()[0], row.split()[1].split(":")[0]) for row in table[1:1 + 2 * len(kinds)]]
        self.assertEqual(rows, [(op, kind) for op in ("vector_add", "softmax") for kind in kinds])
        for line, kind in zip(table[1 + 2 * len(kinds):], kinds, strict=True):
            self.assertRegex(line, rf"^{kind}\S*: [1-9]\d* passed, 0 failed" + r"( \(emulated\))?" * (kind == "simt") + "$")
        records = result("validate", "vector_add")
        self.assertEqual([r["device"]["device"].split(":")[0] for r in records], kinds)
        self.assertEqual(records[0]["ops"][0]["name"], "vector_add")

    def test_the_whole_tolerance_is_100_percent(self):
        self.assertRegex(kolmo("validate", "vector_add", "--device", "cpu").stdout, r"\nvector_add .* 100 %\n")

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
        kolmo("validate", "vector_add", "--device", "cpu", "--details", "--record", path)
        details = json.loads(path.read_text())["ops"][0]["results"]
        self.assertEqual([r["variant"] for r in op["results"]], sorted({r["variant"] for r in details}))
        for row in op["results"]:
            those = [r for r in details if r["variant"] == row["variant"]]
            self.assertEqual(row, {"variant": row["variant"], "cases": len({r["case"] for r in those if r["aspect"] == "result"}),
                                   "passed": sum(r["ok"] for r in those), "failed": sum(not r["ok"] for r in those),
                                   "max_error": max(r.get("max_error", 0) for r in those)})
        aspects = {r["aspect"] for r in details}
        self.assertLessEqual({"result", "memory", "repeat", "graph", "stream", "arguments", "cost", "fact"}, aspects)
        for key in ["kolmo_version", "commit", "date", "driver"]:
            self.assertIn(key, record)
        run = kolmo("validate", "vector_add", "--device", "cpu", "--record", self.path / "missing" / "record.json")
        self.assertEqual(run.returncode, 2)
        if len(result("devices")) > 1:
            self.refused("validate", "vector_add", "--record", path, mentions=["--record", "one device", "--device"])
        self.assertEqual(list(self.path.iterdir()), [path])

    def record(self, name, date, sources, failed=0, device="cuda:0"):
        return self.file(name, json.dumps({
            "date": date, "kind": "validate", "device": {"device": device},
            "ops": [{"name": "vector_add", "cuda_sources": sources, "results": [{"passed": 3, "failed": failed}]}]}))

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
        self.record("c.json", "2026-01-04T00:00:00Z", sources, failed=1)
        self.assertIn("failed when last validated", self.state())
        self.record("d.json", "2026-01-05T00:00:00Z", sources)
        self.assertEqual(self.state(), "verified")
        details = self.record("d.json", "2026-01-05T00:00:01Z", sources)
        details.write_text(details.read_text().replace('"passed": 3, "failed": 0', '"ok": false'))
        self.assertIn("failed when last validated, 2026-01-05T00:00:01Z", self.state())
        os.mkdir(os.path.join(self.path, "h100"))
        self.record("h100/a.json", "2026-01-06T00:00:00Z", "0" * 64)
        self.assertIn("sources changed since 2026-01-06", self.state())
        for name, other in (("list", "[1]"), ("text", '"validate"'), ("number", '{"kind": 3}')):  # JSON of other programs
            self.file(name + ".json", other)
        self.assertIn("sources changed since 2026-01-06", self.state())
        self.file("e.json", "{")
        self.refused("validate", "--unverified", self.path, mentions=["e.json"])


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
