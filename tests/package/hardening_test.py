#!/usr/bin/env python3
"""The command of a release is linked as distributions link programs: hardening_test.py KOLMO FOLDER... The folders are those of the
build, whose names must not stand in it."""
import re
import subprocess
import sys
import unittest
from pathlib import Path

KOLMO, *FOLDERS = sys.argv[1:]


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, KOLMO], capture_output=True, text=True, check=True).stdout


class Hardening(unittest.TestCase):
    def test_addresses_are_random_and_tables_read_only(self):
        self.assertRegex(readelf("-h"), r"Type: +DYN")
        self.assertIn("GNU_RELRO", readelf("-l"))
        self.assertRegex(readelf("-d"), r"BIND_NOW|Flags: .*NOW")
        self.assertRegex(readelf("-l"), r"GNU_STACK .* RW ")

    def test_the_stack_and_copies_are_checked(self):
        symbols = readelf("--dyn-syms")
        self.assertIn("__stack_chk_fail", symbols)
        self.assertTrue(re.findall(r"__(?:mem|str|read|v?f?s?n?printf)\w*_chk", symbols), "no fortified function is called")

    def test_no_path_of_the_build_stands_in_it(self):
        content = Path(KOLMO).read_bytes()
        for folder in FOLDERS:
            self.assertEqual(content.count(folder.encode()), 0, folder)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
