#!/usr/bin/env python3
import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from mutants import candidates, operators_of  # noqa: E402
import mutate  # noqa: E402
from mutate import KINDS, ROOT, due  # noqa: E402

SOURCE = """\
#include <a - b>
// a + b
constexpr Case<A> cases[] = {
    {.name = "x", .sizes = {{"n", 1 - 2}}},
};
template <int N = 3 - 1>
double f(const T* x, int n) {
  double sum = 0;  // sum - 1
  for (int i = 0; i < n; ++i) sum += x[i] - "a + b"[0];
  return sum;
}
constinit const Definition<A> d{{.name = "f"}, {.flops = [](const A& a) { return a.n - 1.0; }}};
void ramp(RampArgs& a) {
  for (int i = 0; i < a.n; ++i) a.x[i] = i - 1;
}
constexpr double f64 = 3 * (2 + 1) * 0x1p-53;
"""


class Mutants(unittest.TestCase):
    def test_they_stand_in_code_alone(self):
        self.assertEqual([(c.kind, c.line) for c in candidates(SOURCE)], [("sign", 9), ("sign", 9), ("bound", 9), ("index", 9)])

    def test_each_changes_one_place(self):
        changed = [c.applied(SOURCE).split("\n") for c in candidates(SOURCE)]
        self.assertEqual([line[8].strip() for line in changed], [
            'for (int i = 0; i < n; ++i) sum -= x[i] - "a + b"[0];',
            'for (int i = 0; i < n; ++i) sum += x[i] + "a + b"[0];',
            'for (int i = 0; i <= n; ++i) sum += x[i] - "a + b"[0];',
            'for (int i = 0; i < n; ++i) sum += x[i ^ 1] - "a + b"[0];'])
        for lines in changed:
            self.assertEqual([a for i, a in enumerate(lines) if i != 8], [a for i, a in enumerate(SOURCE.split("\n")) if i != 8])

    def test_comments_do_not_count(self):
        def sources(text):
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "a.cpp").write_text(text)
                return mutate.source_digest(Path(folder) / "a.cpp"), [c.before for c in candidates(text)]

        plain = sources('int a = b + c;\nf("x // y", \'"\', a - 1);\n')
        self.assertEqual(plain[1], ["int a = b + c;", """f("x // y", '"', a - 1);"""])
        self.assertEqual(sources('int a = b + c;  // a + c\n// why\nf("x // y", \'"\', a - 1);  // "and"\n'), plain)
        self.assertNotEqual(sources('int a = b + d;\nf("x // y", \'"\', a - 1);\n')[0], plain[0])

    def test_operators_of_a_family(self):
        self.assertEqual(operators_of("extern const Op<A> f;\nextern const Op<B> g, h;\n"), ["f", "g", "h"])

    def test_what_is_due_is_never_judged_or_of_an_older_source_the_oldest_first(self):
        def entry(file, kind, result="killed", sha256="new", date="2026-02-02"):
            return {"file": file, "kind": kind, "result": result, "sha256": sha256, "date": date}

        def names(every_kind=False):
            return [str(path.relative_to(ROOT)) for path, _ in due([(ROOT / f, []) for f in "abcdef"], known, every_kind, lambda path: "new")]

        known = [entry("a", "sign", sha256="old"), entry("b", "sign"), entry("c", "bound", sha256="old", date="2026-01-01"),
                 entry("e", "sign", "none"), entry("e", "index", "survived"), *(entry("f", kind, "none") for kind in KINDS)]
        self.assertEqual(names(), ["d", "c", "a"])
        self.assertEqual(names(every_kind=True), ["d", "c", "a", "b", "e"])
        known += [entry("d", "sign", "none"), entry("a", "index")]
        self.assertEqual(names(), ["c", "d"], "no mutant of one kind: others may give one")

    def test_a_verdict_ends_at_the_first_failure_and_by_the_time_of_the_cpu(self):
        def verdict(script):
            with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as patches:
                commands = [Path(folder) / name for name in ("original", "mutant")]
                for command, text in zip(commands, ("exit 0", script)):
                    command.write_text(f"#!/bin/sh\necho device: cpu\n{text}\n")
                    command.chmod(0o755)
                for name, value in (("TREE", Path(folder)), ("ORIGINAL", commands[0]), ("COMMAND", commands[1]), ("LEAST", 1)):
                    patches.enter_context(mock.patch.object(mutate, name, value))
                mutate.limit.cache_clear()
                return mutate.judge(["f"], "cpu")

        self.assertEqual(verdict("exit 0"), {"result": "survived"})
        self.assertEqual(verdict("echo 'FAILED  f, case'; exec sleep 100"), {"result": "killed", "by": "FAILED  f, case"})
        self.assertEqual(verdict("echo corrupted; exit 134"), {"result": "killed", "by": "corrupted"})
        self.assertEqual(verdict("while :; do :; done"), {"result": "killed", "by": "time"})
        self.assertEqual(verdict("sleep 2; exit 0"), {"result": "survived"}, "a wait is not the mutant's")

    def test_runs_in_pieces_and_judges_again_what_has_changed(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as patches:
            root, tree = Path(folder) / "root", Path(folder) / "tree"
            for name in ("f", "g"):
                home = root / "kolmo/ops/x" / name
                home.mkdir(parents=True)
                (home / f"{name}.hpp").write_text(f"extern const Op<A> {name};\n")
                (home / f"{name}.cpp").write_text("int a = b + c;\n")
            (root / "tools").mkdir()
            (root / "tools/mutants_equivalent.txt").write_text("")

            def build():
                for p in tree.glob("kolmo/**/*.cpp"):
                    compiled = tree / "build/cpu" / p.with_suffix(".o").name
                    compiled.parent.mkdir(parents=True, exist_ok=True)
                    compiled.write_text(p.read_text())
                return True

            def prepare():
                for source in root.rglob("*.cpp"):
                    copy = tree / source.relative_to(root)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_text(source.read_text())
                return build()

            prepared = mock.Mock(side_effect=prepare)
            judged = mock.Mock(side_effect=lambda names, device: {"result": "survived" if names == ["g"] else "killed"})
            for name, value in (("ROOT", root), ("TREE", tree), ("COMMAND", tree / "command"), ("SHARED", {}), ("build", build),
                                ("prepare", prepared), ("judge", judged)):
                patches.enter_context(mock.patch.object(mutate, name, value))

            def run(*arguments):
                with mock.patch.object(sys, "argv", ["mutate.py", *arguments]), contextlib.redirect_stdout(io.StringIO()) as said:
                    return mutate.main(), said.getvalue().splitlines()[-1], judged.call_count

            self.assertEqual(run("--minutes", "0"), (False, "0 mutants, 0 killed, 0 survived", 0))
            prepared.assert_not_called()
            self.assertEqual(run("kolmo/ops/x/f"), (False, "1 mutants, 1 killed, 0 survived", 1))
            self.assertEqual(run(), (True, "2 mutants, 1 killed, 1 survived", 2))
            self.assertEqual(run(), (True, "2 mutants, 1 killed, 1 survived", 2), "nothing is judged twice")
            source = root / "kolmo/ops/x/g/g.cpp"
            source.write_text("int a = b - c;\n")
            self.assertEqual(run("--minutes", "0"), (False, "1 mutants, 1 killed, 0 survived", 2))
            kept = json.loads((root / "results/mutants.json").read_text())["mutants"]
            self.assertEqual([m["file"][-5:] for m in kept if m["result"] != "none"], ["f.cpp", "g.cpp"], "what is old stays until it is judged")
            self.assertEqual(run("--cpu"), (True, "2 mutants, 1 killed, 1 survived", 3))
            self.assertEqual(source.read_text(), (tree / source.relative_to(root)).read_text())


if __name__ == "__main__":
    unittest.main()
