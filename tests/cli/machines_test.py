"""What a machine may lack or do: another locale, little memory, full or small disks, signals, and files that others planted."""
import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import time
import unittest

from command import KOLMO, CommandTest, csv, kolmo, needs, numbers

SET_LOCALE = """#include <locale.h>
__attribute__((constructor)) static void set(void) { setlocale(LC_ALL, ""); }
"""


def slower(surrogates):
    """The surrogates that take about as long under AddressSanitizer."""
    return str(surrogates // 12 if "asan" in KOLMO else surrogates)


def with_limit(what, size):
    return lambda: resource.setrlimit(what, (size, size))


class Locale(CommandTest):
    """A program that calls setlocale, as others that load Kolmo do, where a comma is the decimal mark."""

    def setUp(self):
        super().setUp()
        source, library, locales = self.path / "set.c", self.path / "set.so", self.path / "locales"
        source.write_text(SET_LOCALE, encoding="ascii")
        locales.mkdir()
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", locales / "de_DE.UTF-8"], check=True)
        # AddressSanitizer refuses to start beside a preloaded library, and counts what setlocale keeps as leaks.
        self.german = {**os.environ, "LC_ALL": "de_DE.UTF-8", "LOCPATH": str(locales), "LD_PRELOAD": str(library),
                       "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        said = subprocess.run(["printf", "%.1f", "0,5"], env=self.german, capture_output=True, text=True, check=False)
        self.assertEqual(said.stdout, "0,5", "the locale is not in force")

    def same(self, *arguments, files=()):
        """A run writes and prints the same in both locales."""
        seen = []
        for env in (None, self.german):
            run = kolmo(*arguments, cwd=self.path, env=env)
            self.assertEqual(run.returncode, 0, run.stderr)
            seen.append([re.sub(r" +|[0-9.]+ [mun]?s\n|\"seconds\": [-+.e0-9]+", " ", run.stdout.split("device: ")[0])] + [(self.path / file).read_bytes() for file in files])
        self.assertEqual(seen[0], seen[1])
        return seen[0]

    def test_a_report_of_many_variables_has_the_same_p_values(self):
        self.file("d.csv", csv(numbers(60, 62)))
        _, out, report, _, _ = self.same("network", "d.csv", "--estimator", "gaussian", "--max-lag", "1", "--surrogates", "19",
                                         "--alpha", "0.05", "--dt", "0.5", "--dt-unit", "s", "--out", "o.json", "--report", "r.html", "--table", "t.csv", "--graph",
                                         "g.graphml", "--device", "cpu", files=["o.json", "r.html", "t.csv", "g.graphml"])
        values = {link["p_value"] for link in json.loads(out)["links"]}
        self.assertTrue(any(0.1 < p < 0.9 for p in values))
        self.assertIn(b"0.05", report)

    def test_options_with_fractions_and_printed_numbers(self):
        self.file("d.csv", csv(numbers(200, 3)))
        for line in (["te", "d.csv", "--source", "0", "--target", "1", "--noise", "0.25", "--seed", "3"],
                     ["mi", "d.csv", "--x", "0", "--y", "1", "--json"], ["occupancy", "--registers", "48", "--threads", "256"]):
            text = self.same(*line)[0]
            self.assertRegex(text, r"\d\.\d")
        self.assertNotRegex(kolmo("list", env=self.german).stdout, r"\d,\d")


class Memory(CommandTest):
    def limited(self, kibibytes, *arguments, **variables):
        return kolmo(*arguments, cwd=self.path, env={**os.environ, **variables},
                     preexec_fn=with_limit(resource.RLIMIT_AS, kibibytes << 10))

    @needs("asan" not in KOLMO, "AddressSanitizer reserves terabytes of address space")
    def test_little_address_space(self):
        from run_test import npy
        for command in (["--version"], ["list"], ["--help"]):
            run = self.limited(150000, *command)
            self.assertEqual(run.returncode, 0, run.stderr)
        self.file("a.npy", npy([1, 2, 3, 4], (2, 2)))
        product = ["run", "matmul", "--in", "a=a.npy", "--in", "b=a.npy", "--out", "y=y.npy", "--device", "cpu", "--threads", "1"]
        run = self.limited(300000, *product)
        self.assertEqual(run.returncode, 0, run.stderr)
        run = self.limited(150000, *product, OPENBLAS_NUM_THREADS="2")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("matrix products on the CPU: OpenBLAS needs", run.stderr)
        self.assertIn("ulimit -v", run.stderr)


    @needs("asan" not in KOLMO, "AddressSanitizer reserves terabytes of address space")
    def test_npy_takes_little_more_than_its_numbers(self):
        from run_test import npy
        long = self.file("long.npy", npy(range(200), (100, 2)))
        os.truncate(long, 3 << 30)
        run = self.limited(300000, "entropy", "long.npy", "--x", "0", OPENBLAS_NUM_THREADS="1")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("NPY file is too long: the header says 200 elements of 8 bytes", run.stderr)
        rows = 10_000_000
        large = self.file("large.npy", npy([], (rows,), "<f4", "f"))
        os.truncate(large, large.stat().st_size + 4 * rows)  # 40 MB of zeros, 80 MB as doubles
        run = self.limited(120000 + 80000 + 30000, "entropy", "large.npy", "--x", "0", "--rows", "0:100")
        self.assertIn("constant", run.stderr)


class Output(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("d.csv", csv(numbers(60, 3)))

    def network(self, *options, **how):
        return kolmo("network", "d.csv", "--surrogates", "19", "--device", "cpu", *options, cwd=self.path, **how)

    def start(self, *options, **how):
        return subprocess.Popen([KOLMO, "network", "d.csv", "--device", "cpu", *options], cwd=self.path, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)

    def test_a_full_standard_output_is_a_failure(self):
        for command in (["--help"], ["--version"], ["network", "--help"], ["list"], ["completion", "bash"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                run = subprocess.run([KOLMO, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((run.returncode, run.stderr), (1, "kolmo: cannot write to standard output\n"), command)

    def test_a_link_without_an_end_is_followed(self):
        folder = self.path / "elsewhere"
        folder.mkdir()
        os.symlink("elsewhere/result", self.path / "link")
        os.symlink("link", self.path / "link2")
        run = self.network("--out", "link2")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(os.path.islink(self.path / "link2") and os.path.islink(self.path / "link"))
        self.assertEqual(len(json.loads((folder / "result").read_text())["links"]), 6)
        self.assertEqual(os.listdir(folder), ["result"])
        (folder / "result").unlink()
        run = self.network("--out", "link", "--table", "elsewhere/result")
        self.assertEqual(run.returncode, 2)
        self.assertIn("is the same file as --out link", run.stderr)
        for end in ("nowhere/result", "round"):
            os.symlink(end, self.path / "round")
            run = self.network("--out", "round")
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertTrue(os.path.islink(self.path / "round"))
            (self.path / "round").unlink()

    def test_an_existing_file_keeps_its_mode_and_is_never_wider(self):
        out = self.file("o.json", "{}")
        out.chmod(0o600)
        self.assertEqual(self.network("--out", "o.json").returncode, 0)
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o600)

    def test_what_finds_no_place_is_kept_where_nobody_else_reads_or_leads_it(self):
        self.file("d.csv", csv(numbers(300, 8)))
        folder, temporary, victim = self.path / "out", self.path / "temporary", self.file("victim", "precious")
        folder.mkdir(), temporary.mkdir()
        temporary.chmod(0o777)
        victim.chmod(0o644)
        planted = 'for name in kolmo-$$-o.json kolmo-$$-o.csv; do ln -s "$VICTIM" "$TMPDIR/$name"; done; mkfifo "$TMPDIR/kolmo-$$"; exec "$@"'
        surrogates = slower(5000)  # some seconds of work
        process = subprocess.Popen(["sh", "-c", planted, "sh", KOLMO, "network", "d.csv", "--surrogates", surrogates, "--exceedances", "0", "--device", "cpu", "--surrogate-type", "permute",
                                    "--out", "out/o.json", "--table", "out/o.csv"], cwd=self.path, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary), "VICTIM": str(victim)})
        while not (folder / "o.json.partial").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        time.sleep(1)  # the checkpoint is made whole
        self.assertIsNone(process.poll())
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        _, errors = process.communicate(timeout=280)
        self.assertEqual(process.returncode, 1, errors)
        self.assertEqual(victim.read_text(), "precious")
        kept = [f for f in temporary.iterdir() if f.is_file() and not f.is_symlink()]
        self.assertEqual(sorted(f.suffix for f in kept), [".csv", ".json"])
        for file in kept:
            self.assertIn(f"it is in {file}", errors)
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)

    def test_no_file_ends_as_another_format(self):
        for option, bad, good in (("--report", "r.pdf", "r.html"), ("--report", "r.PNG", "R.HTM"), ("--out", "o.csv", "o.json"),
                                  ("--table", "t.xlsx", "t.csv"), ("--trace", "t.html", "t2.json"), ("--table", "t.json", "table.txt")):
            run = self.network(option, bad)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(f"{option}: {bad} ends in {bad[bad.index('.'):].lower()}, and what is written is FILE.", run.stderr)
            self.assertFalse((self.path / bad).exists())
            self.assertEqual(self.network(option, good).returncode, 0)

    def test_a_limit_of_file_sizes_is_a_message(self):
        run = self.network("--report", "r.html", preexec_fn=with_limit(resource.RLIMIT_FSIZE, 20000))
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("File too large", run.stderr)
        self.assertFalse((self.path / "r.html").exists())
        self.assertEqual([f for f in os.listdir(self.path) if f.endswith(".tmp")], [])

    def test_work_that_is_not_kept_is_said_when_it_happens(self):
        self.file("d.csv", csv(numbers(300, 12)))
        process = self.start("--surrogates", slower(20000), "--exceedances", "0", "--surrogate-type", "permute", "--out", "o.json",
                             preexec_fn=with_limit(resource.RLIMIT_FSIZE, 14000))
        line = process.stderr.readline()
        while line and "not kept" not in line:
            line = process.stderr.readline()
        self.assertIn("o.json.partial: ", line)
        self.assertIsNone(process.poll(), "it is said at once")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertIn("interrupted", errors)
        self.assertNotIn("goes on from there", errors)

    def test_every_signal_that_ends_leaves_what_is_finished_and_nothing_else(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                process = self.start("--surrogates", slower(200000), "--exceedances", "0", "--surrogate-type", "permute", "--out", "o.json")
                while not (self.path / "o.json.partial").exists():
                    self.assertIsNone(process.poll())
                    time.sleep(0.01)
                time.sleep(1)  # the checkpoint is made before it is said where it is
                process.send_signal(number)
                _, errors = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 128 + number, errors)
                self.assertIn("the same command goes on from there", errors)
                self.assertEqual(sorted(f for f in os.listdir(self.path) if f != "o.json.partial-journal"), ["d.csv", "o.json.partial"])
                (self.path / "o.json.partial").unlink()

    def test_nohup_is_heeded(self):
        process = self.start("--surrogates", "2000", "--out", "o.json", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        _, errors = process.communicate(timeout=280)
        self.assertEqual(process.returncode, 0, errors)

    def test_signals_while_a_large_file_is_written_leave_no_temporary_file(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([KOLMO, "simulate", "var", "--rows", "3000000", "--seed", "1", "--out", "s.csv", "--truth", "t.json"],
                                       cwd=self.path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            while not any(f.endswith(".tmp") for f in os.listdir(self.path)) and process.poll() is None:
                time.sleep(0.002)
            self.assertIsNone(process.poll(), "it ended before it was written")
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertEqual(os.listdir(self.path), ["d.csv"])


class Neighbours(CommandTest):
    def test_code_beside_the_data_is_not_run(self):
        self.file("d.csv", csv(numbers(60, 3)))
        for module in ("json", "numpy", "distributed", "kolmo", "sitecustomize"):
            self.file(f"{module}.py", f"open('{self.path}/ran', 'a').write('{module}')\n")
        run = kolmo("network", "d.csv", "--surrogates", "9", "--scheduler", "tcp://127.0.0.1:1", "--out", "o.json", cwd=self.path,
                    env={**os.environ, "KOLMO_PYTHON": sys.executable, "KOLMO_SCHEDULER_TIMEOUT": "1s"})
        self.assertEqual(run.returncode, 1)
        self.assertIn("--scheduler: ", run.stderr)
        self.assertFalse((self.path / "ran").exists())

    def test_no_spreadsheet_runs_a_name(self):
        names = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\tx", "-1.5", "plain", "=a,\"b\""]
        quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
        self.file("d.csv", quoted + "\n" + csv(numbers(60, len(names))))
        run = kolmo("network", "d.csv", "--estimator", "gaussian", "--surrogates", "9", "--table", "t.csv", "--header", "yes", "--device",
                    "cpu", cwd=self.path)
        self.assertEqual(run.returncode, 0, run.stderr)
        import csv as reader
        with open(self.path / "t.csv", encoding="utf-8", newline="") as file:
            rows = list(reader.DictReader(file))
        for row in rows:
            for cell in (row["source"], row["target"]):
                self.assertFalse(cell.startswith(("=", "+", "@", "\t", "-2")), cell)
        self.assertIn("'=1+1", {row["source"] for row in rows})
        self.assertIn("-1.5", {row["source"] for row in rows})


if __name__ == "__main__":
    unittest.main()
