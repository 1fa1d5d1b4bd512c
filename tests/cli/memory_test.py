"""kolmo memory, and --memory-trace of any command."""
import csv
import io
import json
import pickle
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from command import CommandTest, kolmo, result


class MemoryTest(CommandTest):
    def trace(self):
        path = self.path / "trace.json"
        run = kolmo("--memory-trace", path, "validate", "vector_add", "--device", "cpu")
        self.assertEqual(run.returncode, 0, run.stderr)
        return path

    def test_numbers_are_in_order(self):
        report = result("memory", self.trace(), "--pool", "cpu")
        self.assertEqual(report["lost"], 0)
        [pool] = report["pools"]
        self.assertGreater(pool["allocations"], 50)
        self.assertEqual(sum(pool["from"].values()), pool["allocations"])
        self.assertEqual(pool["allocations"] - pool["frees"], pool["end"]["live"])
        self.assertLessEqual(pool["lower_bound_bytes"], pool["packed_bytes"])
        self.assertLessEqual(pool["packed_bytes"], pool["reserved_peak_bytes"])
        self.assertLessEqual(pool["peak_requested_bytes"], pool["peak_granted_bytes"])
        self.assertEqual(max(m[0] for m in pool["course"]), pool["peak_requested_bytes"])

    def test_report_is_drawn(self):
        run = kolmo("memory", self.trace())
        self.assertEqual(run.returncode, 0, run.stderr)
        for text in ("cpu: ", "requested", "reuse potential", "█", "chunks at the end", "0 lost"):
            self.assertIn(text, run.stdout)

    def test_exports_hold_every_event(self):
        log, snapshot = self.path / "log.csv", self.path / "snapshot.pickle"
        report = result("memory", self.trace(), "--pool", "cpu", "--rmm", log, "--pytorch", snapshot)["pools"][0]
        rows = list(csv.DictReader(io.StringIO(log.read_text(encoding="utf-8"))))
        self.assertEqual(list(rows[0]), ["Thread", "Time", "Action", "Pointer", "Size", "Stream"])
        self.assertEqual(sum(r["Action"] == "allocate" for r in rows), report["allocations"])
        self.assertEqual(sum(r["Action"] == "free" for r in rows), report["frees"])
        live = {}
        for row in rows:
            if row["Action"] == "allocate":
                self.assertNotIn(row["Pointer"], live)
                live[row["Pointer"]] = row["Size"]
            else:
                self.assertEqual(live.pop(row["Pointer"]), row["Size"])

        torch = pickle.loads(snapshot.read_bytes())
        self.assertEqual(len(torch["segments"]), report["end"]["chunks"])
        self.assertEqual(sum(s["total_size"] for s in torch["segments"]), report["end"]["reserved_bytes"])
        for segment in torch["segments"]:
            at = segment["address"]
            for block in segment["blocks"]:
                self.assertEqual(block["address"], at)
                self.assertIn(block["state"], ("active_allocated", "inactive"))
                at += block["size"]
            self.assertEqual(at, segment["address"] + segment["total_size"])
        actions = [event["action"] for event in torch["device_traces"][0]]
        self.assertEqual(actions.count("alloc"), report["allocations"])
        self.assertEqual(actions.count("free_completed"), report["frees"])
        names = {frame["name"] for event in torch["device_traces"][0] for frame in event["frames"]}
        self.assertLessEqual(names, {"vector_add"})

    def test_failing_commands_are_recorded_too(self):
        path = self.path / "trace.json"
        run = kolmo("--memory-trace", path, "run", "vector_add", "--in", "x=/no/such.npy")
        self.assertEqual(run.returncode, 2)
        self.assertEqual(json.loads(path.read_text(encoding="utf-8"))["format"], "kolmo memory trace")

    def test_bad_input_is_refused(self):
        self.refused("memory", self.path / "none.json", mentions=["none.json"])
        self.refused("memory", self.file("bad.json", "{"), mentions=["bad.json", "is no JSON"])
        self.refused("memory", self.file("other.json", "[1]"), mentions=["other.json", "--memory-trace"])
        self.refused("memory", self.trace(), "--pool", "gpu", mentions=["'gpu'", "cpu"])
        self.refused("memory", self.trace(), "--rmm", self.path / "no" / "log.csv", mentions=["log.csv"])
        self.refused("--memory-trace", self.path / "no" / "t.json", "list", mentions=["t.json"])


if __name__ == "__main__":
    unittest.main()
