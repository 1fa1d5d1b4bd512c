#!/usr/bin/env python3
"""In a copy of the tree: a folder made by tools/new_op compiles and fails validation; filled in, it is listed, passes
on the CPU and the emulated GPU, and is benchmarked, with no other edit.

new_op_test.py SOURCE SCRATCH JOBS [CMAKE OPTION...]: SCRATCH is kept, so that the next run builds only what changed."""
import json
import shutil
import subprocess
import sys
from pathlib import Path

OP = "twice"
FILLED = {
    f"{OP}.cpp": [("(void)x, (void)y;  // fill in: y[i] from x[i]", "y[i] = x[i] + x[i];")],
    f"{OP}.cu": [("(void)x, (void)y;  // fill in: y[i] from x[i]", "y[i] = x[i] + x[i];")],
    f"{OP}_test.cpp": [
        (f'fail<Unsupported>("{OP}: fill in the oracle in {OP}_test.cpp");  '
         "// fill in: put(a.y, i, f(get(a.x, i)))", "put(a.y, i, 2 * get(a.x, i));"),
        (f'expect(false, "{OP}: fill in the facts in {OP}_test.cpp");  // fill in: expect(y[0] == ..., "...")',
         'expect(y[0] == 0 && y[1] == 2, "twice 1 is 2");'),
    ],
}


def run(*command, cwd=None, status=0) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != status:
        sys.exit(f"$ {' '.join(map(str, command))}\nstatus {done.returncode}, expected {status}\n{done.stdout[-8000:]}")
    return done.stdout


def expect(ok: bool, what: str) -> None:
    if not ok:
        sys.exit(f"new_op_test: {what}")


def copy_tree(source: Path, tree: Path) -> list[str]:
    """Makes `tree` hold what `source` has under version control; unchanged files keep their times."""
    names = run("git", "ls-files", "-co", "--exclude-standard", cwd=source).splitlines()
    names = [name for name in names if (source / name).is_file()]
    for name in names:
        to = tree / name
        if not to.exists() or to.read_bytes() != (source / name).read_bytes():
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, to)
    for path in list(tree.rglob("*")):
        name = str(path.relative_to(tree))
        if path.is_file() and not name.startswith("build/") and name not in names:
            path.unlink()
    return names


def main() -> None:
    source, scratch, jobs = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    tree, build = scratch / "tree", scratch / "tree/build/new"
    shutil.rmtree(tree / "kolmo/ops/elementwise" / OP, ignore_errors=True)
    names = copy_tree(source, tree)
    run("python3", "tools/new_op", f"elementwise/{OP}", cwd=tree)
    run("python3", "tools/new_op", f"elementwise/{OP}", cwd=tree, status=2)
    run("python3", "tools/new_op", "elementwise/No-Name", cwd=tree, status=2)

    options = ("-DKOLMO_CUDA=OFF", "-DKOLMO_TESTS=OFF", *sys.argv[4:])
    run("cmake", "-S", tree, "-B", build, "-G", "Ninja", *options)
    run("cmake", "--build", build, "--target", "kolmo", "-j", jobs)
    kolmo = build / "kolmo"
    expect(OP in run(kolmo, "list"), "kolmo list does not show the new operator")
    for device in ("cpu", "simt"):
        out = run(kolmo, "validate", OP, "--device", device, status=1)
        expect("fill in" in out, f"validation on {device} does not say what is to be done:\n{out}")

    for name, edits in FILLED.items():
        path = tree / "kolmo/ops/elementwise" / OP / name
        text = path.read_text(encoding="utf-8")
        for old, new in edits:
            expect(text.count(old) == 1, f"{name} has no place to fill in: {old}")
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    run("cmake", "--build", build, "--target", "kolmo", "-j", jobs)
    for device in ("cpu", "simt"):
        out = run(kolmo, "validate", OP, "--device", device)
        expect(OP in out, f"kolmo validate does not name the operator:\n{out}")
    timed = run(kolmo, "bench", OP, "--device", "cpu", "--json")
    expect(OP in json.dumps(json.loads(timed)), f"kolmo bench does not time the operator:\n{timed}")
    run("python3", "tools/check_layers.py", *[f"kolmo/ops/elementwise/{OP}/{name}" for name in FILLED], cwd=tree)

    for name in names:
        expect((tree / name).read_bytes() == (source / name).read_bytes(), f"{name} had to be edited")
    print(f"{OP}: listed, validated and benchmarked with no other edit")


if __name__ == "__main__":
    main()
