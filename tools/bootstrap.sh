#!/usr/bin/env bash
# tools/bootstrap.sh build|test|check|lint|bench|python|ci
# Installs the missing Debian 12 packages that a target of the Makefile needs. With CUDA=1 and without nvcc, it also
# installs a CUDA toolkit from PyPI wheels into .cuda/ (a download of 110 MB), where CMake finds it. `python` is what
# `pip install .` needs; check and lint also make .venv/python, where the Python package is tested.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build git ca-certificates python3
  libhwy-dev libfmt-dev libfast-float-dev nlohmann-json3-dev libsqlite3-dev libcli11-dev libmicrohttpd-dev
  libssl-dev zlib1g-dev libopenblas-pthread-dev libboost-math-dev libkissfft-dev)
python=(python3-dev python3-venv)
tests=(ccache libboost-context-dev libgtest-dev libgmock-dev "${python[@]}")
case "${1:-build}" in
  build) ;;
  test) packages+=("${tests[@]}" chromium prometheus) ;;
  check) packages+=("${tests[@]}" clang-14 libclang-rt-14-dev) ;;
  lint) packages+=("${tests[@]}" clang-format-14 clang-tidy-14 codespell shellcheck) ;;
  bench) packages+=("${tests[@]}" libmimalloc-dev) ;;
  python) packages+=("${python[@]}") ;;
  ci) packages+=(mmdebstrap) ;;
  *) echo "usage: tools/bootstrap.sh build|test|check|lint|bench|python|ci" >&2; exit 2 ;;
esac
if [ "${CUDA:-}" = 1 ]; then packages+=(python3-venv); fi

missing=()
if command -v dpkg-query >/dev/null; then
  installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package} ')"
  for package in "${packages[@]}"; do
    case "$installed" in *" installed $package "*) ;; *) missing+=("$package") ;; esac
  done
else
  echo "bootstrap: no dpkg here; Kolmo needs what these Debian packages hold: ${packages[*]}" >&2
fi
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ]; then
    root=()
  elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    root=(sudo)
  else
    echo "bootstrap: please install these packages: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  echo "bootstrap: installing ${missing[*]}"
  "${root[@]}" apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

if [ "${CUDA:-}" = 1 ] && [ "${1:-build}" = build ] && ! { [ -e /dev/dxg ] || compgen -G '/dev/nvidia[0-9]*' >/dev/null; }; then
  echo "bootstrap: no GPU is here, so make demo will not use CUDA"
fi
if [ "${CUDA:-}" = 1 ] && ! tools/find_nvcc.sh >/dev/null; then
  echo "bootstrap: putting a CUDA 13.0 toolkit from PyPI into .cuda"
  rm -rf .cuda
  python3 -m venv .cuda/venv
  .cuda/venv/bin/pip install -q --disable-pip-version-check --no-deps nvidia-cuda-nvcc==13.0.88 \
    nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85
  toolkit=$(echo "$PWD"/.cuda/venv/lib/python3*/site-packages/nvidia/cu13)
  ln -s lib "$toolkit/lib64"
  ln -s libcudart.so.13 "$toolkit/lib/libcudart.so"
  ln -s "$toolkit" .cuda/toolkit
  .cuda/toolkit/bin/nvcc --version | tail -n 1
fi
case "${1:-build}" in check | lint) tools/python_env.sh ;; esac  # `test` makes it while it builds
