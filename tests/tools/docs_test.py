#!/usr/bin/env python3
"""Every C++ block of the documentation stands, apart from white space, in one of the examples, which are built and run.
The tables of CONTRIBUTING.md name every header of the rooms that authors of operators use, and no other. Those of
docs/debugging.md name every environment variable that a source or a script reads, and every CMake option, and no other.
docs/README.md lists every page."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = r"[A-Z][A-Z0-9_]+"
READS = {  # what reads a variable, by kind of file. In C++ the name may stand apart from its getenv.
    ".cpp .hpp .cu .cuh .h": rf'"({NAME})"',
    ".py": rf'(?:environ(?:\.\w+\(|\[)|getenv\()"({NAME})"',
    ".sh run": rf"\$\{{({NAME}):?[-+]",
    ".cmake CMakeLists.txt CMakePresets.json": rf"(?:\$ENV|\$p?env)\{{({NAME})\}}",
}


def words(text: str) -> str:
    return " ".join(text.split())


def index_faults(room: str):
    """`| `kolmo/base` | |`, then rows of names up to an empty line."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.split(f"| `kolmo/{room}` | |\n|---|---|\n")[1].split("\n\n")[0]
    named = re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in table.splitlines()))
    there = {path.stem for path in (ROOT / "kolmo" / room).iterdir() if path.suffix in (".hpp", ".cuh")}
    for name in sorted(there ^ set(named)):
        yield f"CONTRIBUTING.md: kolmo/{room} " + (f"has {name}, which is not listed" if name in there else f"has no {name}")


def sources():
    """Name and text of every source, script and CMake file."""
    for name in ("kolmo", "cli", "simt", "python", "tests", "tools", "bench", "cmake", "examples", ".ci"):
        for path in sorted((ROOT / name).rglob("*")):
            if path.is_file() and (path.suffix in (".cpp", ".hpp", ".cu", ".cuh", ".h", ".py", ".sh", ".cmake") or path.name in ("run", "CMakeLists.txt")):
                yield path, path.read_text(encoding="utf-8")
    for name in ("CMakeLists.txt", "CMakePresets.json"):
        yield ROOT / name, (ROOT / name).read_text(encoding="utf-8")


def read_variables() -> dict[str, Path]:
    """The environment variables that are read, each with a file that does."""
    found = {}
    for path, text in sources():
        for kinds, pattern in READS.items():
            if {path.suffix, path.name} & set(kinds.split()) and (path.suffix not in (".cpp", ".hpp", ".h") or "getenv(" in text):
                found.update(dict.fromkeys(re.findall(pattern, text), path))
    return found


def cmake_options() -> dict[str, Path]:
    declared = r"(?:option\(|set\((?=\w+ [^)]*CACHE STRING))(KOLMO_\w+)"
    return {name: path for path, text in sources() if path.suffix == ".cmake" or path.name == "CMakeLists.txt" for name in re.findall(declared, text)}


def debugging_faults():
    page = (ROOT / "docs/debugging.md").read_text(encoding="utf-8")
    for heading, there in (("Environment variables", read_variables()), ("CMake options", cmake_options())):
        section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
        cells = re.findall(r"^\| (`.*?) \|", section, re.M)
        listed = {name for cell in cells for name in re.findall(rf"`({NAME})`", cell)}
        for name in sorted(there.keys() ^ listed):
            yield f"docs/debugging.md, {heading}: " + (
                f"{name} is not listed, which {there[name].relative_to(ROOT)} reads" if name in there else f"nothing reads {name}")


def unlisted_pages():
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs").glob("*.md")):
        if page.name not in ("README.md", "index.md") and f"]({page.name})" not in index:
            yield f"docs/README.md: does not list {page.name}"


def main() -> int:
    examples = [words(path.read_text(encoding="utf-8")) for path in (ROOT / "examples").glob("*.cpp")]
    missing = blocks = 0
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in re.findall(r"```cpp\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            blocks += 1
            if not any(words(block) in text for text in examples):
                missing += 1
                print(f"{page.relative_to(ROOT)}: this block is in no example:\n{block}")
    faults = [fault for room in ("base", "device", "skeleton") for fault in index_faults(room)]
    faults += [*debugging_faults(), *unlisted_pages()]
    print("\n".join([*faults, f"{blocks} blocks, {missing} not in examples"]))
    return 1 if missing or faults or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
