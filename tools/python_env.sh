#!/usr/bin/env bash
# tools/python_env.sh [ENVIRONMENT REQUIREMENTS]: makes an environment with these packages and PyTorch; by default
# .venv/python, with what builds and tests the Python package. With that the presets `ci` and `asan` of tools/test.sh build
# the extension. Fails if PyPI cannot be reached. PYTHON_TESTS=0 makes none; PYTHON_TESTS=without-torch leaves PyTorch out.
# tools/python_env.sh --ready [...]: only tells, by its status, whether nothing is left to do.
set -euo pipefail
cd "$(dirname "$0")/.."
only_ask=
if [ "${1:-}" = --ready ]; then only_ask=1 && shift; fi
env=${1:-.venv/python} wanted=${2:-python/requirements-test.txt} torch=torch==2.13.0+cpu
mark=$env/$(cat "$wanted" "$0" - <<<"${PYTHON_TESTS:-}" | sha256sum | cut -c 1-16)
if [ -e "$mark" ] || [ "${PYTHON_TESTS:-}" = 0 ]; then exit 0; fi
if [ -n "$only_ask" ]; then exit 1; fi

echo "python_env: installing what $wanted names into $env"
pip=("$env/bin/python" -m pip install -q --disable-pip-version-check --no-compile)  # few of their modules are ever loaded
if [ ! -L "$env" ]; then rm -rf "$env"; fi
unreachable() {
  echo "python_env: PyPI cannot be reached or lacks a package: there is no $env" >&2
  rm -rf "$env"
  exit 1
}
python3 -m venv "$env" || unreachable
# The build for the CPU, from where pip is configured to look or from PyTorch's own index; never one with CUDA. It comes first, because
# packages that need PyTorch would fetch one with CUDA.
if [ "${PYTHON_TESTS:-}" != without-torch ] && ! "${pip[@]}" "$torch" 2>/dev/null &&
  ! "${pip[@]}" --retries 0 --timeout 20 --extra-index-url https://download.pytorch.org/whl/cpu "$torch" 2>/dev/null; then
  echo "python_env: $torch cannot be had; PYTHON_TESTS=without-torch leaves out the tests with PyTorch" >&2
  exit 1
fi
"${pip[@]}" -r "$wanted" || unreachable
touch "$mark"
