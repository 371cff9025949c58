#include "compiler/search/judge.hpp"

#include "compiler/cost/access_count.hpp"
#include "compiler/emit/emit.hpp"
#include "compiler/emit/hazards.hpp"
#include "sw_models/energy/energy.hpp"

#include <algorithm>
#include <cmath>

namespace gradweave::compiler {
namespace {

constexpr double kPicojoulesPerNanojoule = 1000;
constexpr std::uint64_t kHighest = kTooSlow - 1;

std::uint64_t whole(double cost) { return cost < 0x1p63 ? static_cast<std::uint64_t>(std::llround(cost)) : kHighest; }

/// The first whole number that is `value` or more, and one more, as `value` is rounded; kTooSlow: there is none.
std::uint64_t above(double value) {
  return value < 0x1p62 ? static_cast<std::uint64_t>(std::ceil(value)) + 1 : kTooSlow;
}

AccessCounts accesses_of(const Program &program, const Machine &npu) {
  return count_accesses(emit_commands(program, order_actions(program, npu).handshakes(), npu), npu);
}

} // namespace

double Judge::leakage(std::uint64_t cycles) const { return energy_of({}, cycles, npu_).leakage; }

std::uint64_t Judge::cost(double picojoules, std::uint64_t cycles) const {
  const double all = picojoules + leakage(cycles);
  return whole(objective_ == Objective::kEnergy ? all : all * static_cast<double>(cycles) / kPicojoulesPerNanojoule);
}

std::uint64_t Judge::cost_of(const AccessCounts &accesses, std::uint64_t cycles) const {
  return objective_ == Objective::kCycles ? cycles : cost(energy_of(accesses, 0, npu_).total(), cycles);
}

std::uint64_t Judge::cost_of(const Program &program, std::uint64_t cycles) const {
  return objective_ == Objective::kCycles ? cycles : cost_of(accesses_of(program, npu_), cycles);
}

std::uint64_t Judge::cycle_limit(double picojoules, std::uint64_t limit) const {
  if (limit == kTooSlow) return kTooSlow;
  const auto most = static_cast<double>(limit);
  if (objective_ == Objective::kEnergy) {
    const double per_cycle = leakage(1);
    if (per_cycle == 0) return kTooSlow;
    return above(std::max(0.0, most - picojoules) / per_cycle);
  }
  return picojoules == 0 ? kTooSlow : above(most * kPicojoulesPerNanojoule / picojoules);
}

Judged Judge::judge(const Program &program, std::uint64_t limit) const {
  if (objective_ == Objective::kCycles) {
    const std::uint64_t cycles = program_cycles(program, npu_, limit);
    return {cycles, cycles};
  }
  const double picojoules = energy_of(accesses_of(program, npu_), 0, npu_).total();
  if (cost(picojoules, 0) >= limit) return {};
  const std::uint64_t cycles = program_cycles(program, npu_, cycle_limit(picojoules, limit));
  if (cycles == kTooSlow) return {};
  const std::uint64_t all = cost(picojoules, cycles);
  return all < limit ? Judged{all, cycles} : Judged{};
}

std::uint64_t Judge::least_of_cycles(std::uint64_t cycles) const {
  return objective_ == Objective::kCycles ? cycles : cost(0, cycles);
}

std::uint64_t Judge::bound(const Program &program) const {
  const std::uint64_t cycles = program_bound(program, npu_);
  if (objective_ == Objective::kCycles) return cycles;
  return cost(static_cast<double>(moved_bytes(program, npu_)) * npu_.energy.dram_pj_per_byte, cycles);
}

TrafficLimit Judge::traffic_limit(std::uint64_t limit) const {
  if (objective_ == Objective::kCycles) return compiler::traffic_limit(limit, true, npu_);
  const double price = npu_.energy.dram_pj_per_byte;
  if (limit == kTooSlow || price == 0) return {};
  const auto most = static_cast<double>(limit);
  const double cycles_per_byte =
      static_cast<double>(npu_.memory.bytes_den) / static_cast<double>(npu_.memory.bytes_num);
  const double bytes = objective_ == Objective::kEnergy
                           ? most / price
                           : std::sqrt(most * kPicojoulesPerNanojoule / (price * cycles_per_byte));
  return {above(bytes), isa::kCommandBytes};
}

std::string_view unit_of(Objective objective) {
  switch (objective) {
  case Objective::kCycles:
    return "cycles";
  case Objective::kEnergy:
    return "pJ";
  case Objective::kEdp:
    return "nJ cycles";
  }
  return "?";
}

} // namespace gradweave::compiler
