"""`kolmo network` killed at any moment goes on and ends with the same bytes."""
import contextlib
import random
import re
import signal
import sqlite3
import subprocess
import time
import unittest

from command import KOLMO, CommandTest, csv, kolmo, numbers


class Resume(CommandTest):
    kills = 20
    options: tuple[str, ...] = ("--theiler", "1")

    def setUp(self):
        super().setUp()
        self.series = self.file("series.csv", csv(numbers(400, 6)))
        self.out = self.path / "n.json"
        self.partial = self.path / "n.json.partial"
        self.args = ["network", "series.csv", "--max-lag", "2", "--surrogates", "200", *self.options, "--out",
                     "n.json", "--device", "cpu", "--threads", "1"]

    def start(self):
        return subprocess.Popen([KOLMO, *self.args], cwd=self.path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True)

    def whole(self):
        begin = time.monotonic()
        run = kolmo(*self.args, cwd=self.path)
        self.assertEqual(run.returncode, 0, run.stderr)
        taken = time.monotonic() - begin
        content = self.out.read_bytes()
        self.out.unlink()
        return content, taken

    def test_killed_many_times(self):
        content, taken = self.whole()
        rng = random.Random(5)
        kills = resumed = 0
        while kills < self.kills:
            process = self.start()
            try:
                process.wait(rng.uniform(0, 1.0) * taken * (0.3 if kills % 2 else 1))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            errors = process.communicate()[1]
            resumed += "going on" in errors
            if process.returncode == -signal.SIGKILL:
                kills += 1
                self.assertFalse(self.out.exists() and self.out.read_bytes() != content, "half-written output")
            else:
                self.assertEqual(process.returncode, 0, errors)
                self.assertEqual(self.out.read_bytes(), content)
                self.assertFalse(self.partial.exists(), "the checkpoint is removed on success")
                self.out.unlink()
        run = kolmo(*self.args, cwd=self.path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.out.read_bytes(), content)
        self.assertGreater(resumed, self.kills / 4, "kills came too early to test resuming")

    def records(self):
        """The number of records that were committed."""
        if not self.partial.exists():
            return 0
        with contextlib.closing(sqlite3.connect(self.partial)) as file:  # rolls back uncommitted data
            if not file.execute("select count(*) from sqlite_master where name = 'record'").fetchone()[0]:
                return 0
            return file.execute("select count(*) from record").fetchone()[0]

    def stop(self, how):
        """Stops a run that has committed a part of its work, and returns its status and what it told."""
        _, taken = self.whole()
        for _ in range(100):
            process = self.start()
            while process.poll() is None and not (self.partial.exists() and self.partial.stat().st_size):
                time.sleep(0.001)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.3 * taken)
            process.send_signal(how)
            errors = process.communicate()[1]
            if process.returncode and self.records():
                return process.returncode, errors
            self.out.unlink(missing_ok=True)  # the run was done before, or had committed nothing
        self.fail("no run was stopped in its midst")

    def test_interrupted(self):
        content, _ = self.whole()
        status, errors = self.stop(signal.SIGINT)
        self.assertEqual(status, 130)
        self.assertIn("n.json.partial", errors)
        self.assertFalse(self.out.exists())
        run = kolmo(*self.args, cwd=self.path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("going on", run.stderr)
        self.assertEqual(self.out.read_bytes(), content)

    def test_other_options_are_refused(self):
        self.stop(signal.SIGKILL)
        before = self.partial.read_bytes()
        self.refused(*self.args[:1], self.series, *self.args[2:8], "--out", self.out, "--seed", "1",
                     mentions=["n.json.partial", "other data or options"])
        self.assertEqual(self.partial.read_bytes(), before)

    def test_a_damaged_checkpoint_is_refused(self):
        self.partial.write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)
        run = kolmo(*self.args, cwd=self.path)
        self.assertEqual(run.returncode, 2)
        self.assertRegex(run.stderr, re.escape("n.json.partial"))
        self.assertFalse(self.out.exists())


class ResumeSearches(Resume):
    kills = 8
    options = ("--method", "multivariate")


if __name__ == "__main__":
    unittest.main()
