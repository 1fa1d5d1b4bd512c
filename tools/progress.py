#!/usr/bin/env python3
"""progress.py NAME: says how far ninja or ctest is, whose output it reads: on a terminal all the time, in a log every 30
seconds. What they say of single steps that went well is left out; with --quiet everything else too."""
import re
import sys
import time

STEP = re.compile(r"^\[(\d+)/(\d+)\] |^ *(\d+)/(\d+) Test ")
GONE_WELL = re.compile(r"^ *Start +\d+:|^ *\d+/\d+ Test .*( Passed |\*\*\*Skipped)|\(Skipped\)$|did not run:$|^Test project"
                       r"|^Internal|^$|^\[\d+/\d+\] ")
SECONDS = 30


def main() -> None:
    name, quiet, terminal = sys.argv[1], "--quiet" in sys.argv, sys.stdout.isatty()
    said = time.monotonic()
    for line in sys.stdin:
        step = STEP.match(line)
        if not quiet and not GONE_WELL.search(line):
            print("\r\033[K" * terminal + line, end="", flush=True)
        if step and (terminal or time.monotonic() - said >= SECONDS):
            said = time.monotonic()
            done, total = step.group(1, 2) if step[1] else step.group(3, 4)
            print("\r\033[K" * terminal + f"{name}: {done}/{total}", end="" if terminal else "\n", flush=True)
    if terminal:
        print("\r\033[K", end="", flush=True)


if __name__ == "__main__":
    main()
