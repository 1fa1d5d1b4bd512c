#!/usr/bin/env python3
"""No source over 400 lines, save those below with their reason; prints the median."""
import statistics
import subprocess
import sys
from pathlib import Path

CAP = 400
EXCEPTIONS: dict[str, str] = {}
SUFFIXES = ["*.hpp", "*.cpp", "*.cu", "*.cuh", "*.h", "*.py", "*.sh", "*.cmake", "CMakeLists.txt", "*.js", "*.css"]


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *SUFFIXES], cwd=root, check=True,
                            capture_output=True, text=True).stdout.split()
    sizes = {path: len((root / path).read_text(encoding="utf-8").splitlines()) for path in listed}
    long = {path: n for path, n in sizes.items() if n > CAP and path not in EXCEPTIONS}
    for path, lines in sorted(long.items()):
        print(f"{path}: {lines} lines; the cap is {CAP}", file=sys.stderr)
    stale = [path for path in EXCEPTIONS if sizes.get(path, 0) <= CAP]
    for path in stale:
        print(f"{path}: needs no exception in tools/check_size.py any more", file=sys.stderr)
    print(f"check_size: {len(sizes)} files, median {statistics.median(sizes.values()):.0f} lines, "
          f"largest {max(sizes.values())}")
    return 1 if long or stale else 0


if __name__ == "__main__":
    sys.exit(main())
