#!/usr/bin/env bash
# Checks that a machine with only apt, git and make is enough. Creates a Debian 12 with mmdebstrap, clones the last
# commit into it, and runs there `make demo`, a project that uses the result as a package, the installation and the Python of
# README.md, and the installation and the configuration of `make test`.
#
# Fails if the demo takes more than DEMO_SECONDS (300, of which the packages take about 65) on two cores; this is not
# judged when other work and other machines took over 10 % of the cores. Also fails if the demo takes more than
# PROCESSOR_SECONDS (480) of processor time, if compiling library and command takes more than BUILD_SECONDS (450), or if
# an object takes longer than tools/check_build.py allows. But for the packages, seconds are those of a core of 3 GHz, by what
# tools/core_speed.cpp measures during the demo. Needs root. Copies from the host what is needed to reach its
# package mirrors: apt's configuration, sources and keys, pip's configuration, certificates.
set -euo pipefail
cd "$(dirname "$0")/.."
demo_seconds=${DEMO_SECONDS:-300} processor_seconds=${PROCESSOR_SECONDS:-480} build_seconds=${BUILD_SECONDS:-450}

[ "$(id -u)" = 0 ] || { echo "empty_debian: only root can make and enter a Debian" >&2; exit 1; }
for tool in mmdebstrap g++; do
  command -v $tool >/dev/null || { echo "empty_debian: no $tool; run tools/bootstrap.sh ci" >&2; exit 1; }
done

work=$(mktemp -d "${TMPDIR:-/tmp}/kolmo_debian.XXXXXX")
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM

started=$SECONDS
sources=()
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.sources; do
  if [ -s "$file" ] && grep -q bookworm "$file"; then sources+=("$file"); fi
done
if ! mmdebstrap --quiet --variant=apt --include=git,make,ca-certificates bookworm "$root" "${sources[@]}" >"$work/log" 2>&1; then
  tail -n 20 "$work/log" >&2
  echo "empty_debian: mmdebstrap failed" >&2
  exit 1
fi
for path in /etc/apt/apt.conf.d /etc/apt/auth.conf.d /etc/apt/keyrings /etc/apt/trusted.gpg.d /etc/pip.conf \
  /etc/ssl/certs/ca-certificates.crt /usr/local/share/ca-certificates /etc/resolv.conf /etc/hosts; do
  if [ -e "$path" ]; then
    mkdir -p "$root${path%/*}"
    cp -rL --remove-destination "$path" "$root${path%/*}/"
  fi
done
rm -f "$root"/etc/apt/apt.conf.d/{20packagekit,50appstream}  # these make apt call programs that only the host has
git clone --quiet . "$root/kolmo"
echo "empty_debian: a Debian of $(du -sh "$root" | cut -f1) ($((SECONDS - started)) s)"

inside() {  # inside <command>: runs it in the Debian with an empty environment; /proc is unmounted when the command ends
  # shellcheck disable=SC2016  # the inner bash expands these variables
  unshare --mount bash -c 'mount -t proc proc "$1/proc" && exec chroot "$1" env -i HOME=/root LANG=C.UTF-8 \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin JOBS="$2" ${OPENBLAS_CORETYPE:+OPENBLAS_CORETYPE="$OPENBLAS_CORETYPE"} \
    bash -c "cd /kolmo && $3"' inside "$root" "${JOBS:-$(nproc)}" "$1"
}

