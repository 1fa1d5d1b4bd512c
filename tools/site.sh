#!/usr/bin/env bash
# make site: the documentation as a site in out/site. Fails on any warning, and on a page that would load something from
# elsewhere.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv/site
if ! cmp -s tools/site-requirements.txt $venv/installed.txt; then
  rm -rf $venv
  if ! { python3 -m venv $venv && $venv/bin/pip install -q --disable-pip-version-check -r tools/site-requirements.txt; }; then
    echo "site: it needs python3-venv, and mkdocs from PyPI" >&2
    exit 1
  fi
  cp tools/site-requirements.txt $venv/installed.txt
fi
NO_MKDOCS_2_WARNING=1 $venv/bin/mkdocs build --strict --quiet
if grep -rnoE --include='*.html' --include='*.css' '(src|srcset)="(https?:)?//[^"]*|<link [^>]*(stylesheet|preload|preconnect|icon)[^>]*href="(https?:)?//[^"]*|url\((https?:)?//[^)]*|@import[^;]*//[^;]*' out/site; then
  echo "site: these would be loaded from elsewhere" >&2
  exit 1
fi
echo "site: out/site/index.html"
