"""What meets a newcomer of the command."""
import unittest

from command import CommandTest, csv, kolmo, numbers


class FirstMinutes(CommandTest):
    def coupled(self):
        table = numbers(300, 3)
        for before, row in zip(table, table[1:]):
            row[1] += 0.8 * before[0]
            row[2] += 0.8 * before[1]
        return self.file("d.csv", csv(table, ["a", "b", "c"]))

    def test_an_analytic_test_has_no_columns_of_surrogates(self):
        run = kolmo("network", self.coupled(), "--estimator", "gaussian", "--max-lag", 2)
        self.assertEqual(run.returncode, 0, run.stderr)
        head, first = run.stdout.splitlines()[:2]
        self.assertEqual(head.split(), ["source", "target", "lag", "nats", "p-value", "adjusted"])
        self.assertIn(first.split()[:3], (["a", "b", "1"], ["b", "c", "1"]))
        self.assertNotIn("nan", run.stdout)
        run = kolmo("network", self.coupled(), "--estimator", "gaussian", "--max-lag", 2, "--surrogates", 99)
        self.assertEqual(run.stdout.splitlines()[0].split()[4:6], ["bias-corrected", "z"])


if __name__ == "__main__":
    unittest.main()
