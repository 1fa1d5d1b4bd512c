"""An author's project outside of the tree: the command with the operators of kolmo/ops in a scratch folder, against the
installed package."""
import subprocess
import sys
from pathlib import Path

CMAKE = """\
cmake_minimum_required(VERSION 3.25)
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
    """Unchanged files keep their times."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Project:
    """`folders` are the operators' folders below kolmo/ops, each a dict of file names and texts."""

    def __init__(self, root: Path, prefix: Path, options: list[str]):
        self.root, self.build_folder = root, root / "build"
        self.options = [f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release", *options]
        write(root / "CMakeLists.txt", CMAKE)
        write(root / "main.cpp", MAIN)

    def build(self, folders: dict[str, dict[str, str]]) -> None:
        for folder, files in folders.items():
            for name, text in files.items():
                write(self.root / "kolmo/ops" / folder / name, text)
        run("cmake", "-S", self.root, "-B", self.build_folder, "-G", "Ninja", *self.options)
        run("cmake", "--build", self.build_folder, "-j", "2")

    def kolmo(self, *arguments, status=0) -> str:
        return run(self.build_folder / "my_kolmo", *arguments, status=status)

    def devices(self) -> list[str]:
        """The kinds that can be used here."""
        listed = self.kolmo("devices")
        return [kind for kind, name in (("cpu", "cpu"), ("simt", "simt"), ("cuda", "cuda:0")) if name in listed]

    def validate(self, *names, status=0) -> str:
        """Validates on every device; on each the status must be this one."""
        return "\n".join(self.kolmo("validate", *names, "--device", device, status=status) for device in self.devices())
