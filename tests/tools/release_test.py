#!/usr/bin/env python3
"""Every file that names the version of this tree names the same one, and CHANGELOG.md and CITATION.cff the same day."""
import re
import unittest
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION, MINOR, DAY = r"(\d+\.\d+\.\d+)", r"(\d+\.\d+)", r"(\d{4}-\d\d-\d\d)"
RELEASE = rf"^## \[{VERSION}\] - {DAY}$"
PLACES = {  # file: where it names the version. The first match counts.
    "CHANGELOG.md": RELEASE,
    "CITATION.cff": rf"^version: {VERSION}$",
    "docs/releasing.md": rf"version = \{{{VERSION}\}}",
    "docs/distributed.md": rf"kolmo:{VERSION}",
    "docs/your_kernels.md": rf"find_package\(kolmo {MINOR} REQUIRED\)",
    "examples/own_operators/CMakeLists.txt": rf"find_package\(kolmo {MINOR} REQUIRED\)",
}


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def found(pattern, where):
    match = re.search(pattern, where, re.M)
    return match[1] if match else None


class Release(unittest.TestCase):
    def setUp(self):
        self.version = found(rf"^project\(kolmo VERSION {VERSION} ", text("CMakeLists.txt"))
        self.assertIsNotNone(self.version, "CMakeLists.txt: project() has no version")

    def test_every_place_names_the_version_of_cmake(self):
        for name, pattern in PLACES.items():
            wanted = self.version if pattern.count(VERSION) else self.version.rpartition(".")[0]
            self.assertEqual(found(pattern, text(name)), wanted, name)

    def test_the_python_package_reads_the_version_of_cmake(self):
        project = text("pyproject.toml")
        self.assertIn('dynamic = ["version"]', project)
        self.assertIn('input = "CMakeLists.txt"', project)
        pattern = found(r"^regex = '(.*)'$", project)
        self.assertEqual(re.search(pattern, text("CMakeLists.txt"))["value"], self.version)

    def test_the_days_are_one_day(self):
        day = re.search(RELEASE, text("CHANGELOG.md"), re.M)[2]
        self.assertEqual(date.fromisoformat(day).isoformat(), day)
        self.assertEqual(found(rf"^date-released: {DAY}$", text("CITATION.cff")), day)

    def test_a_release_has_at_most_a_page(self):
        releases = re.split(r"(?m)^## ", text("CHANGELOG.md"))[1:]
        self.assertTrue(releases)
        for release in releases:
            self.assertLessEqual(len(release.splitlines()), 70, release.splitlines()[0])

    def test_the_citation_has_what_the_format_requires(self):
        citation = text("CITATION.cff")
        for line in ("cff-version: 1.2.0", "title: Kolmo", "type: software", "license: Apache-2.0", "  - name: The Kolmo developers"):
            self.assertIn(f"\n{line}\n", f"\n{citation}")
        self.assertRegex(citation, r"(?m)^message: \S")


if __name__ == "__main__":
    unittest.main()
