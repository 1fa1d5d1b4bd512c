"""Every option of every command that takes a number refuses NaN, infinity and numbers too large, as --help lists them."""
import itertools
import re
import unittest

from command import CommandTest, csv, kolmo, numbers
from forecast_test import LOG
from run_test import npy

# Names in --help of values that are not numbers. Values with any other name are numbers.
WORDS = {"ADDRESS", "C", "COL", "COL[:LAGS],...", "COLS", "DEVICE", "DIR", "DTYPE", "FOLDER", "GROUP", "LIST", "MODE", "NAME",
         "NAME=FILE.npy", "NAME=VALUE", "PLAN", "START:END", "STRATEGY", "TEXT", "UNIT", "VARIANT"}
OTHERS = ("inf", "-inf", "infinity", "1e999", "-1e999", "NAN", "-nan")


def commands():
    return re.findall(r"^  (\w+)", kolmo("--help").stdout.split("Subcommands:")[1].split("Example")[0], re.M)


def number_options(command):
    """Names and types of the options that take a number; for `--rows,--samples N=1000` the name is --rows."""
    for names, kind in re.findall(r"^ +((?:-\w,)?--[-\w,]+) ([A-Z]\S*)", kolmo(command, "--help").stdout, re.M):
        kind = re.split(r"[=:](?!LAGS|END)", kind)[0]
        if kind not in WORDS and not kind.startswith("FILE") and "|" not in kind and kind != "Excludes":
            yield re.search(r"--[-\w]+", names)[0]


class Numbers(CommandTest):
    def test_numbers_are_finite(self):
        data = self.file("d.csv", csv(numbers(40, 3)))
        local = self.path / "local.csv"
        complete = {  # other arguments that a command needs
            "entropy": (data, "--x", 0), "mi": (data, "--x", 0, "--y", 1, "--local", local),
            "te": (data, "--source", 0, "--target", 1, "--local", local), "ais": (data, "--x", 0, "--local", local),
            "network": (data, "--surrogates", 9), "stream": (data, "--source", 0, "--target", 1, "--window", 20),
            "simulate": ("var", "--out", self.path / "s.csv", "--truth", self.path / "t.json"), "info": ("vector_add",),
            "validate": ("vector_add",), "bench": ("vector_add", "--case", "one"), "serve": ("--metrics", 0),
            "tune": ("vector_add", "--case", "one", "--dry-run"), "top": ("--once",), "completion": ("bash",),
            "pipeline": ("--kilobytes", 1), "run": ("vector_add",), "occupancy": ("vector_add",), "memory": (data,), "forecast": (LOG,),
        }
        other = itertools.cycle(OTHERS)
        checked = []
        for command in commands():
            for option in number_options(command):
                for value in ("nan", next(other)):
                    with self.subTest(command=command, option=option, value=value):
                        self.refused(command, *complete.get(command, ()), f"{option}={value}", mentions=[option])
                checked.append((command, option))
        for known in (("te", "--noise"), ("network", "--alpha"), ("ais", "--dt"), ("stream", "--deadline"), ("bench", "--budget"),
                      ("tune", "--budget"), ("tune", "--gc"), ("pipeline", "--spin"), ("occupancy", "--shared"), ("serve", "--pause"),
                      ("top", "--interval"), ("simulate", "--seed")):
            self.assertIn(known, checked, "the options that --help lists were not found")

    def test_options_of_operators_are_numbers_in_their_range(self):
        x = self.file("x.npy", npy([1, 2, 3, 4], (2, 2)))
        given = ("run", "layer_norm", "--in", f"x={x}", "--out", f"y={self.path}/y.npy", "--device", "cpu")
        for value in ("nan", "-nan", "-inf", "1e999"):
            self.refused(*given, "--set", f"eps={value}", mentions=["layer_norm: eps is"])
        self.assertFalse((self.path / "y.npy").exists())


if __name__ == "__main__":
    unittest.main()
