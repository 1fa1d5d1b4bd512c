#!/bin/sh
# keep_ptxas.sh COMPILER... -o OBJECT ...: runs the compiler and writes the output of ptxas for each kernel, which
# -Xptxas -v requests, to OBJECT.ptxas, and the processor's time, as `times` prints it, to OBJECT.times. Everything else stays
# on standard error.
# keep_ptxas.sh --collect TABLE OBJECT...: concatenates the output for several objects into TABLE.
if [ "$1" = --collect ]; then
  table=$2
  shift 2
  for object; do
    cat "$object.ptxas" || exit 1
  done > "$table"
  exit 0
fi
object=
previous=
for argument; do
  [ "$previous" = -o ] && object=$argument
  previous=$argument
done
"$@" 2> "$object.stderr"
status=$?
times > "$object.times"
pattern='^ptxas info|^    [0-9]+ bytes stack frame'
grep -E "$pattern" "$object.stderr" | grep -v 'Compile time' > "$object.ptxas"
grep -Ev "$pattern" "$object.stderr" >&2
rm -f "$object.stderr"
exit $status
