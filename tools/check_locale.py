#!/usr/bin/env python3
"""Checks that no code of the product reads or writes numbers by the locale of the process, which in Python is the program's: with
de_DE a comma is its decimal mark. Such code uses kolmo/base/number_text.hpp, fmt, std::from_chars, fast_float or JSON instead.

With object files or libraries as arguments, checks also that none of them calls std::to_string of a floating number."""
import re
import subprocess
import sys
from pathlib import Path

ALLOWED = {"kolmo/runtime/system_file.hpp": {"stream"}, "cli/point_decimals.hpp": {"locale"}}
RULES = {
    "read": re.compile(r"\b(?:strto(?:d|f|ld)|sto(?:d|f|ld)|atof|[sf]?scanf)\b"),
    "locale": re.compile(r"\b(?:setlocale|localeconv|(?:new|use|dup)locale)\b"),
    "stream": re.compile(r"\b[io]?(?:string|f)stream\b(?!>)"),
    "fmt": re.compile(r"\{\d*:[^}\"\n]{0,12}L[aAeEfFgGdn]?\}"),
    "printf": re.compile(r'\bv?[sf]?n?printf\s*\((?:"(?:[^"\\]|\\.)*"|[^;"])*?"(?:[^"\\%]|\\.|%%|%[^"%aAeEfFgG]*[^"%aAeEfFgG\s])*?'
                         r"%[-+ #0]*[\d*]*(?:\.[\d*]*)?(?:l|L)?[aAeEfFgG]"),
}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
SYMBOL = "__gnu_cxx::__to_xstring<"  # of libstdc++, called by std::to_string of a floating number alone


def problems(path: str, text: str) -> list[str]:
    text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    found = []
    for name, rule in RULES.items():
        if name not in ALLOWED.get(path, ()):
            found += [f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {m[0].split(chr(10))[0].strip()[:60]}" for m in rule.finditer(text)
                      if "#include" not in text[text.rfind("\n", 0, m.start()) + 1:m.start()]]
    return found


def symbols(file: str) -> list[str]:
    names = subprocess.run(["nm", "-C", file], capture_output=True, text=True, check=True).stdout
    return [f"{file}: std::to_string of a floating number"] if SYMBOL in names else []


def main() -> int:
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "kolmo/*.[hc]pp", "kolmo/*.cu", "kolmo/*.cuh", "cli/*.[hc]pp",
                            "python/src/*.[hc]pp"], capture_output=True, text=True, check=True).stdout.split()
    found = [p for file in files for p in problems(file, Path(file).read_text(encoding="utf-8"))]
    found += [p for file in sys.argv[1:] for p in symbols(file)]
    for problem in found:
        print(f"{problem}: depends on the locale of the process (tools/check_locale.py says what does not)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
