#!/bin/bash
# Verilator's lint of the whole NPU, all warnings on, for every configuration in configs/, and of the vector unit alone. Called by lint.sh.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mapfile -t modules < <(git ls-files -- 'rtl/*.sv' | grep -vE '_(pkg|props)\.sv$')
vector_modules=(rtl/vector/gw_vector_{check,lanes,line_walk,sections,sequencer,unit}.sv)

# The vector unit, for each number of lines at once; of the core's arithmetic it uses a part.
for g in 1 2 4 8; do
  verilator --lint-only -Wall -Wno-UNUSEDPARAM --assert --top-module gw_vector_unit -GLANES=45 -GG=$g \
    "$build/generated/gw_vector_isa_pkg.sv" rtl/core/gw_fp_pkg.sv rtl/vector/*_pkg.sv "${vector_modules[@]}"
done

# lint_npu CONFIG MODULE...: its output in one piece, as others run beside it.
lint_npu() {
  local config=$1 params status=0 log
  shift
  params=$build/lint-$(basename "$config" .toml).params
  "$build"/tb/npu_params "$config" >"$params"
  log=$(verilator --lint-only -Wall --assert --top-module gw_npu -f "$params" rtl/*.vlt \
    "$build"/generated/gw_{isa,vector_isa}_pkg.sv rtl/{bus,core,vector}/*_pkg.sv "$@" 2>&1) || status=1
  printf '%s\n' "$config" ${log:+"$log"}
  return "$status"
}
export -f lint_npu
printf '%s\0' configs/*.toml |
  xargs -0 -I CONFIG -P "$(nproc)" bash -euo pipefail -c 'lint_npu CONFIG "$@"' _ "${modules[@]}"
