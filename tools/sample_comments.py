#!/usr/bin/env python3
"""sample_comments.py [-n N] [--seed S] [PATH...]: prints N comments (60 if not given), drawn by the seed from the tracked
sources in C++, CUDA and Python.

Each is one paragraph: file:line, the comment's text on one line and the first line of code that it stands on. A person
judges whether someone new to the file understands it. Lines of // that follow each other are one comment; docstrings
and # lines of Python count as comments; orders to tools (NOLINT, noqa) and the names of namespaces that end do not. PATH
limits the draw to folders or files."""
import argparse
import ast
import io
import random
import re
import subprocess
import tokenize
from pathlib import Path
from typing import Iterator, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = ["*.hpp", "*.cpp", "*.cu", "*.cuh", "*.h", "*.py"]
NO_WORDS = re.compile(r"(NOLINT|noqa|type: ignore|pragma|!/usr/bin)|namespace[\w: ]*$|extern \"C\"$|[\W_]*$")
CXX = re.compile(r"""
    (?P<comment>//[^\n]*)
  | (?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
  | (?P<number>\d(?:'?[\w.])*)
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<block>/\*.*?\*/)""", re.S | re.X)


class Comment(NamedTuple):
    line: int
    text: str
    code: str


def joined(pieces: list[tuple[int, int, str]], lines: list[str]) -> Iterator[Comment]:
    """Comments from (line, column, text) of their lines: those that stand alone on lines that follow each other are one."""
    group: list[tuple[int, str]] = []
    for i, (line, column, text) in enumerate(pieces):
        group.append((line, text))
        alone = not lines[line - 1][:column].strip()
        if alone and i + 1 < len(pieces):
            after, next_column, _ = pieces[i + 1]
            if after == line + 1 and not lines[after - 1][:next_column].strip():
                continue
        words = " ".join(" ".join(text for _, text in group).split())
        code = lines[line - 1][:column] if not alone else next(filter(str.strip, lines[line:]), "")
        if not NO_WORDS.match(words):
            yield Comment(group[0][0], words, code.strip())
        group = []


def of_cxx(text: str) -> Iterator[Comment]:
    pieces = []
    for match in CXX.finditer(text):
        if match["comment"] or match["block"]:
            start = text.rfind("\n", 0, match.start()) + 1
            words = re.sub(r"^//[/!<]*|^/\*+|\*/$", "", match[0])
            pieces.append((text.count("\n", 0, match.start()) + 1, match.start() - start, words))
    return joined(pieces, text.splitlines())


def of_python(text: str) -> Iterator[Comment]:
    lines = text.splitlines()
    pieces = [(token.start[0], token.start[1], token.string.lstrip("#"))
              for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT]
    yield from joined(pieces, lines)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
            code = "" if isinstance(node, ast.Module) else lines[node.lineno - 1].strip()
            yield Comment(node.body[0].lineno, " ".join(str(ast.get_docstring(node)).split()), code)


def comments(path: str, text: str) -> list[Comment]:
    return sorted(of_python(text) if path.endswith(".py") else of_cxx(text))


def sample(texts: dict[str, str], count: int, seed: int) -> list[tuple[str, Comment]]:
    found = [(path, comment) for path, text in sorted(texts.items()) for comment in comments(path, text)]
    return sorted(random.Random(seed).sample(found, min(count, len(found))))


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints a sample of the comments of the tree.")
    parser.add_argument("-n", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("paths", nargs="*", metavar="PATH")
    args = parser.parse_args()
    listed = subprocess.run(["git", "ls-files", *SUFFIXES], cwd=ROOT, check=True, capture_output=True,
                            text=True).stdout.split()
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in listed
             if not args.paths or any(path == p.rstrip("/") or path.startswith(p.rstrip("/") + "/") for p in args.paths)}
    print("\n\n".join(f"{path}:{c.line}: {c.text}" + (f"\n    {c.code}" if c.code else "")
                      for path, c in sample(texts, args.n, args.seed)))


if __name__ == "__main__":
    main()
