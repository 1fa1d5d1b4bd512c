#!/usr/bin/env bash
# tools/show_demo.sh KOLMO: what `make demo` shows once the command is built. The reports go into out/.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p out
kolmo=$1

run() {
  printf '\n$ kolmo %s\n' "$*"
  "$kolmo" "$@"
}

run devices

cat <<'TEXT'

1. A gas furnace, measured every 9 seconds (Box and Jenkins 1970). The rate of the gas followed noise, so it is known that the
gas drives the CO2 that leaves the furnace and that nothing drives the gas; in the book's model the effect begins after 27 s.
The furnace is shown because its answer is known. Most recordings have none, and a few hundred rows often show nothing.
TEXT
run network examples/data/gas_furnace.csv --max-lag 6 --surrogates 1000 --seed 1 --dt 9 --dt-unit s \
  --out out/furnace.json --report out/furnace.html --graph out/furnace.graphml
python3 tools/compare_links.py out/furnace.json gas_rate:co2

cat <<'TEXT'

2. Six simulated variables, of which a file says which drives which. Each pair by itself would show links that go through a third
variable too. The method multivariate chooses, for each variable, what drives it given all else that was chosen.
TEXT
run network examples/data/coupled_logistic.csv --method multivariate --max-lag 3 --seed 1 \
  --out out/simulated.json --report out/simulated.html
python3 tools/compare_links.py out/simulated.json examples/data/coupled_logistic.truth.json

command=$(realpath "$kolmo")
cat <<TEXT

Reports to read in a browser: out/furnace.html and out/simulated.html.
The command is $command; to type only kolmo: export PATH="${command%/*}:\$PATH"
Next: kolmo network --help, docs/guide.md from a CSV to a figure, and for Python: pip install '.[flow]'
TEXT
