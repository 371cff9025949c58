#!/bin/bash
# Verilator's lint of the whole NPU, all warnings on, for every configuration in configs/. Called by lint.sh.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mapfile -t modules < <(git ls-files -- 'rtl/*.sv' | grep -vE '_(pkg|props)\.sv$')
failed=0
for config in configs/*.toml; do
  params=$build/lint-$(basename "$config" .toml).params
  "$build"/tb/npu_params "$config" >"$params"
  printf '%s\n' "$config"
  verilator --lint-only -Wall --assert --top-module npu -f "$params" rtl/*.vlt \
    "$build/generated/isa_pkg.sv" rtl/*_pkg.sv "${modules[@]}" || failed=1
done
exit "$failed"
