#!/usr/bin/env bash
# tools/licenses.sh FOLDER NANOBIND_LICENSE [PACKAGE or LIBRARY...]: puts the licences into FOLDER, one file each, of what is
# compiled into the Python package, of these Debian packages, and of those whose libraries the
# LIBRARY files load. NANOBIND_LICENSE may be empty.
# A Debian package says its licences in /usr/share/doc; elsewhere there are none, which is said.
set -euo pipefail
folder=$1 nanobind=$2
shift 2
mkdir -p "$folder"
packages=(libhwy-dev libfast-float-dev nlohmann-json3-dev libcli11-dev libboost-math-dev libkissfft-dev)
for given in "$@"; do
  if [[ $given == */* ]]; then
    while read -r library; do
      # A file of /usr/lib may be listed under the same path in /lib.
      mapfile -t owners < <({ dpkg-query -S "$library" || dpkg-query -S "${library#/usr}" || true; } 2>/dev/null | cut -d: -f1 | sort -u)
      packages+=("${owners[@]}")
    done < <(ldd "$given" | grep -oP '=> \K/\S+' | xargs -r -n 1 readlink -f)
  else
    packages+=("$given")
  fi
done
policy=' libc6 libgcc-s1 libstdc++6 '  # of every Linux system; no wheel carries them
mapfile -t packages < <(printf '%s\n' "${packages[@]}" | sort -u)
for package in "${packages[@]}"; do
  if [[ $policy == *" $package "* ]]; then continue; fi
  if [ -e "/usr/share/doc/$package/copyright" ]; then
    cp -L "/usr/share/doc/$package/copyright" "$folder/$package.txt"
  else
    echo "licenses: there is no /usr/share/doc/$package/copyright" >&2
  fi
done
if [ -n "$nanobind" ]; then cp -L "$nanobind" "$folder/nanobind.txt"; fi
mapfile -t common < <(grep -hoP '/usr/share/common-licenses/\K[A-Za-z0-9]+(-[0-9.]*[0-9])?' "$folder"/*.txt | sort -u)
for name in "${common[@]}"; do
  if [ -e "/usr/share/common-licenses/$name" ]; then cp -L "/usr/share/common-licenses/$name" "$folder/$name.txt"; fi
done
