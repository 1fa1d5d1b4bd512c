#!/usr/bin/env bash
# make lint: every check runs; the last line says which failed.
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
  if "$@"; then
    printf '%-14s ok (%d s)\n' "$name" $((SECONDS - started))
  else
    printf '%-14s FAILED\n' "$name"
    failed+=("$name")
  fi
}

headers() {
  cmake --preset ci >/dev/null && cmake --build --preset ci -j "$jobs" --target kolmo_headers |
    grep -vE '^\[|^ninja: no work'
  return "${PIPESTATUS[0]}"
}

tidy() {  # the frame, and what changed since main (or in the last commit); TIDY=all for everything
  local base files
  base=$(git merge-base HEAD origin/main 2>/dev/null)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then base=HEAD~1; fi
  mapfile -t files < <(
    if [ "${TIDY:-}" = all ]; then git ls-files 'kolmo/*.cpp' 'cli/*.cpp'; else
      git ls-files 'kolmo/op/*.cpp'
      git diff --name-only --diff-filter=d "$base" -- 'kolmo/*.cpp' 'cli/*.cpp' 2>/dev/null
    fi | grep -v '^kolmo/runtime/cuda/' | sort -u)
  if [ "${TIDY:-}" != all ] && [ ${#files[@]} -gt 24 ]; then
    echo "clang-tidy     ${#files[@]} files changed, 24 of them are read (TIDY=all reads all)"
    files=("${files[@]:0:24}")
  fi
  mkdir -p build/tidy  # clang cannot read g++'s precompiled header
  sed 's/-Winvalid-pch -include [^ ]*cmake_pch.hxx//' build/ci/compile_commands.json >build/tidy/compile_commands.json
  printf '%s\n' "${files[@]}" | xargs -r -P "$jobs" -n 2 clang-tidy-14 --quiet -p build/tidy --extra-arg=-Wno-unknown-warning-option 2>&1 |
    grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter|^$'
  return "${PIPESTATUS[1]}"
}

ruff() {
  if ! type -P ruff >/dev/null; then
    if [ ! -x .venv/lint/bin/ruff ]; then
      if ! { python3 -m venv .venv/lint && .venv/lint/bin/pip install -q --disable-pip-version-check ruff==0.14.14; }; then
        echo "ruff         skipped: it is not installed and PyPI cannot be reached"
        return 0
      fi
    fi
    PATH=$PWD/.venv/lint/bin:$PATH
  fi
  command ruff check --quiet "${python[@]}"
}

check layers python3 tools/check_layers.py
check sizes python3 tools/check_size.py
check numbers python3 tools/check_numbers.py
check clang-format clang-format-14 --dry-run --Werror "${cxx[@]}"
check headers headers
check clang-tidy tidy
check codespell codespell --quiet-level 3 --ignore-words .codespell-ignore "${cxx[@]}" "${shell[@]}" "${python[@]}" ./*.md docs
check shellcheck shellcheck "${shell[@]}"
check ruff ruff

if [ ${#failed[@]} -gt 0 ]; then
  echo "lint: ${#failed[@]} failed: ${failed[*]}"
  exit 1
fi
echo "lint: all checks passed"
