#include "app/evaluation/unit/evaluate.hpp"

#include "app/evaluation/unit/dy_once.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/paper/paper.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gradweave::evaluation {
namespace {

using compiler::Compiled;
using compiler::paper::SpillCost;

// CPU time, measured over the networks of igo_micro23: of any unit, and by product of tiles of the array's size.
constexpr double kDescribedUnitSeconds = 5e-3, kDescribedSeconds = 6e-6;
constexpr double kSearchedUnitSeconds = 0.06;
constexpr double kFirstPlansSeconds = 8e-6; ///< the search for plans to begin with
constexpr double kPlanSeconds = 2e-6;       ///< a change of one
constexpr double kSeveralCores = 2;         ///< times as long: more tiles at a time

compiler::CompileOptions options_of(const Unit &unit) {
  const Variant &v = unit.variant;
  compiler::CompileOptions options;
  options.schedule = v.schedule;
  options.pass = unit.pass;
  options.partition = v.partition;
  options.parts = v.parts;
  options.reduction = v.reduction;
  options.plans = v.plans;
  return options;
}

Compiled compile_searched(const Unit &unit, bool stream, compiler::CompileCache &cache) {
  const Variant &v = unit.variant;
  compiler::CompileOptions options = options_of(unit);
  options.stream = stream || v.dy_once; // which changes commands
  Compiled compiled = compiler::compile({unit.layer}, unit.npu, options, cache);
  if (v.dy_once) drop_second_dy_reads(compiled, unit.npu);
  return compiled;
}

/// The policy without what may stand behind it, which goes to `ideal`.
compiler::paper::Policy policy_of(std::string text, compiler::paper::Idealisation &ideal) {
  for (const auto &[suffix, cost] :
       {std::pair(kHalfSpills, SpillCost::kBf16), std::pair(kFreeSpills, SpillCost::kFree)})
    if (const std::size_t at = text.rfind(suffix); at != std::string::npos && at + suffix.size() == text.size()) {
      text.resize(at);
      ideal.spill = cost;
    }
  return compiler::paper::parse_policy(text);
}

Compiled compile_described(const Unit &unit, bool stream) {
  const Variant &v = unit.variant;
  compiler::paper::Idealisation ideal;
  const compiler::paper::Policy policy = policy_of(v.policy, ideal);
  ideal.dy_once = v.dy_once;
  compiler::CompileOptions options = options_of(unit);
  options.stream = stream;
  compiler::CompileCache cache;
  return compiler::compile(compiler::paper::PaperScheduler(policy, ideal), {unit.layer}, unit.npu, options, cache);
}

/// `stream`: with commands, verified; else only cycles and traffic.
Compiled compile(const Unit &unit, bool stream, compiler::CompileCache &cache) {
  return unit.variant.policy == kSearched ? compile_searched(unit, stream, cache) : compile_described(unit, stream);
}

UnitResult result_of(const Compiled &compiled) {
  UnitResult result;
  result.cycles = compiled.predicted_cycles;
  result.compute_bound = compiled.bounds.compute_cycles;
  result.traffic_bound = compiled.bounds.traffic_cycles;
  for (std::size_t t = 0; t < compiler::kTensorCount; ++t) {
    const compiler::Traffic &traffic = compiled.traffic.front()[t];
    result.moved.at(t) = {traffic.read_bytes, traffic.write_bytes,
                          traffic.spill_read_bytes + traffic.spill_write_bytes};
  }
  return result;
}

/// The result of a layer of `groups` groups from that of one of fewer.
UnitResult scaled(UnitResult result, std::uint64_t groups, std::uint64_t of) {
  const auto scale = [&](std::uint64_t &value) { value = (value * groups + of / 2) / of; };
  scale(result.cycles);
  scale(result.compute_bound);
  scale(result.traffic_bound);
  for (Moved &moved : result.moved) {
    scale(moved.read);
    scale(moved.written);
    scale(moved.spilled);
  }
  return result;
}

} // namespace

std::uint32_t timed_groups(const Unit &unit) {
  constexpr std::uint32_t kLeast = 4, kFills = 2;
  const std::uint32_t parts = unit.variant.parts;
  const auto panels = [&](std::uint32_t extent) { return compiler::divide_up(extent, unit.npu.lanes()); };
  const std::uint64_t rows = unit.layer.m * (panels(unit.layer.k) + panels(unit.layer.n));
  const std::uint64_t fill = compiler::divide_up(std::uint64_t{kFills} * unit.npu.spm_rows(), rows);
  const std::uint64_t wanted = std::max({std::uint64_t{kLeast}, std::uint64_t{parts}, fill});
  const std::uint64_t groups = compiler::round_up(wanted, parts);
  return unit.layer.groups > 2 * groups ? static_cast<std::uint32_t>(groups) : unit.layer.groups;
}

Compiled compile(const Unit &unit) {
  compiler::CompileCache cache;
  return compile(unit, true, cache);
}

UnitResult evaluate(const Unit &unit) {
  compiler::CompileCache cache;
  return evaluate(unit, cache);
}

UnitResult evaluate(const Unit &unit, compiler::CompileCache &cache) {
  Unit timed = unit;
  timed.layer.groups = timed_groups(unit);
  try {
    return scaled(result_of(compile(timed, false, cache)), unit.layer.groups, timed.layer.groups);
  } catch (const compiler::CompileError &error) {
    UnitResult result;
    result.problem = error.what();
    return result;
  }
}

double array_products(const Unit &unit) {
  const auto tiles = [](std::uint32_t extent, std::uint32_t side) {
    return static_cast<double>(compiler::divide_up(extent, side));
  };
  const double passes = unit.pass == compiler::Pass::kForward || !unit.layer.dx ? 1 : 2;
  return passes * tiles(unit.layer.m, unit.npu.rows) * tiles(unit.layer.k, unit.npu.lanes()) *
         tiles(unit.layer.n, unit.npu.cols) * timed_groups(unit);
}

double estimated_seconds(const Unit &unit) {
  const double products = array_products(unit);
  if (unit.variant.policy != kSearched) return kDescribedUnitSeconds + kDescribedSeconds * products;
  const double seconds =
      kSearchedUnitSeconds + products * (kFirstPlansSeconds + kPlanSeconds * static_cast<double>(unit.variant.plans));
  return unit.npu.cores > 1 ? kSeveralCores * seconds : seconds;
}

} // namespace gradweave::evaluation
