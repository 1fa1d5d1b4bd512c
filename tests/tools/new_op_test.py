#!/usr/bin/env python3
"""What tools/new_op makes compiles, fails validation while anything is left to fill in, and once filled in is listed,
passes on every device and is timed with its share of what the machine allows. Names that cannot be are refused.

new_op_test.py SOURCE SCRATCH PREFIX [CMAKE OPTION...]: PREFIX holds the installed package."""
import json
import shutil
import sys
from pathlib import Path

from author import Project, expect, run

OP = "twice"
REFUSED = {
    "vector_add": "an operator", "elementwise_multiply": "another of a family", "fused_layernorm_gelu": "an alias",
    "register": "a keyword", "double": "a keyword", "std": "a namespace", "int64_t": "a type", "main": "main",
    "run": "a function of Kolmo", "cuda": "a namespace of Kolmo", "my__op": "reserved", "_op": "reserved",
    "No-Name": "no identifier", "my_op_oracle": "the oracle of my_op",
}
HOLES = {  # what is left to fill in, and the text that fills it in
    f"{OP}.hpp": [
        ('"fill in: what x is, with its unit"', '"numbers"'),
        ('"fill in: what y is, with its unit"', '"numbers, doubled"'),
        ("return x; }  // fill in: y from x", "return x + x; }"),
        ("/// fill in: formula; shapes, dtypes and units; errors; how far results repeat; source.",
         "/// y = 2 x; any shape, f64 or f32; same bits on every device."),
    ],
    f"{OP}.cpp": [
        ('"fill in: one sentence with the formula"', '"y = 2 x"'),
        ('"fill in: paper or textbook"', '"elementary"'),
        ("std::numeric_limits<double>::quiet_NaN(), f32 = f64;", "0, f32 = 0;"),
        ("// fill in: why these tolerances follow from the arithmetic; until then nothing is within them.",
         "// Doubling is exact."),
    ],
    f"{OP}_oracle.cpp": [
        (f'fail<Unsupported>("{OP}: fill in the oracle");  // fill in: put(a.y, i, f(get(a.x, i)))',
         "put(a.y, i, 2 * get(a.x, i));"),
        ('"fill in: an answer that can be checked by hand"', '"twice 1 is 2"'),
        (f'expect(false, "{OP}: fill in the facts");  // fill in: expect(y[0] == ..., "...")',
         'expect(y[0] == 0 && y[1] == 2, "twice 1 is 2");'),
    ],
}


def outside(new_op: Path, project: Path) -> None:
    """In a project of one's own the files lie in its folder, and include each other as docs/your_kernels.md says."""
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir()
    before = sorted(new_op.parent.parent.rglob("*"))
    run(sys.executable, new_op, "mine/thrice", cwd=project)
    run(sys.executable, new_op, "mine/four_times", project / "more", cwd=project)
    made = {str(path.relative_to(project)) for path in project.rglob("*.*")}
    endings = (".hpp", ".cpp", ".cu", "_oracle.cpp")
    expect(made == {f"{folder}/mine/{op}/{op}{ending}" for folder, op in (("ops", "thrice"), ("more", "four_times"))
                    for ending in endings}, f"made in a project: {sorted(made)}")
    expect('#include "mine/thrice/thrice.hpp"' in (project / "ops/mine/thrice/thrice.cpp").read_text(encoding="utf-8"),
           "a project's operator includes its header by the path in Kolmo's tree")
    run(sys.executable, new_op, "other/thrice", status=2, cwd=project)
    run(sys.executable, new_op, "mine/vector_add", status=2, cwd=project)
    expect(sorted(new_op.parent.parent.rglob("*")) == before, "something was made in Kolmo's tree")


def filled(files: dict[str, str], left: str = "") -> dict[str, str]:
    """Fills in everything except one place."""
    result = dict(files)
    for name, holes in HOLES.items():
        for hole, text in holes:
            expect(files[name].count(hole) == 1, f"{name} has no place to fill in: {hole}")
            if hole != left:
                result[name] = result[name].replace(hole, text)
    return result


def lint(tree: Path, files: dict[str, str], status: int) -> None:
    paths = [tree / "kolmo/ops/elementwise" / OP / name for name in files]
    for path in paths:
        path.write_text(files[path.name], encoding="utf-8")
    said = run(sys.executable, tree / "tools/check_layers.py", *[path.relative_to(tree) for path in paths], status=status)
    expect(("is not filled in" in said) == bool(status), f"what was to be filled in is reported wrongly:\n{said}")


def main() -> None:
    source, scratch, prefix = (Path(argument) for argument in sys.argv[1:4])
    tree = scratch / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    for folder in ("kolmo", "tools"):
        shutil.copytree(source / folder, tree / folder)
    new_op = tree / "tools/new_op"
    for name, what in REFUSED.items():
        run(sys.executable, new_op, f"elementwise/{name}", status=2, cwd=tree)
        expect(not (tree / "kolmo/ops/elementwise" / name).exists(), f"{name}, {what}, was made")
    run(sys.executable, new_op, f"elementwise/{OP}", cwd=tree)
    run(sys.executable, new_op, f"elementwise/{OP}", status=2, cwd=tree)
    outside(new_op, scratch / "outside")
    files = {path.name: path.read_text(encoding="utf-8") for path in (tree / "kolmo/ops/elementwise" / OP).iterdir()}

    project = Project(scratch / "project", prefix, sys.argv[4:])
    project.build({f"elementwise/{OP}": files})
    expect(OP in project.kolmo("list"), "kolmo list does not show the new operator")
    expect("fill in" in project.validate(OP, status=1), "validation does not say what is to be done")
    lint(tree, files, status=1)
    for holes in HOLES.values():
        for hole, _ in holes:
            if hole.startswith("//") or "by hand" in hole:  # only a reader sees this place
                lint(tree, filled(files, left=hole), status=1)
            else:
                project.build({f"elementwise/{OP}": filled(files, left=hole)})
                project.kolmo("validate", OP, "--device", "cpu", status=1)

    done = filled(files)
    lint(tree, done, status=0)
    project.build({f"elementwise/{OP}": done})
    project.validate(OP)
    timed = json.loads(project.kolmo("bench", OP, "--device", "cpu", "--json"))
    text = json.dumps(timed)
    expect("n=2^26" in text, f"kolmo bench does not time the operator:\n{text}")
    if int(run("getconf", "LEVEL3_CACHE_SIZE")) < 500e6:
        expect(shares(timed) > 0, f"kolmo bench does not say the share of what the machine allows:\n{text}")
    print(f"{OP}: listed, validated and timed with nothing else edited")


def shares(value) -> float:
    """The largest number under the name `share_of_roofline`."""
    if isinstance(value, dict):
        return max([value.get("share_of_roofline") or 0] + [shares(v) for v in value.values()])
    return max([0] + [shares(v) for v in value]) if isinstance(value, list) else 0


if __name__ == "__main__":
    main()
