#!/bin/bash
# undecided_fields.sh ROOT GENERATED SCRATCH COMPILER: a field that is added to what kept results depend on does not compile
# until somebody decides about its fingerprint (base/key/fingerprint.hpp).
set -euo pipefail
root=$1 generated=$2 scratch=$3 compiler=$4

failed=0
fail() {
  echo "FAIL $1"
  failed=1
}

# undecided HEADER STRUCT: gives the struct one field more, in the copy of the header that is found first.
undecided() {
  mkdir -p "$scratch/$(dirname "$1")"
  [ -f "$scratch/$1" ] || cp "$root/$1" "$scratch/$1"
  sed -i "s/^struct $2\( : [A-Za-z]*\)\? {/& int undecided;/" "$scratch/$1"
  grep -q "^struct $2.* int undecided;" "$scratch/$1" || fail "$1 has no struct $2"
}

rm -rf "$scratch"
mkdir -p "$scratch"
cat >"$scratch/tool_version.hpp" <<'END'
namespace gradweave::evaluation {
inline constexpr const char *kToolVersion = "";
}
END
errors=$scratch/errors
while read -r unit headers; do
  declare -A left=() # structs, and the headers that they are in
  for word in $headers; do
    case $word in
    *.hpp) header=$word ;;
    *) left[$word]=$header ;;
    esac
  done
  # An error hides others that follow from it: those are seen once it is gone.
  told=true
  while $told && [ ${#left[@]} -gt 0 ]; do
    told=false
    rm -rf "${scratch:?}"/*/
    for struct in "${!left[@]}"; do undecided "${left[$struct]}" "$struct"; done
    "$compiler" -std=c++17 -fsyntax-only -w -I "$scratch" -I "$root" -I "$generated" -I "$generated/.." "$root/$unit" 2>"$errors" || true
    for struct in "${!left[@]}"; do
      if grep "decompose\|structured binding" "$errors" | grep -q "\b$struct\b"; then
        echo "pass $unit: $struct"
        unset "left[$struct]"
        told=true
      fi
    done
  done
  for struct in "${!left[@]}"; do
    fail "$unit compiles, or fails for another reason, although $struct has a field about which nobody decided"
    head -n 5 "$errors"
  done
done <<'END'
sw_models/config/npu_config.cpp sw_models/config/npu_config.hpp NpuConfig
sw_models/config/memory_config.cpp sw_models/config/memory_config.hpp MemoryConfig
sw_models/config/machine.cpp sw_models/config/machine.hpp Machine
graph/layer_fingerprint.cpp graph/network.hpp Layer sw_models/numerics/convolution.hpp Convolution
compiler/request/options.cpp compiler/request/options.hpp CompileOptions
compiler/request/flexer_policy.cpp compiler/request/flexer_policy.hpp Policy
compiler/compiler.cpp compiler/ir/program.hpp PhasePlan PhaseParts SpmSplit PlacementPolicy compiler/ir/grid/tile_form.hpp RowRange
runtime/record/job_key.cpp runtime/job/job.hpp JobSpec device/device.hpp DeviceOptions BusStress BusFault
app/evaluation/unit/unit_key.cpp app/evaluation/unit/unit.hpp Unit Variant
app/evaluation/unit/step_unit.cpp app/evaluation/unit/step_unit.hpp StepUnit app/evaluation/unit/network_search.hpp SearchEffort
END
exit "$failed"
