#!/usr/bin/env bash
# tools/bootstrap.sh build|test|check|lint|bench|python|ci
# Installs the missing packages of Debian or Ubuntu that a target of the Makefile needs. On a system without apt it says what is
# missing, by the names of Fedora, and fails. With CUDA=1 and without nvcc, it also installs a CUDA toolkit from PyPI wheels into
# .cuda/ (a download of 110 MB), where CMake finds it. `python` is what `pip install .` needs; check and lint also make
# .venv/python, where the Python package is tested.
set -euo pipefail
cd "$(dirname "$0")/.."

# One line a package: Debian's names, of which the first that the system offers is installed; Fedora's name; what it is; the
# command, the header, or the end of a path below /usr/lib that shows that it is there.
build='
g++;gcc-c++;g++ 11 or later;g++
cmake;cmake;CMake 3.22 or later;cmake
ninja-build;ninja-build;Ninja;ninja
git;git;Git;git
ca-certificates;ca-certificates;certificates of authorities;sh
python3;python3;Python 3.10 or later;python3
libhwy-dev;highway-devel;Highway 1.0 or later;hwy/highway.h
libfmt-dev;fmt-devel;{fmt};fmt/format.h
libfast-float-dev;fast_float-devel;fast_float;fast_float/fast_float.h
nlohmann-json3-dev;json-devel;JSON for Modern C++;nlohmann/json.hpp
libsqlite3-dev;sqlite-devel;SQLite 3;sqlite3.h
libcli11-dev;cli11-devel;CLI11;CLI/CLI.hpp
libmicrohttpd-dev;libmicrohttpd-devel;libmicrohttpd;microhttpd.h
libssl-dev;openssl-devel;OpenSSL 3;openssl/sha.h
zlib1g-dev;zlib-devel;zlib;zlib.h
libopenblas-pthread-dev;openblas-devel;OpenBLAS with threads;cblas.h
libboost-math-dev;boost-devel;Boost.Math;boost/math/special_functions/gamma.hpp
libkissfft-dev;kissfft-devel;KISS FFT;kissfft/kiss_fft.h'
python='
python3-dev;python3-devel;headers of Python;Python.h
python3-venv;python3;venv of Python;python3'
tests="$python
ccache;ccache;ccache;ccache
libboost-context-dev;boost-devel;Boost.Context;boost/context/fiber.hpp
libgtest-dev;gtest-devel;GoogleTest;gtest/gtest.h
libgmock-dev;gmock-devel;GoogleMock;gmock/gmock.h"
# Ubuntu 22.04 has them in libclang-common-14-dev, which other systems have without them.
sanitizers='libclang-rt-14-dev libclang-rt-19-dev libclang-rt-dev libclang-common-14-dev;compiler-rt;libFuzzer and the sanitizers of clang;/clang/*/sanitizer/asan_interface.h'
case "${1:-build}" in
  build) more= ;;
  test) more="$tests
chromium;chromium;Chromium;chromium
prometheus;golang-github-prometheus;Prometheus;prometheus" ;;
  check) more="$tests
clang-14 clang-19 clang;clang;clang;clang++
$sanitizers" ;;
  lint) more="$tests
clang-format-14;clang-tools-extra;clang-format 14;clang-format-14
clang-tidy-14;clang-tools-extra;clang-tidy 14;clang-tidy-14
codespell;codespell;codespell;codespell
shellcheck;ShellCheck;ShellCheck;shellcheck" ;;
  bench) more="$tests
libmimalloc-dev;mimalloc-devel;mimalloc;mimalloc.h" ;;
  python) more=$python ;;
  ci) more="
mmdebstrap;mmdebstrap;mmdebstrap;mmdebstrap
clang-14 clang-19 clang;clang;clang;clang++
$sanitizers" ;;
  *) echo "usage: tools/bootstrap.sh build|test|check|lint|bench|python|ci" >&2; exit 2 ;;
