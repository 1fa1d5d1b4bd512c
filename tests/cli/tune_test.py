"""kolmo tune: what it prints and stores, and what becomes of a store that is damaged, full, busy or read-only."""
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
from pathlib import Path

from command import KOLMO, CommandTest, csv, kolmo, needs, numbers

CASE = ["matmul", "--case", "63 65 33 f64", "--device", "cpu", "--threads", "2", "--budget", "40", "--under-load"]
SMALL = ["vector_add", "--case", "n=1000 f64", "--device", "cpu", "--threads", "2", "--budget", "30", "--under-load"]


def matrix(n):
    header = str({"descr": "<f4", "fortran_order": False, "shape": (n, n)})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{n * n}f", *([0.5] * n * n))


class Tune(CommandTest):
    def setUp(self):
        super().setUp()
        self.store = self.path / "store"

    def tune(self, *args, **options):
        return kolmo("tune", *args, "--store", self.store, **options)

    def profiles(self):
        return sorted(p for p in self.store.rglob("*.json") if p.name != "manifest.json" and ".untuned" not in str(p))

    def listed(self):
        run = self.tune("--list", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_a_tuning_is_reported_stored_and_listed(self):
        record = self.path / "record.json"
        run = self.tune(*CASE, "--json", "--record", record)
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual(report, json.loads(record.read_text()))
        self.assertEqual(report["kind"], "tune")
        [case] = report["ops"][0]["results"]
        self.assertGreater(case["seconds"], 0)
        self.assertGreaterEqual(case["speedup"]["default"], 1)
        self.assertGreater(case["speedup"]["naive"], 0)
        self.assertTrue(case["stored"])
        profile = case["profile"]
        self.assertIn(profile["winner"], profile["configs"])
        self.assertEqual(len(profile["configs"]), 4)  # two engines, with one or two threads each
        self.assertTrue(profile["configs"][profile["winner"]]["verified"])
        self.assertEqual(report["summary"]["configurations_tried"], 4)
        self.assertEqual(len(self.profiles()), 1)
        [known] = self.listed()["profiles"]
        self.assertEqual(known["winner"], profile["winner"])
        again = json.loads(self.tune(*CASE, "--stale", "--json").stdout)["summary"]
        self.assertEqual((again["cases"], again["fresh"]), (0, 1))
        text = self.tune("--list").stdout
        self.assertIn("matmul", text)
        self.assertIn("1 results", text)

    def test_the_text_report_says_what_counts(self):
        run = self.tune(*CASE, "--dry-run")
        self.assertEqual(run.returncode, 0, run.stderr)
        for text in ("device: cpu", "naive", "average speed-up", "4 configurations tried", "stream_hot"):
            self.assertIn(text, run.stdout)
        self.assertFalse(self.store.exists(), "--dry-run stores nothing")

    def test_damage_is_ignored_shown_and_collected(self):
        self.assertEqual(self.tune(*SMALL).returncode, 0)
        [profile] = self.profiles()
        good = profile.read_bytes()
        for bad in (b"", good[:100], good.replace(b"median_ns", b"median_xs", 1), b"\x00" * 1000):
            profile.write_bytes(bad)
            listing = self.listed()
            self.assertEqual(listing["profiles"], [])
            self.assertEqual(len(listing["invalid"]), 1)
        self.assertIn("ignored", self.tune("--list").stdout)
        later = good.replace(b'"schema": 1', b'"schema": 7', 1)
        profile.write_bytes(later)
        run = self.tune(*SMALL)
        self.assertEqual(run.returncode, 1)
        self.assertIn("newer Kolmo", run.stderr)
        self.assertEqual(self.tune("--gc", "1GB").returncode, 0)
        self.assertEqual(profile.read_bytes(), later, "a later schema is left alone")
        profile.write_bytes(good[:-20])
        gc = json.loads(self.tune("--gc", "1GB", "--json").stdout)
        self.assertEqual(gc["removed_files"], 1)
        self.assertEqual(self.profiles(), [])

    def test_export_and_import(self):
        self.assertEqual(self.tune(*SMALL).returncode, 0)
        bundle = self.path / "bundle.json"
        self.assertIn("1 results written", self.tune("--export", bundle).stdout)
        other = self.path / "other"
        self.assertIn("1 results taken", kolmo("tune", "--import", bundle, "--store", other).stdout)
        self.assertEqual({p.relative_to(other): p.read_bytes() for p in other.rglob("*.json")},
                         {p.relative_to(self.store): p.read_bytes() for p in self.store.rglob("*.json")})
        self.refused("tune", "--import", self.file("bad.json", "{}"), "--store", other, mentions=["bad.json"])
        self.refused("tune", "--import", "/nowhere", "--store", other, mentions=["/nowhere"])
        self.refused("tune", "--list", "--gc", "1", mentions=["--gc"])

    def test_calls_without_a_result_are_listed_and_tuned(self):
        self.assertEqual(self.tune(*CASE).returncode, 0)  # misses are kept if there is a store
        x = self.file("x.npy", matrix(100))
        environment = {**os.environ, "KOLMO_TUNING": str(self.store)}
        run = ["run", "matmul", "--in", f"a={x}", "--in", f"b={x}", "--device", "cpu", "--threads", "2"]
        self.assertEqual(kolmo(*run, env=environment).returncode, 0)
        self.assertEqual(len(list(self.store.rglob(".untuned/*.json"))), 1)
        report = self.tune("--misses", "matmul", "--device", "cpu", "--threads", "2", "--budget", "60", "--under-load", "--json")
        self.assertEqual(report.returncode, 0, report.stderr)
        [case] = json.loads(report.stdout)["ops"][0]["results"]
        self.assertEqual(case["sizes"]["a0"], 128)
        self.assertEqual(list(self.store.rglob(".untuned/*.json")), [])
        self.assertEqual(kolmo(*run, env=environment).returncode, 0)
        self.assertEqual(list(self.store.rglob(".untuned/*.json")), [], "it is known now")
        off = kolmo(*run, env={**os.environ, "KOLMO_TUNING": "off"})
        self.assertEqual(off.returncode, 0)

    def test_an_analysis_before_the_first_tuning_is_to_be_run_again(self):
        data = self.file("d.csv", csv(numbers(120)))
        analysis = ["te", data, "--source", 0, "--target", 1, "--surrogates", 19, "--device", "cpu", "--threads", "2"]
        misses = ["--misses", "--device", "cpu", "--threads", "2", "--budget", "600", "--under-load", "--json"]
        found = []
        for _ in range(3):
            self.assertEqual(kolmo(*analysis, env={**os.environ, "KOLMO_TUNING": str(self.store)}).returncode, 0)
            run = self.tune(*misses)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual("run them again" in run.stderr, len(found) != 1, run.stderr)
            found.append(json.loads(run.stdout)["summary"]["cases"])
        self.assertEqual(found[0], 0)
        self.assertGreater(found[1], 0)
        self.assertEqual(found[2], 0, "the analysis found its result")

    def test_analyses_are_tuned_as_they_are_called(self):
        self.assertEqual(self.tune(*CASE).returncode, 0)
        data = self.file("d.csv", csv(numbers(80, 3)))
        environment = {**os.environ, "KOLMO_TUNING": str(self.store)}
        commands = [("mi", data, "--x", 0, "--y", 1, "--theiler", 2), ("entropy", data, "--x", 0),
                    ("network", data, "--surrogates", 19)]

        def missed():
            for command in commands:
                run = kolmo(*command, "--device", "cpu", "--threads", 2, env=environment)
                self.assertEqual(run.returncode, 0, run.stderr)
            return len(list(self.store.rglob(".untuned/*.json")))

        self.assertGreater(missed(), 3)
        report = self.tune("--misses", "--device", "cpu", "--threads", "2", "--under-load")
        self.assertEqual((report.returncode, report.stderr), (0, ""))
        self.assertEqual(missed(), 0, report.stdout)

    @unittest.skipUnless(Path("/proc/self/schedstat").exists(), "this system does not tell how long threads wait")
    def test_disturbed_samples_are_thrown_away(self):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
        try:
            run = self.tune(*(option for option in CASE if option != "--under-load"), "--json")
        finally:
            for process in busy:
                process.kill()
                process.wait()
        [case] = json.loads(run.stdout)["ops"][0]["results"]
        if "error" in case:
            self.assertRegex(case["error"], r"^matmul: not tuned: other work on this machine disturbed \d+ of \d+ samples$")
        else:
            self.assertGreater(case["profile"]["search"]["discarded"], 0)

    def test_the_budget_is_for_everything_and_what_is_not_reached_is_listed(self):
        run = self.tune("--device", "cpu", "--threads", "2", "--budget", "3", "--under-load", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        summary, results = report["summary"], [(op["name"], r) for op in report["ops"] for r in op["results"]]
        left_out = [f"{name}, {r['case']}" for name, r in results if "left_out" in r]
        self.assertEqual(sorted(summary["not_reached"]), sorted(left_out))
        self.assertEqual(summary["cases"] + len(left_out), len(results), "every case is tuned or listed")
        self.assertGreater(len(left_out), 50)
        text = self.tune("vector_add", "matmul", "--device", "cpu", "--budget", "0.000001", "--under-load")
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn("not reached, to end in 1e-06 s (--budget): matmul, 8192 cube f32", text.stdout)
        self.assertIn("0 cases, 0 configurations tried", text.stdout)

    def test_a_case_that_is_not_there_is_an_error_that_names_those_that_are(self):
        for command in ("tune", "bench", "serve"):
            self.refused(command, "vector_add", "--case", "zzz", "--device", "cpu",
                         mentions=["no case of vector_add has 'zzz' in its name", "n=1000 f64", "n=33 bf16"])
            self.refused(command, "vector_add", "--case", "n=1000 f46", "--device", "cpu", mentions=["did you mean 'n=1000 f64'"])
        self.refused("tune", "--case", "zzz", "--store", self.store, mentions=["operators", "more; kolmo info OP"])
        self.refused("bench", "matmul", "vector_add", "--case", "zzz", mentions=["no case of these 2 operators"])
        self.refused("tune", "--misses", "--case", "one", mentions=["--case"])
        self.assertFalse(self.store.exists())

    def test_bad_usage(self):
        self.refused("tune", "matmul", "--strategy", "guess", mentions=["--strategy"])
        self.refused("tune", "matmul", "--mode", "warm", mentions=["--mode"])
        self.refused("tune", "matmul", "--budget", "-1", mentions=["--budget"])
        self.refused("tune", "nothing", "--store", self.store, mentions=["'nothing'"])
        self.refused("tune", "--gc", "much", mentions=["--gc"])

    def test_a_folder_that_cannot_be_written(self):
        blocked = self.file("file", "")
        run = kolmo("tune", *CASE, "--store", blocked / "store")
        self.assertEqual(run.returncode, 2)
        self.assertIn("cannot be made", run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1)

    @needs(os.getuid() == 0, "needs root, to become someone who may not write")
    def test_a_read_only_cache_is_read(self):
        self.assertEqual(self.tune(*CASE).returncode, 0)
        self.path.chmod(0o755)
        x = self.file("x.npy", matrix(64))
        before = sorted(self.store.rglob("*"))
        environment = {**os.environ, "KOLMO_TUNING": str(self.store)}

        def nobody():
            os.setgid(65534)
            os.setuid(65534)

        for n in (64, 100):
            x.write_bytes(matrix(n))
            run = kolmo("run", "matmul", "--in", f"a={x}", "--in", f"b={x}", "--device", "cpu", "--threads", "2",
                        env=environment, preexec_fn=nobody)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stderr, "")
        run = self.tune(*CASE, preexec_fn=nobody)
        self.assertEqual(run.returncode, 2)
        self.assertIn("cannot be written", run.stderr)
        self.assertEqual(sorted(self.store.rglob("*")), before)

    def test_files_that_are_no_profiles_harm_nobody(self):
        self.assertEqual(self.tune(*SMALL).returncode, 0)
        [profile] = self.profiles()
        manifest = profile.parent.parent / "manifest.json"
        data = self.file("data.csv", "x,y\n" + "".join(f"{i * i % 17},{i * 7 % 13}\n" for i in range(60)))
        environment = {**os.environ, "KOLMO_TUNING": str(self.store)}
        mine = self.file("mine", "mine")

        def deep(path):
            path.write_text("[" * 300_000)

        for place in (profile, manifest):
            for make in (deep, os.mkfifo, lambda path: path.symlink_to(mine)):
                place.unlink()
                make(place)
                self.assertEqual(self.listed()["profiles"], [])
                run = kolmo("te", data, "--source", "x", "--target", "y", "--device", "cpu", env=environment)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(self.tune(*SMALL).returncode, 0)
                self.assertEqual(len(self.listed()["profiles"]), 1)
                self.assertEqual(mine.read_text(), "mine")

    def test_nothing_is_measured_that_cannot_be_kept(self):
        self.assertEqual(self.tune(*SMALL).returncode, 0)
        [profile] = self.profiles()
        folder = profile.parent
        shutil.rmtree(folder)
        folder.write_text("in the way")
        run = self.tune(*SMALL, "--json")
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot be made", run.stderr)
        self.assertEqual(json.loads(run.stdout)["summary"]["configurations_tried"], 0)

    def test_switched_off_it_makes_no_folder(self):
        off = {**os.environ, "KOLMO_TUNING": "off"}
        for command in (SMALL, ("--list",), ("--gc", "1")):
            run = kolmo("tune", *command, env=off, cwd=self.path)
            self.assertEqual(run.returncode, 2)
            self.assertIn("tuning is off", run.stderr)
        self.assertFalse((self.path / "off").exists())

    def test_a_full_disk_is_a_failure_and_nothing_is_lost(self):
        self.assertEqual(self.tune(*SMALL).returncode, 0)
        before = {p: p.read_bytes() for p in self.store.rglob("*.json")}

        def full():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

        run = self.tune(*SMALL, preexec_fn=full)
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("writing failed", run.stderr)
        self.assertEqual({p: p.read_bytes() for p in self.store.rglob("*.json")}, before)
        self.assertEqual([p for p in self.store.rglob("*.tmp")], [])

    def test_eight_tunings_at_once(self):
        command = [KOLMO, "tune", *SMALL, "--store", str(self.store)]
        running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(8)]
        for process in running:
            _, error = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, error)
        self.assertEqual(self.listed()["invalid"], [])

    def test_killed_tunings_leave_a_valid_store(self):
        for i in range(6):
            process = subprocess.Popen([KOLMO, "tune", *SMALL, "--store", str(self.store)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.05 * i)
            process.kill()
            process.wait()
            self.assertEqual(self.listed()["invalid"], [])


if __name__ == "__main__":
    unittest.main()
