#include "app/evaluation/unit_key.hpp"
#include "app/evaluation/evaluate.hpp"
#include "graph/layer_text.hpp"
#include "reproduce_tool_version.hpp"
#include "sw_models/npu_text.hpp"

#include <fmt/format.h>

namespace gradweave::reproduce {
namespace {

std::string variant_text(const Variant &v) {
  std::string text = fmt::format("{},{}", v.policy, compiler::to_string(v.schedule));
  if (v.plans != 0) text += fmt::format(",{} plans", v.plans);
  if (v.dy_once) text += ",dY once";
  if (v.partition != compiler::Partition::kNone)
    text += fmt::format(",{}/{},{}", compiler::to_string(v.partition), v.parts, compiler::to_string(v.reduction));
  return text;
}

} // namespace

std::string key_of(const Unit &unit, std::string_view tool) {
  const std::uint32_t timed = timed_groups(unit); // stand for all
  return fmt::format("{}{}|{}|{}|{}|{}", compiler::shape_text(unit.layer),
                     timed == unit.layer.groups ? "" : fmt::format(" by {}", timed), compiler::to_string(unit.pass),
                     variant_text(unit.variant), npu_text(unit.npu), tool);
}

std::string_view tool_version() { return kToolVersion; }

} // namespace gradweave::reproduce
