"""kolmo tune: what it prints and stores, and what becomes of a store that is damaged, full, busy or read-only."""
import json
import os
import resource
import signal
import struct
import subprocess
import time
import unittest

from command import KOLMO, CommandTest, kolmo, needs

CASE = ["matmul", "--case", "256 cube f32", "--device", "cpu", "--threads", "2", "--budget", "20"]
SMALL = ["vector_add", "--case", "n=1000 f64", "--device", "cpu", "--threads", "2", "--budget", "20"]


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
        self.assertEqual(len(profile["configs"]), 4)  # two engines, one or two threads
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
        self.assertEqual(self.tune(*CASE).returncode, 0)  # where there is a store, misses are kept
        x = self.file("x.npy", matrix(100))
        environment = {**os.environ, "KOLMO_TUNING": str(self.store)}
        run = ["run", "matmul", "--in", f"a={x}", "--in", f"b={x}", "--device", "cpu", "--threads", "2"]
        self.assertEqual(kolmo(*run, env=environment).returncode, 0)
        self.assertEqual(len(list(self.store.rglob(".untuned/*.json"))), 1)
        report = self.tune("--misses", "matmul", "--device", "cpu", "--threads", "2", "--budget", "20", "--json")
        self.assertEqual(report.returncode, 0, report.stderr)
        [case] = json.loads(report.stdout)["ops"][0]["results"]
        self.assertEqual(case["sizes"]["a0"], 128)
        self.assertEqual(list(self.store.rglob(".untuned/*.json")), [])
        self.assertEqual(kolmo(*run, env=environment).returncode, 0)
        self.assertEqual(list(self.store.rglob(".untuned/*.json")), [], "it is known now")
        off = kolmo(*run, env={**os.environ, "KOLMO_TUNING": "off"})
        self.assertEqual(off.returncode, 0)

    def test_bad_usage(self):
        self.refused("tune", "matmul", "--strategy", "guess", mentions=["--strategy"])
        self.refused("tune", "matmul", "--mode", "warm", mentions=["--mode"])
        self.refused("tune", "matmul", "--budget", "0", mentions=["--budget"])
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