esac
if [ "${CUDA:-}" = 1 ]; then more+="
python3-venv;python3;venv of Python;python3"; fi
mapfile -t packages < <(printf '%s\n' "$build" "$more" | grep -v '^$' | sort -u)

installed=
if command -v dpkg-query >/dev/null; then installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package} ') "; fi
is_here() {  # is_here <Debian's names> <command, header, or the end of a path below /usr/lib>
  local name
  if [[ $2 == /* ]]; then
    [ -n "$(find /usr/lib /usr/lib64 -path "*$2" -print -quit 2>/dev/null)" ]
    return
  fi
  if [ -z "$installed" ]; then
    command -v "$2" >/dev/null || { [[ $2 == *.h* ]] && find /usr/include /usr/local/include -path "*/$2" 2>/dev/null | grep -q .; }
    return
  fi
  for name in $1; do case "$installed" in *" installed $name "*) return 0 ;; esac done
  return 1
}

missing=() fedora=() words=()
for package in "${packages[@]}"; do
  IFS=';' read -r debian rpm word probe <<<"$package"
  if ! is_here "$debian" "$probe"; then missing+=("$debian") fedora+=("$rpm") words+=("$word"); fi
done
if [ ${#missing[@]} -gt 0 ] && [ -z "$installed" ]; then
  {
    echo "bootstrap: this system has no apt, and lacks:"
    printf '  %s\n' "${words[@]}"
    printf '%s\n' "${fedora[@]}" | sort -u | xargs echo "On Fedora: dnf install"
  } >&2
  exit 1
fi

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}
first_offered() {  # first_offered <names>: prints the first for which apt has a candidate
  local name
  for name in $1; do
    if [[ $(LC_ALL=C apt-cache policy "$name") == *"Candidate: "[!\(]* ]]; then echo "$name" && return; fi
  done
  return 1
}
# Ubuntu 22.04 offers no fast_float and a Highway from before 1.0. These packages of Debian 12 need nothing that it lacks.
install_of_debian_12() {
  local folder pool=http://deb.debian.org/debian/pool/main file sum
  folder=$(mktemp -d)
  chmod a+rx "$folder"
  while read -r sum file; do
    python3 -c 'import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])' "$pool/$file" "$folder/${file##*/}"
    echo "$sum $folder/${file##*/}" | sha256sum --check --quiet
  done <<'SUMS'
58db3098074f192d32784cf2d070f82d4e26b10d54bc723830a6b9a43be5013b h/highway/libhwy1_1.0.3-3+deb12u1_amd64.deb
7db65cd6c5b43b523136f92589ce373f625ca10d569bd0201b5a0d521d8fae4d h/highway/libhwy-dev_1.0.3-3+deb12u1_amd64.deb
2ec2a50472c2e99e3b5fdc776c2dca645ca760bac24c6624cc2a220db1b7d16d f/fast-float/libfast-float-dev_3.9.0-1_amd64.deb
SUMS
  as_root dpkg -i "$folder"/*.deb
  rm -r "$folder"
}

if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ] && ! { command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; }; then
    echo "bootstrap: please install these packages: apt-get install ${missing[*]%% *}" >&2
    exit 1
  fi
  as_root apt-get update -qq
  found=() lacking=() of_debian_12=
  for names in "${missing[@]}"; do
    if [[ $names =~ ^lib(hwy|fast-float)-dev$ ]] && grep -q '^VERSION_CODENAME=jammy' /etc/os-release; then
      of_debian_12=yes
    elif name=$(first_offered "$names"); then
      found+=("$name")
    else
      lacking+=("${names%% *}")
    fi
  done
  if [ ${#found[@]} -gt 0 ]; then
    echo "bootstrap: installing ${found[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${found[@]}"
  fi
  if [ -n "$of_debian_12" ]; then install_of_debian_12; fi
  if [ ${#lacking[@]} -gt 0 ]; then
    echo "bootstrap: this system does not offer ${lacking[*]}; what needs it fails or is skipped, and says so" >&2
  fi
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
