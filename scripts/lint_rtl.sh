#!/bin/bash
# Verilator's lint of the whole NPU, all warnings on, for every configuration in configs/. Called by lint.sh.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mapfile -t modules < <(git ls-files -- 'rtl/*.sv' | grep -vE '_(pkg|props)\.sv$')

# lint_npu CONFIG MODULE...: its output in one piece, as others run beside it.
lint_npu() {
  local config=$1 params status=0 log
  shift
  params=$build/lint-$(basename "$config" .toml).params
  "$build"/tb/npu_params "$config" >"$params"
  log=$(verilator --lint-only -Wall --assert --top-module gw_npu -f "$params" rtl/*.vlt \
    "$build/generated/gw_isa_pkg.sv" rtl/*/*_pkg.sv "$@" 2>&1) || status=1
  printf '%s\n' "$config" ${log:+"$log"}
  return "$status"
}
export -f lint_npu
printf '%s\0' configs/*.toml |
  xargs -0 -I CONFIG -P "$(nproc)" bash -euo pipefail -c 'lint_npu CONFIG "$@"' _ "${modules[@]}"
