"""Where an author of operators works: a scratch copy of the tree, or a project outside of it against the installed
package."""
import shutil
import subprocess
import sys
from pathlib import Path

CMAKE = """\
cmake_minimum_required(VERSION 3.22)
project(author LANGUAGES CXX)
if(WITH_CUDA)
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
endif()
find_package(kolmo REQUIRED)
add_executable(my_kolmo main.cpp)
target_include_directories(my_kolmo PRIVATE ${CMAKE_SOURCE_DIR})  # sources say "kolmo/ops/...", as in the tree
target_link_libraries(my_kolmo PRIVATE kolmo::command)
kolmo_add_operators(my_kolmo kolmo/ops)
"""
MAIN = """\
#include "kolmo/command.hpp"

int main(int argc, char** argv) { return kolmo::command(argc, argv); }
"""


def run(*command, status=0, cwd=None) -> str:
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd)
    if done.returncode != status:
        sys.exit(f"$ {' '.join(map(str, command))}\nstatus {done.returncode}, expected {status}\n{done.stdout[-8000:]}")
    return done.stdout


def expect(ok: bool, what: str) -> None:
    if not ok:
        sys.exit(f"{Path(sys.argv[0]).stem}: {what}")


def write(path: Path, text: str) -> None:
    """Writes a file; one that does not change keeps its time."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Command:
    """A build of the command. `folders` are the operators' folders below kolmo/ops, each a dict of file names and texts."""

    def __init__(self, root: Path, options: list[str], target: str):
        self.root, self.build_folder, self.target = root, root / "build", target
        self.options = ["-DCMAKE_BUILD_TYPE=Release", *options]

    def build(self, folders: dict[str, dict[str, str]]) -> None:
        for folder, files in folders.items():
            for name, text in files.items():
                write(self.root / "kolmo/ops" / folder / name, text)
        run("cmake", "-S", self.root, "-B", self.build_folder, "-G", "Ninja", *self.options)
        run("cmake", "--build", self.build_folder, "-j", "2", "--target", self.target)

    def kolmo(self, *arguments, status=0) -> str:
        return run(self.build_folder / self.target, *arguments, status=status)

    def devices(self) -> list[str]:
        """The kinds of devices that can be used here."""
        listed = self.kolmo("devices")
        return [kind for kind, name in (("cpu", "cpu"), ("simt", "simt"), ("cuda", "cuda:0")) if name in listed]

    def validate(self, *names, status=0) -> str:
        """Validates on every device; on each the status must be this one."""
        return "\n".join(self.kolmo("validate", *names, "--device", device, status=status) for device in self.devices())


class Project(Command):
    """The command with the operators of kolmo/ops in a scratch folder, against the package installed at `prefix`."""

    def __init__(self, root: Path, prefix: Path, options: list[str]):
        super().__init__(root, [f"-DCMAKE_PREFIX_PATH={prefix}", *options], "my_kolmo")
        write(root / "CMakeLists.txt", CMAKE)
        write(root / "main.cpp", MAIN)


class Tree(Command):
    """A copy of the tree at `source`. What was built in it before stays, and so do the times of the files copied."""

    def __init__(self, root: Path, source: Path, options: list[str]):
        super().__init__(root, options, "kolmo")
        # The build has the same path below the copy as the build which tests has below the tree, so that ccache finds its objects.
        build = root.parent.relative_to(source) if source in root.parents else Path("build/copy")
        self.build_folder = root / build
        root.mkdir(parents=True, exist_ok=True)
        for path in root.iterdir():
            if path.name != build.parts[0]:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        made = shutil.ignore_patterns("build", ".*", "out", "__pycache__")  # .venv and caches, which change while other tests run
        around = {root, *root.parents}  # the copy may lie within a folder of the source
        shutil.copytree(source, root, dirs_exist_ok=True, ignore=lambda folder, names: {
            *made(folder, names), *(name for name in names if Path(folder, name) in around)})
