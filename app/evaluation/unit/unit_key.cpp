#include "app/evaluation/unit/unit_key.hpp"
#include "app/evaluation/unit/evaluate.hpp"
#include "base/key/fingerprint.hpp"
#include "graph/layer_fingerprint.hpp"
#include "sw_models/config/machine.hpp"
#include "tool_version.hpp"

namespace gradweave::evaluation {
namespace {

// Every field is named, so that a new one does not compile until it is decided whether a result depends on it.
Fingerprint fingerprint(const Variant &variant) {
  const auto &[policy, schedule, dy_once, partition, parts, reduction, plans] = variant;
  Fingerprint whole;
  whole.add(policy, compiler::to_string(schedule), dy_once, plans, partition);
  if (partition != compiler::Partition::kNone) whole.add(parts, reduction);
  return whole;
}

} // namespace

std::string key_of(const Unit &unit, std::string_view tool) {
  const auto &[layer, npu, pass, variant] = unit;
  return Fingerprint()
      .add("unit", compiler::shape_fingerprint(layer), timed_groups(unit), pass, fingerprint(variant),
           gradweave::fingerprint(npu), tool)
      .hex();
}

std::string_view tool_version() { return kToolVersion; }

} // namespace gradweave::evaluation
