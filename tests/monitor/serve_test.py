"""kolmo serve, kolmo top, and --trace and --check-numerics of other commands, as a user meets them."""
import json
import os
import re
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from serving import KOLMO, Serving, fetch


def kolmo(*arguments, **options):
    return subprocess.run([KOLMO, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def npy(path, values):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                     struct.pack(f"<{len(values)}d", *values))


class Serve(unittest.TestCase):
    def test_a_load_is_seen_everywhere(self):
        with Serving("vector_add", "histogram_2d", "--device", "cpu") as served:
            s = served.snapshot(lambda s: all("launches_per_second" in k for k in s["kernel"]) and s["kernel"])
            self.assertEqual({k["kernel"] for k in s["kernel"]}, {"vector_add", "histogram_2d"})
            for k in s["kernel"]:
                self.assertGreater(k["duration_seconds"]["1m"]["p99"], 0)
                self.assertGreaterEqual(k["duration_seconds"]["1m"]["p99"], k["duration_seconds"]["1m"]["p50"])
            series = s["curves"]["series"]
            self.assertIn('kolmo_kernel_launches_total{device="cpu",kernel="vector_add"}', series)
            self.assertEqual({len(values) for values in series.values()}, {len(s["curves"]["seconds"])})

            text, headers = fetch(served.url + "metrics")
            self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
            self.assertIn('kolmo_kernel_duration_seconds_bucket{device="cpu",kernel="vector_add",le="0.01"}', text)
            page, headers = fetch(served.url)
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertIn("<title>Kolmo monitor</title>", page)

            address = served.url[7:-1]
            for where in (address, served.url):
                shown = kolmo("top", where, "--once")
                self.assertEqual(shown.returncode, 0, shown.stderr)
                for word in ("histogram_2d", "vector_add", "cpu", "p99", f"process {served.process.pid}"):
                    self.assertIn(word, shown.stdout)
            self.assertEqual(json.loads(kolmo("top", address, "--json", "--once").stdout)["pid"], served.process.pid)

            taken = kolmo("serve", "--metrics", address)
            self.assertEqual(taken.returncode, 1)
            self.assertEqual(taken.stderr, f"kolmo: metrics: cannot listen on {address}: Address already in use\n")

            # One thread launches. Its share is estimated from the launches that were timed, over 10 seconds.
            s = served.snapshot(lambda s: s["history_seconds"] >= 10)
            self.assertLess(sum(k["busy_seconds_per_second"] for k in s["kernel"]), 1.05)

    def test_it_ends_by_itself_with_what_was_seen(self):
        done = kolmo("serve", "vector_add", "--device", "cpu", "--metrics", "0", "--seconds", "2.5", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        s = json.loads(done.stdout)
        self.assertEqual([k["kernel"] for k in s["kernel"]], ["vector_add"])
        self.assertIn("curves", s)

    def test_the_load_is_tuned_before(self):
        with tempfile.TemporaryDirectory(prefix="kolmo-monitor-") as store:
            environment = {**os.environ, "KOLMO_TUNING": store}
            done = kolmo("serve", "histogram_2d", "--device", "cpu", "--metrics", "0", "--seconds", "0.1", "--tune-first",
                         "30", env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("tuned 1 of 1 operators first", done.stderr)
            self.assertIn("histogram_2d", kolmo("tune", "--list", env=environment).stdout)
            off = kolmo("serve", "histogram_2d", "--device", "cpu", "--metrics", "0", "--tune-first", "1",
                        env={**os.environ, "KOLMO_TUNING": "off"})
            self.assertEqual(off.returncode, 2, off.stderr)

    def test_the_load_is_tuned_in_its_pauses(self):
        with tempfile.TemporaryDirectory(prefix="kolmo-monitor-") as store:
            with Serving("vector_add", "--case", "n=1000", "--device", "cpu", "--pause", "0.05", "--tune-beside",
                         environment={"KOLMO_TUNING": store}) as served:
                taken, end = 0.0, time.monotonic() + 180  # a sanitizer's build measures the peaks for long first
                while taken == 0 and time.monotonic() < end:
                    time.sleep(0.1)
                    found = re.findall(r"^kolmo_tuner_shadow_gpu_seconds_total\S* (\S+)$",
                                       fetch(served.url + "metrics")[0], re.M)
                    taken = sum(map(float, found))
                self.assertGreater(taken, 0)
        busy = kolmo("serve", "vector_add", "--device", "cpu", "--metrics", "0", "--tune-beside")
        self.assertEqual(busy.returncode, 2)
        self.assertIn("--pause", busy.stderr)
        self.assertEqual(kolmo("serve", "--metrics", "0", "--tune-first", "1").returncode, 2)

    def test_other_commands_serve_too(self):
        with Serving("vector_add", "--device", "cpu", "--samples", "10000", command="bench") as served:
            served.snapshot(lambda s: s["kernel"] and s["kernel"][0]["kernel"] == "vector_add")

    def test_gpus_are_shown_as_the_driver_tells(self):
        with Serving(fake_gpus=True) as served:
            s = served.snapshot(lambda s: "sm_active_ratio" in s["gpu"][1])
            old, new = s["gpu"]
            self.assertEqual((old["model"], old["uuid"], old["cc"]), ("Old", "GPU-a", "8.0"))
            self.assertNotIn("busy_ratio", old, "garbage is left out")
            self.assertNotIn("power_watts", old)
            self.assertNotIn("sm_active_ratio", old)
            self.assertEqual(sum(old["throttled"].values()), 0, "idle is no throttling")
            self.assertEqual(new["busy_ratio"], 0.97)
            self.assertEqual((new["memory_used_bytes"], new["memory_total_bytes"]), (750, 1000))
            self.assertEqual((new["power_watts"], new["energy_joules_total"]), (412.5, 5))
            self.assertEqual((new["temperature_celsius"], new["sm_clock_hertz"]), (61, 1.98e9))
            self.assertEqual([reason for reason, on in new["throttled"].items() if on], ["thermal"])
            self.assertEqual(new["xid_errors_total"], {"79": 1})
            self.assertAlmostEqual(new["sm_active_ratio"], 0.2)
            self.assertAlmostEqual(new["sm_occupancy_ratio"], 0.3)
            self.assertAlmostEqual(new["dram_active_ratio"], 1.0)
            self.assertNotIn("tensor_active_ratio", new)
            self.assertIn('kolmo_gpu_throttled{gpu="1",reason="thermal",uuid="GPU-b"} 1', fetch(served.url + "metrics")[0])
            shown = kolmo("top", served.url, "--once").stdout
            self.assertIn("held down by thermal", shown)
            self.assertIn("412 W", shown)


class Top(unittest.TestCase):
    def test_without_a_process_it_shows_this_machine(self):
        shown = kolmo("top", "--once")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("cpu", shown.stdout)

    def test_bad_addresses_and_silence(self):
        self.assertEqual(kolmo("top", "nonsense", "--once").returncode, 2)
        silent = kolmo("top", "127.0.0.1:1", "--once")
        self.assertEqual((silent.returncode, silent.stderr.count("\n")), (1, 1))
        self.assertIn("no answer", silent.stderr)
        bad = kolmo("serve", "--metrics", "nonsense")
        self.assertEqual((bad.returncode, bad.stdout), (2, ""))
        self.assertEqual(kolmo("serve", "no_such_operator").returncode, 2)
        for command in (("serve", "--seconds", "nan"), ("top", "--interval", "-NaN", "--once")):
            refused = kolmo(*command)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("is not a number", refused.stderr)
        self.assertEqual(kolmo("serve", "vector_add", "--case", "no such case", "--metrics", "0").returncode, 2)


class Watching(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kolmo-monitor-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def test_a_trace_holds_every_launch(self):
        trace = self.path / "trace.json"
        done = kolmo("bench", "vector_add", "--device", "cpu", "--samples", "3", "--case", "n=1000", "--trace", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads(trace.read_text())["traceEvents"]
        spans = [e for e in events if e["ph"] == "X"]
        self.assertGreater(len(spans), 10)
        self.assertEqual({e["name"] for e in spans}, {"vector_add"})
        self.assertTrue(all(e["dur"] >= 0 and e["ts"] >= 0 for e in spans))
        self.assertEqual({e["tid"] for e in spans} - {e["tid"] for e in events if e["ph"] == "M"}, set())

    def test_a_trace_needs_a_folder(self):
        done = kolmo("bench", "vector_add", "--device", "cpu", "--trace", self.path / "none" / "trace.json")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_numerics_are_checked_when_asked(self):
        npy(self.path / "x.npy", [1, 1e308])
        arguments = ("run", "vector_add", "--device", "cpu", "--in", f"x={self.path}/x.npy", "--in",
                     f"y={self.path}/x.npy", "--out", f"z={self.path}/z.npy")
        self.assertEqual(kolmo(*arguments).returncode, 0)
        os.remove(self.path / "z.npy")
        stopped = kolmo(*arguments, "--check-numerics")
        self.assertEqual(stopped.returncode, 1)
        self.assertIn("vector_add: z[1] is infinity where every input is finite", stopped.stderr)
        self.assertFalse((self.path / "z.npy").exists())

    def test_nvtx_is_refused_without_its_headers(self):
        done = kolmo("bench", "vector_add", "--device", "cpu", "--samples", "3", "--case", "n=1000", "--nvtx")
        self.assertIn(done.returncode, (0, 2))
        if done.returncode == 2:
            self.assertIn("NVTX", done.stderr)


if __name__ == "__main__":
    unittest.main()
