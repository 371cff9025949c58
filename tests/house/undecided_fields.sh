#!/bin/bash
# undecided_fields.sh ROOT GENERATED SCRATCH COMPILER: a field that is added to what kept results depend on does not compile
# until somebody decides about its fingerprint (base/key/fingerprint.hpp).
set -euo pipefail
root=$1 generated=$2 scratch=$3 compiler=$4

# compiles UNIT: with the headers in the scratch directory before those of the project.
compiles() {
  "$compiler" -std=c++17 -fsyntax-only -w -I "$scratch" -I "$root" -I "$generated" -I "$generated/.." "$root/$1" 2>"$scratch/errors"
}

failed=0
fail() {
  echo "FAIL $1"
  head -n 5 "$scratch/errors"
  failed=1
}

rm -rf "$scratch"
mkdir -p "$scratch"
cat >"$scratch/tool_version.hpp" <<'END'
namespace gradweave::evaluation {
inline constexpr const char *kToolVersion = "";
}
END
while read -r unit header structs; do
  for struct in $structs; do
    mkdir -p "$scratch/$(dirname "$header")"
    sed "s/^struct $struct\( : [A-Za-z]*\)\? {/& int undecided;/" "$root/$header" >"$scratch/$header"
    if cmp -s "$root/$header" "$scratch/$header"; then
      fail "$header has no struct $struct"
    elif compiles "$unit"; then
      fail "$unit compiles although $struct has a field about which nobody decided"
    elif ! grep -q 'decompose\|structured binding' "$scratch/errors"; then
      fail "$unit with a new field in $struct fails for another reason"
    else
      echo "pass $unit: $struct"
    fi
    rm -f "$scratch/$header"
  done
done <<'END'
sw_models/config/npu_config.cpp sw_models/config/npu_config.hpp NpuConfig
sw_models/config/memory_config.cpp sw_models/config/memory_config.hpp MemoryConfig
sw_models/config/machine.cpp sw_models/config/machine.hpp Machine
graph/layer_fingerprint.cpp graph/network.hpp Layer
graph/layer_fingerprint.cpp sw_models/numerics/convolution.hpp Convolution
compiler/request/options.cpp compiler/request/options.hpp CompileOptions
compiler/request/flexer_policy.cpp compiler/request/flexer_policy.hpp Policy
compiler/compiler.cpp compiler/ir/program.hpp PhasePlan PhaseParts SpmSplit PlacementPolicy RowRange
runtime/record/job_key.cpp runtime/job/job.hpp JobSpec
runtime/record/job_key.cpp device/device.hpp DeviceOptions BusStress BusFault
app/evaluation/unit/unit_key.cpp app/evaluation/unit/unit.hpp Unit Variant
app/evaluation/unit/step_unit.cpp app/evaluation/unit/step_unit.hpp StepUnit
app/evaluation/unit/step_unit.cpp app/evaluation/unit/network_search.hpp SearchEffort
END
exit "$failed"
