#!/bin/bash
# compile.sh DIRECTORY PARAMS OUTPUT SOURCE...: rewrites the sources into DIRECTORY and compiles them, replay.sv included,
# for vvp. PARAMS is what npu_params prints; SOURCEs are in compilation order.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
directory=$1 params=$2 output=$3
shift 3

mkdir -p "$directory"
rewritten=()
for source in "$@"; do
  file=$directory/$(basename "$source")
  sed -E -f "$here/for_icarus.sed" "$source" >"$file"
  rewritten+=("$file")
done
sed 's/^-G/-Preplay./' "$params" >"$directory/parameters"
mapfile -t parameters <"$directory/parameters"

log=$directory/iverilog.log
if ! iverilog -g2012 -Wall -s replay "${parameters[@]}" -o "$output" "${rewritten[@]}" "$here/replay.sv" 2>"$log"; then
  cat "$log" >&2
  exit 1
fi
