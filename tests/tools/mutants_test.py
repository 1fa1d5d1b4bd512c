#!/usr/bin/env python3
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from mutants import candidates, operators_of  # noqa: E402

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

    def test_operators_of_a_family(self):
        self.assertEqual(operators_of("extern const Op<A> f;\nextern const Op<B> g, h;\n"), ["f", "g", "h"])


if __name__ == "__main__":
    unittest.main()
