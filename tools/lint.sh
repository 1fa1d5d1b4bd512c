#!/usr/bin/env bash
# make lint: runs every check; the last line names those that failed. A check whose tool is missing fails; WITHOUT="kernels mypy"
# leaves out the checks of these names.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
jobs=${JOBS:-$(nproc)}
mapfile -t cxx < <(git ls-files -co --exclude-standard '*.hpp' '*.cpp' '*.cu' '*.cuh' '*.h')
mapfile -t shell < <(git ls-files -co --exclude-standard '*.sh' .ci/run)
mapfile -t python < <(git ls-files -co --exclude-standard '*.py' tools/new_op)
failed=()

check() {  # check <name> <command...>
  local name=$1 started=$SECONDS
  shift
  if [[ " ${WITHOUT:-} " == *" $name "* ]]; then
    printf '%-14s left out\n' "$name"
  elif "$@"; then
    printf '%-14s ok (%d s)\n' "$name" $((SECONDS - started))
  else
    printf '%-14s FAILED\n' "$name"
    failed+=("$name")
  fi
}

locale_free() {  # with the library of the last build of `make test`; the command parses and prints under cli/point_decimals.hpp
  local objects=()
  if [ -e build/ci/libkolmo.a ]; then objects=(build/ci/libkolmo.a); fi
  python3 tools/check_locale.py "${objects[@]}"
}

headers() {
  cmake --preset ci >/dev/null && cmake --build --preset ci -j "$jobs" --target kolmo_headers |
    grep -vE '^\[|^ninja: no work'
  return "${PIPESTATUS[0]}"
}

kernels() {  # checks the kernels of the last build with CUDA: that of `make check`, or on a machine with a GPU that of `make test`
  local preset
  for preset in cuda ci; do
    if compgen -G "build/$preset/CMakeFiles/kolmo_kernels.dir/kolmo/ops/*/*/*.cu.o" >/dev/null; then
      python3 tools/check_build.py "build/$preset" --kernels
      return
    fi
  done
  echo "kernels        no build with CUDA is here: run make check where nvcc is, or set WITHOUT=kernels" >&2
  return 1
}

tidy() {  # checks kolmo/op and what changed since main or, on main, in the last commit; with TIDY=all everything
  local base frame files extension=() python=(-DKOLMO_PYTHON=OFF)
  if [ -x .venv/python/bin/python ]; then
    extension=('python/*.cpp') python=(-DKOLMO_PYTHON=ON "-DPython_EXECUTABLE=$PWD/.venv/python/bin/python")
  fi
  base=$(git merge-base HEAD origin/main 2>/dev/null)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then base=HEAD~1; fi
  mapfile -t frame < <(git ls-files 'kolmo/op/*.cpp')
  mapfile -t files < <(
    if [ "${TIDY:-}" = all ]; then git ls-files 'kolmo/*.cpp' 'cli/*.cpp' "${extension[@]}"; else
      git diff --name-only --diff-filter=d "$base" -- 'kolmo/*.cpp' 'cli/*.cpp' "${extension[@]}" 2>/dev/null
    fi | grep -vE '^kolmo/(op|runtime/cuda)/')
  if [ "${TIDY:-}" != all ] && [ ${#files[@]} -gt 16 ]; then
    echo "clang-tidy     ${#files[@]} files changed, 16 of them are read beside kolmo/op (TIDY=all reads all)"
    files=("${files[@]:0:16}")
  fi
  cmake --preset ci -B build/tidy "${python[@]}" -DKOLMO_UNITY=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null || return 1
  printf '%s\n' "${frame[@]}" "${files[@]}" | xargs -r -P "$jobs" -n 2 clang-tidy-14 --quiet -p build/tidy --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-ignored-attributes 2>&1 |
    grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter|^$'
  return "${PIPESTATUS[1]}"
}

ruff() {
  if ! type -P ruff >/dev/null; then
    if [ ! -x .venv/lint/bin/ruff ]; then
      if ! { python3 -m venv .venv/lint && .venv/lint/bin/pip install -q --disable-pip-version-check ruff==0.14.14; }; then
        echo "ruff           is not installed, and PyPI cannot be reached" >&2
        return 1
      fi
    fi
    PATH=$PWD/.venv/lint/bin:$PATH
  fi
  command ruff check --quiet "${python[@]}"
}

types() {  # mypy --strict on the package, with the types that the last build of `make test` wrote
  if [ ! -x .venv/python/bin/mypy ] || [ ! -e build/ci/python/kolmo/ops.pyi ]; then
    echo "mypy           .venv/python or the extension of build/ci is missing: run make test" >&2
    return 1
  fi
  (cd build/ci/python && ../../../.venv/python/bin/mypy --config-file ../../../pyproject.toml --cache-dir /dev/null)
}

check layers python3 tools/check_layers.py
check sizes python3 tools/check_size.py
check numbers python3 tools/check_numbers.py
check locale locale_free
check clang-format clang-format-14 --dry-run --Werror "${cxx[@]}"
check headers headers
check clang-tidy tidy
check kernels kernels
check codespell codespell --quiet-level 3 --ignore-words .codespell-ignore "${cxx[@]}" "${shell[@]}" "${python[@]}" ./*.md docs
check shellcheck shellcheck "${shell[@]}"
check ruff ruff
check mypy types
check site tools/site.sh

if [ ${#failed[@]} -gt 0 ]; then
  echo "lint: ${#failed[@]} failed: ${failed[*]}"
  exit 1
fi
echo "lint: all checks passed"