# Sets `others` to the processor seconds that everything but the commands of this script has taken so far, with those that other
# virtual machines took from the same processors (steal, the ninth column).
measure_others() {
  times >"$work/times"  # its second line is the time of children that have ended
  others=$(awk -F '[ms ]+' -v hz="$(getconf CLK_TCK)" 'FNR == 2 && FILENAME != "/proc/stat" {own = 60 * ($1 + $3) + $2 + $4}
    /^cpu / {n = split($0, t, / +/); busy = (t[2] + t[3] + t[4] + t[7] + t[8] + t[9]) / hz}
    END {printf "%d", busy - own}' "$work/times" /proc/stat)
}
g++ -O2 -o "$work/core_speed" tools/core_speed.cpp
measure_others
started=$SECONDS before=$others
while :; do "$work/core_speed" || break; sleep 4; done >"$work/speeds" & speeds=$!
inside 'tools/bootstrap.sh build >/dev/null'
packages=$((SECONDS - started))
inside 'TIMEFORMAT="%0U %0S" && time make demo 2>&1' >"$work/demo" 2>"$work/demo_times" ||
  { cat "$work/demo"; echo "empty_debian: make demo failed" >&2; exit 1; }
demo=$((SECONDS - started))
kill "$speeds" 2>/dev/null || true
speed=$(awk '{sum += $1} END {printf "%.2f", sum / NR}' "$work/speeds")
measure_others
others=$((others - before))
tail -n 4 "$work/demo"
for report in furnace simulated; do
  [ -s "$root/kolmo/out/$report.html" ] || { echo "empty_debian: make demo wrote no out/$report.html" >&2; exit 1; }
done
if inside 'build/demo/kolmo devices' | grep -q simt; then
  echo "empty_debian: what a user gets has the emulated GPU" >&2
  exit 1
fi
processors=$(awk -v ghz="$speed" 'END {printf "%.0f", ($1 + $2) * ghz / 3}' "$work/demo_times")
echo "empty_debian: make demo took $demo s, of them $packages s for packages, on cores of $speed GHz; $processors s of processors of 3 GHz"
python3 tools/check_build.py "$root/kolmo/build/demo" --total "$build_seconds" --took "$processors"
if [ "$processors" -gt "$processor_seconds" ]; then
  echo "empty_debian: at most $processor_seconds s of the processors are allowed" >&2
  exit 1
fi
wall=$(awk -v all="$demo" -v fetching="$packages" -v ghz="$speed" 'BEGIN {printf "%.0f", fetching + (all - fetching) * ghz / 3}')
if [ $((10 * others)) -gt $((demo * $(nproc))) ]; then
  echo "empty_debian: the wall time was not judged: other work took $others s"
elif [ "$wall" -gt "$demo_seconds" ]; then
  echo "empty_debian: $wall s on cores of 3 GHz; at most $demo_seconds s are allowed; other work took $others s" >&2
  exit 1
fi

started=$SECONDS
inside 'cmake --install build/demo &&
  cmake -S /usr/local/share/doc/kolmo/examples/own_operators -B build/package -G Ninja -DCMAKE_BUILD_TYPE=Release &&
  cmake --build build/package && ctest --test-dir build/package --output-on-failure --no-tests=error' >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log" >&2; echo "empty_debian: the installed package cannot be used" >&2; exit 1; }
echo "empty_debian: the installed package can be used ($((SECONDS - started)) s)"

started=$SECONDS
grep -m 1 '^tools/bootstrap.sh python && ' README.md >"$root/kolmo/install.sh"  # the line that a newcomer copies
cat >"$root/kolmo/page.py" <<'PYTHON'
import sys
sys.path.insert(0, "python/tests")
from blocks import blocks
exec("\n".join(code for _, code in blocks("../README.md")))
PYTHON
inside 'export SKBUILD_BUILD_DIR=build/demo SKBUILD_CMAKE_DEFINE=KOLMO_NATIVE=ON MPLBACKEND=Agg &&
  . ./install.sh && kolmo --version && python page.py && cd / &&
  python -X dev -W error -c "import kolmo, numpy; assert kolmo.relu(numpy.array([-1.0, 2.0])).tolist() == [0, 2]"' \
  >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; echo "empty_debian: what README.md says of pip and Python failed" >&2; exit 1; }
echo "empty_debian: pip install and the Python of README.md, with the objects of the demo ($((SECONDS - started)) s)"

started=$SECONDS
inside 'PYTHON_TESTS=0 tools/bootstrap.sh test && cmake --preset ci' >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
echo "empty_debian: make test can be configured ($((SECONDS - started)) s)"
