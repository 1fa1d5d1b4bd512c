"""No command overwrites what it reads, or loses what it computed."""
import json
import os
import shutil
import subprocess
import time
import unittest

from command import KOLMO, CommandTest, csv, kolmo, numbers


class Files(CommandTest):
    def setUp(self):
        super().setUp()
        self.series = self.file("d.csv", csv(numbers(60, 3)))
        self.content = self.series.read_bytes()

    def network(self, *options, **how):
        return kolmo("network", "d.csv", "--surrogates", "19", "--device", "cpu", *options, cwd=self.path, **how)

    def kept(self, run, *mentions):
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(self.series.read_bytes(), self.content)
        for text in mentions:
            self.assertIn(text, run.stderr)

    def test_an_input_is_never_an_output(self):
        os.symlink("d.csv", self.path / "link")
        os.link(self.series, self.path / "second_name.csv")
        for option in ("--out", "--report", "--trace"):
            for name in ("d.csv", "./d.csv", "link", "second_name.csv", str(self.series)):
                self.kept(self.network(option, name), f"{option}: {name} is the same file as FILE d.csv")
        (self.path / "d.json").hardlink_to(self.path / "d.csv")
        self.kept(kolmo("--memory-trace", "d.json", "mi", "d.csv", "--x", "0", "--y", "1", cwd=self.path),
                  "is the same file as")
        import_name = self.file("x.npy", b"not read")
        run = kolmo("run", "digamma", "--in", "x=x.npy", "--out", "y=./x.npy", cwd=self.path)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--out: ./x.npy is the same file as --in x.npy", run.stderr)
        self.assertEqual(import_name.read_bytes(), b"not read")

    def test_two_outputs_are_two_files(self):
        for other in ("o.json", "./o.json", str(self.path / "o.json")):
            self.kept(self.network("--out", "o.json", "--report", other), "is the same file as --out o.json")
        self.assertEqual(os.listdir(self.path), ["d.csv"])

    def test_outputs_are_checked_before_anything_is_computed(self):
        self.kept(self.network("--out", "nowhere/o.json"), "--out: nowhere/o.json: there is no folder")
        self.kept(self.network("--report", "."), "is a directory")

    def test_pipes_and_devices_are_written_directly(self):
        want = self.network("--out", "o.json")
        self.assertEqual(want.returncode, 0, want.stderr)
        links = json.loads((self.path / "o.json").read_text())["links"]
        for name in ("-", "/dev/stdout"):
            run = self.network("--out", name)
            self.assertEqual(json.loads(run.stdout)["links"], links, run.stderr)
        reader, writer = os.pipe()
        run = self.network("--out", f"/dev/fd/{writer}", pass_fds=[writer])
        os.close(writer)
        with os.fdopen(reader) as pipe:
            self.assertEqual(json.loads(pipe.read())["links"], links, run.stderr)
        full = self.network("--out", "/dev/full")
        self.assertEqual(full.returncode, 1)
        self.assertIn("No space left", full.stderr)
        self.assertFalse(os.path.exists("/dev/full.partial"))

    def test_a_result_outlives_its_folder(self):
        folder = self.path / "out"
        folder.mkdir()
        temporary = self.path / "temporary"
        temporary.mkdir()
        process = subprocess.Popen([KOLMO, "network", "d.csv", "--surrogates", "60000", "--exceedances", "0", "--device", "cpu",
                                    "--out", "out/o.json"], cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env={**os.environ, "TMPDIR": str(temporary)})
        partial = folder / "o.json.partial"
        while not partial.exists() or not partial.stat().st_size:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        shutil.rmtree(folder)
        _, errors = process.communicate(timeout=280)
        self.assertEqual(process.returncode, 1, errors)
        [kept] = temporary.iterdir()
        self.assertIn(f"it is in {kept}", errors)
        self.assertEqual(len(json.loads(kept.read_text())["links"]), 6)


if __name__ == "__main__":
    unittest.main()
