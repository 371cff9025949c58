#!/bin/bash
# `make synth`: the whole NPU through Yosys's generic synthesis, block by block; rewrites the table of docs/synthesis.md.
#   scripts/synth.sh [elaborate]   elaborate: only that all of the RTL elaborates, for configurations of one core, and of two cores and two ports,
#                                  and the vector unit, alone
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[ "${1:-}" = elaborate ] || scripts/bootstrap.sh run
if [ ! -f "$build/generated/gw_isa_pkg.sv" ] || [ ! -f "$build/generated/gw_vector_isa_pkg.sv" ]; then
  configure "$(default_npus)"
  compile isa_generated vector_isa_generated
fi
out=$build/synth
mkdir -p "$out"

# A small NPU: synthesis has no memory compiler, so the scratchpad is flip-flops, and cells of the array are all alike.
small=(ROWS=2 COLS=2 CORES=1 SPM_ROWS=8 SPM_BANKS=1 BUS_BYTES=8 PORT_BYTES=8 QUEUE_DEPTH=2 SEMAPHORES=4 OUTSTANDING=4)
several=(ROWS=2 COLS=3 CORES=2 SPM_ROWS=8 SPM_BANKS=2 BUS_BYTES=16 PORT_BYTES=8 QUEUE_DEPTH=2 SEMAPHORES=4 OUTSTANDING=4)

# read_rtl TOP PARAMETER=VALUE...: Yosys commands.
read_rtl() {
  local modules
  mapfile -t modules < <(printf '%s\n' rtl/*.sv rtl/*/*.sv | grep -vE '_pkg\.sv$')
  echo "read_verilog -sv -defer -noassert $build/generated/gw_isa_pkg.sv $build/generated/gw_vector_isa_pkg.sv $(printf '%s ' rtl/*/*_pkg.sv)${modules[*]}"
  printf 'hierarchy -check -top %s' "$1"
  shift
  printf ' -chparam %s' "${@/=/ }"
  printf '\n'
}

# run NAME WHAT: the Yosys commands of standard input.
run() {
  cat >"$out/$1.ys"
  quietly "$2" yosys -l "$out/$1.log" -s "$out/$1.ys"
}

if [ "${1:-}" = elaborate ]; then
  { read_rtl gw_npu "${small[@]}" && echo 'proc -noopt' && echo 'check -assert'; } | run elaborate-1 "elaborating the NPU"
  read_rtl gw_npu "${several[@]}" | run elaborate-2 "elaborating an NPU of two cores and two ports"
  { read_rtl gw_vector_unit LANES=2 G=2 PROGRAM_WORDS=16 && echo 'proc -noopt' && echo 'check -assert'; } | run elaborate-vector "elaborating the vector unit"
  exit
fi

# synthesise TABLE WHAT TOP PARAMETER=VALUE...: into the table of that name on the page.
synthesise() {
  local table=$1 what=$2 top=$3
  shift 3
  {
    read_rtl "$top" "$@"
    cat <<YOSYS
proc
tee -o $out/$table.memories.txt stat
synth -top $top -run begin:fine
check -assert
opt -fast -full
opt -undriven -fine
techmap
opt -fast
abc -fast
opt -fast
tee -o $out/$table.stat.txt stat
YOSYS
  } | run "$table" "$what"

  awk -f scripts/synth_table.awk "$out/$table.memories.txt" "$out/$table.stat.txt" >"$out/$table.md"
  sed -e "/^<!-- $table -->/,/^<!-- end -->/{/^<!-- $table -->/r $out/$table.md
/^<!--/!d}" "$page" >"$out/page.md"
  cp "$out/page.md" "$page"
  cat "$out/$table.md"
}

page=docs/synthesis.md
synthesise table "synthesising the NPU (two to three minutes)" gw_npu "${small[@]}"
synthesise vector "synthesising a vector unit (one to two minutes)" gw_vector_engine LANES=2 G=1
