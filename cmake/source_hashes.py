#!/usr/bin/env python3
"""source_hashes.py ROOT OUTPUT: writes OUTPUT, a source that defines kolmo::detail::built_in_source_hash.

A hash stands for the code that computes, not for its text: it is the SHA-256 over the tokens (no comments, no spaces) of
one file of kolmo/ops/<group>/<op> and of every file it reaches through #include "kolmo/...", as far as these hold what
runs on the device; for GPUs of <op>.cu, for the CPU of <op>.cpp. Where an operator's header is reached, every .cu
or .cpp of its folder counts too, since it is called; on the CPU so do the .cpp beside any header and all of kolmo/knn,
for GPUs what makes tensor maps and calls cuBLASLt."""
import functools
import hashlib
import re
import sys
from pathlib import Path

KERNEL_CODE = re.compile(r"kolmo/(base|device|knn|ops|skeleton)/|kolmo/runtime/cuda/(launch\.cuh|(cublaslt|tensor_copies)\.[ch]pp)$")
CPU_CODE = re.compile(r"kolmo/(base|cpu|device|knn|ops|runtime/cpu|skeleton)/")
TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
  | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
  | (?P<text>(?:\b(?:u8|[uUL]))?"(?:\\.|[^"\\\n])*"|(?:\b(?:u8|[uUL]))?'(?:\\.|[^'\\\n])*')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<line>\n)
  | (?P<sign>\S)""", re.S | re.X)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"(kolmo/[^"]+)"', re.M)
DECLARED = re.compile(r"^extern const Op<\w+> ([\w, ]+);", re.M)


def tokens(text: str) -> list[str]:
    """The tokens of a C++ source. A directive keeps the end of its line, which is part of its meaning."""
    found, directive, fresh = [], False, True
    for match in TOKEN.finditer(text.replace("\\\n", "")):
        if match.lastgroup == "comment":
            continue
        if match["line"]:
            if directive:
                found.append("\n")
            directive, fresh = False, True
            continue
        directive = directive or (fresh and match[0] == "#")
        fresh = False
        found.append(match[0])
    return found


@functools.cache  # its test hashes many trees that differ in one file
def hash_and_includes(text: str) -> tuple[str, list[str]]:
    code = "\0".join(tokens(text)).encode()
    return hashlib.sha256(code).hexdigest(), INCLUDE.findall(text)


class Tree:
    def __init__(self, root: Path):
        self.root = root
        self.read: dict[str, tuple[str, list[str]]] = {}

    def has(self, path: str) -> bool:
        return (self.root / path).is_file()

    def file(self, path: str) -> tuple[str, list[str]]:
        if path not in self.read:
            self.read[path] = hash_and_includes((self.root / path).read_text(encoding="utf-8"))
        return self.read[path]

    def beside(self, path: str, suffix: str) -> list[str]:
        """The sources that stand behind a header."""
        if not path.endswith(".hpp"):
            return []
        stem = path.removesuffix(".hpp")
        parts = stem.split("/")
        own = parts[:2] == ["kolmo", "ops"] and parts[-1] == parts[-2]
        if own or (suffix == ".cpp" and parts[1] == "knn"):  # the definitions may be in any source of the folder
            folder = "/".join(parts[:-1])
            names = sorted(p.name for p in (self.root / folder).glob("*" + suffix) if not p.name.endswith("_oracle.cpp"))
            return [f"{folder}/{name}" for name in names]
        if parts[1:3] == ["runtime", "cuda"]:  # operators' .cu call these, which are no .cu themselves
            suffix = ".cpp"
        return [stem + suffix] if suffix == ".cpp" and self.has(stem + suffix) else []

    def hash_of(self, start: str, scope: re.Pattern, suffix: str) -> str:
        if not self.has(start):
            return ""
        done, waiting = set(), [start]
        while waiting:
            path = waiting.pop()
            if path in done or not scope.match(path) or not self.has(path):
                continue
            done.add(path)
            waiting += self.file(path)[1] + self.beside(path, suffix)
        text = "".join(f"{path} {self.file(path)[0]}\n" for path in sorted(done))
        return hashlib.sha256(text.encode()).hexdigest()


def table(root: Path) -> dict[str, tuple[str, str]]:
    """Hashes for the CPU and for GPUs by the name of the operator."""
    tree, rows = Tree(root), {}
    for header in sorted(root.glob("kolmo/ops/*/*/*.hpp")):
        if header.stem == header.parent.name:
            stem = header.relative_to(root).as_posix().removesuffix(".hpp")
            hashes = tree.hash_of(f"{stem}.cpp", CPU_CODE, ".cpp"), tree.hash_of(f"{stem}.cu", KERNEL_CODE, ".cu")
            for names in DECLARED.findall(header.read_text(encoding="utf-8")):
                rows.update({name: hashes for name in names.split(", ")})
    return rows


SOURCE = """#include "kolmo/op/source_hash.hpp"

std::string_view kolmo::detail::built_in_source_hash(std::string_view op, DeviceKind kind) {
  static constexpr struct {
    std::string_view op, cpu, cuda;
  } table[] = {
%s      {"", "", ""}};
  for (const auto& row : table)
    if (row.op == op) return kind == DeviceKind::cpu ? row.cpu : row.cuda;
  return {};
}
"""


def main() -> None:
    root, output = Path(sys.argv[1]), Path(sys.argv[2])
    rows = "".join(f'      {{"{name}", "{cpu}", "{cuda}"}},\n' for name, (cpu, cuda) in sorted(table(root).items()))
    text = SOURCE % rows
    if not output.is_file() or output.read_text(encoding="utf-8") != text:
        output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
