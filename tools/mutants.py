"""Where a C++ source can be changed in one sign, bound or index, as tools/mutate.py does it. Expects the spaces that
clang-format puts around binary operators, and none in template brackets."""
import re
from dataclasses import dataclass

RULES = [
    ("sign", re.compile(r" (\+|-|\+=|-=) "), {"+": "-", "-": "+", "+=": "-=", "-=": "+="}),
    ("bound", re.compile(r" (<|<=|>|>=) "), {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}),
    ("index", re.compile(r"(?<=[\w)\]])\[(\w+)\]"), None),
]
# Descriptions, costs, choices and inputs of cases, which no result depends on; refusals, which have tests of their own.
DESCRIBES = re.compile(r"\b(Case<|Definition<|OpCode<|Alias<|static_assert|fields\(\)|\.flops\b|\.bytes\b|require\(|fail<|"
                       r"(?:double|int|bool) (?:flops|bytes|cost|serves|fits|pays|bound)\w*\(|void (?:fill|setup)\w*\(|"
                       r"void \w+\((?:A|\w+Args)& \w+\)|constexpr double (?=[^;{]*0x1p-))")
OPENING, CLOSING = "({[", ")}]"


@dataclass
class Candidate:
    kind: str
    line: int  # counted from 1
    column: int  # counted from 0
    before: str  # the line without indentation and comment, so that a comment may change
    after: str

    def applied(self, text: str) -> str:
        lines = text.split("\n")
        old = lines[self.line - 1]
        lines[self.line - 1] = old[: len(old) - len(old.lstrip())] + self.after
        return "\n".join(lines)


def blanked(text: str) -> str:
    """The text with comments, strings, directives and descriptions overwritten by spaces; newlines stay."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?!\w)|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*'
    text = re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S | re.M)
    for found in DESCRIBES.finditer(text):
        end = statement_end(text, found.start())
        text = text[: found.start()] + re.sub(r"[^\n]", " ", text[found.start():end]) + text[end:]
    return text


def statement_end(text: str, start: int) -> int:
    """The place behind the `;` or the brace that ends the statement at `start`, or before what closes the bracket around it."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] in OPENING:
            depth += 1
        elif text[i] in CLOSING:
            depth -= 1
            if depth < 0:
                return i
            if depth == 0 and text[i] == "}":
                return i + 1
        elif text[i] in ";" and depth == 0:
            return i + 1
    return len(text)


def code_of(line: str) -> str:
    """The line without the comment at its end."""
    return re.sub(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])')|\s*//.*""", lambda m: m[1] or "", line)


def candidates(text: str) -> list[Candidate]:
    found = []
    lines = [code_of(line) for line in text.split("\n")]
    for number, code in enumerate(blanked(text).split("\n"), 1):
        if re.match(r"\s*(template|using)\b", code):
            continue
        for kind, pattern, swap in RULES:
            for m in pattern.finditer(code):
                new = f" {swap[m[1]]} " if swap else f"[{m[1]} ^ 1]"
                line = lines[number - 1]
                found.append(Candidate(kind, number, m.start(), line.strip(), (line[: m.start()] + new + line[m.end():]).strip()))
    return found


def operators_of(header: str) -> list[str]:
    """The names that the header of an operator's folder declares."""
    return [name for names in re.findall(r"extern const (?:Op|Alias)<\w+> ([\w, \n]+);", header) for name in re.findall(r"\w+", names)]
