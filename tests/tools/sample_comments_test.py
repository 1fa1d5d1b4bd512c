#!/usr/bin/env python3
"""tools/sample_comments.py finds the comments of a source, and draws the same ones for the same seed."""
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from sample_comments import Comment, comments, sample  # noqa: E402

CXX = '''#include <string>  // a trailing one

/// Two lines are
/// one comment.
std::string url = "http://no.comment";  // of the address
char quote = '"'; /* a block */ const char* raw = R"(// none)";
int million = 1'000'000;  // NOLINT(name)
// ---
}  // namespace kolmo
'''

PYTHON = '''#!/usr/bin/env python3
"""Of the module."""
import os  # noqa: F401


# Two lines are
# one comment.
def f(x):
    """Of the
    function."""
    return "# no comment"  # of the value
'''


class Comments(unittest.TestCase):
    def test_of_a_source_in_cxx(self):
        self.assertEqual(comments("a.cpp", CXX), [
            Comment(1, "a trailing one", "#include <string>"),
            Comment(3, "Two lines are one comment.", 'std::string url = "http://no.comment";  // of the address'),
            Comment(5, "of the address", 'std::string url = "http://no.comment";'),
            Comment(6, "a block", "char quote = '\"';")])

    def test_of_a_source_in_python(self):
        self.assertEqual(comments("a.py", PYTHON), [
            Comment(2, "Of the module.", ""),
            Comment(6, "Two lines are one comment.", "def f(x):"),
            Comment(9, "Of the function.", "def f(x):"),
            Comment(11, "of the value", 'return "# no comment"')])


class Sample(unittest.TestCase):
    texts = {f"{i}.cpp": f"int a;  // comment {i}\n" for i in range(100)}

    def test_the_seed_says_which(self):
        first = sample(self.texts, 10, 1)
        self.assertEqual(len(set(first)), 10)
        self.assertEqual(first, sample(self.texts, 10, 1))
        self.assertNotEqual(first, sample(self.texts, 10, 2))

    def test_no_more_than_there_are(self):
        self.assertEqual(len(sample(self.texts, 1000, 1)), 100)

    def test_the_tool_prints_paragraphs_of_the_tree(self):
        done = subprocess.run([sys.executable, ROOT / "tools/sample_comments.py", "-n", "5", "--seed", "3",
                               "kolmo/base", "tools"],
                              capture_output=True, text=True, check=True)
        paragraphs = done.stdout.rstrip("\n").split("\n\n")
        self.assertEqual(len(paragraphs), 5)
        for paragraph in paragraphs:
            self.assertRegex(paragraph, r"^(kolmo/base|tools)/[\w./]+:\d+: \S")


if __name__ == "__main__":
    unittest.main()
