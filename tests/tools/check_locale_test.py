#!/usr/bin/env python3
"""tools/check_locale.py finds every way to read or write a number by the locale, and nothing else."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from check_locale import problems, symbols  # noqa: E402

BAD = [
    "double x = std::strtod(text, nullptr);", "auto x = std::stod(text);", "float x = ::strtof(text, &end);", "x = atof(text);",
    'std::snprintf(text, sizeof text, "%.*g", digits, value);', 'std::fprintf(stderr, "%s: %5.2f\\n", name, x);',
    'std::snprintf(text, 9, unit ? "%.3g %s" : "%d", x, y);', 'printf("%d %d",\n  "%Lf", x);', 'std::sscanf(text, "%lf", &x);',
    'auto s = fmt::format("{:.3Lf}", x);', 'auto s = fmt::format("{0:L}", x);', "std::ostringstream out;", "std::ifstream in(path);",
    'std::setlocale(LC_ALL, "");',
]
GOOD = [
    'std::fprintf(stderr, "%zu of %d, %s, %llu %%\\n", a, b, c, d);', 'fmt::format("{:.3g} left", x);', "std::to_string(3);",
    "// strtod is not called", "/* std::ostringstream */", "#include <sstream>", "std::from_chars(a, b, x);", "number_in(text);",
    'std::fprintf(stderr, "100 %% of %d files\\n", n);', 'require(a, "use {" + name + ": L}");', "std::strtoul(text, &end, 10);",
]


class CheckLocale(unittest.TestCase):
    def test_what_is_found(self):
        for line in BAD:
            self.assertTrue(problems("kolmo/x.cpp", f"int a;\n{line}\n"), line)
            self.assertRegex(problems("kolmo/x.cpp", f"int a;\n{line}\n")[0], "^kolmo/x.cpp:[23]: ")

    def test_what_is_not(self):
        for line in GOOD:
            self.assertEqual(problems("kolmo/x.cpp", line + "\n"), [], line)
        self.assertEqual(problems("kolmo/runtime/system_file.hpp", "struct F : std::ifstream {};"), [])

    def test_calls_that_only_objects_show(self):
        with tempfile.TemporaryDirectory() as folder:
            for body, found in (("return std::to_string(x);", True), ("return std::to_string(int(x));", False)):
                source = Path(folder, "x.cpp")
                source.write_text(f"#include <string>\nstd::string f(double x) {{ {body} }}\n", encoding="ascii")
                subprocess.run(["c++", "-std=c++20", "-O2", "-c", source, "-o", f"{source}.o"], check=True)
                self.assertEqual(bool(symbols(f"{source}.o")), found, body)

    def test_the_tree_is_free_of_them(self):
        done = subprocess.run([sys.executable, "tools/check_locale.py"], cwd=ROOT, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
