#include "tests/memory_model/properties.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gradweave::test {

using memory_model::Access;
using memory_model::Estimate;
using memory_model::Iteration;
using memory_model::Machine;
using memory_model::Plan;
using memory_model::Step;

namespace {

constexpr double kRounding = 1e-9;

struct Limits {
  std::uint64_t least_in = 0, most_in = 0, least_out = 0, most_out = 0;
};

Limits limits_of(const Iteration &iteration) {
  Limits limits;
  std::vector<bool> read(iteration.tensors.size());
  for (const Step &step : iteration.steps)
    for (const Access &access : step.accesses) {
      const memory_model::Tensor &tensor = iteration.tensors[access.tensor];
      if (access.reads) limits.most_in += tensor.bytes;
      if (access.writes) limits.most_out += tensor.bytes;
      if (access.reads && tensor.in_memory && !read[access.tensor]) limits.least_in += tensor.bytes;
      read[access.tensor] = true;
    }
  for (const memory_model::Tensor &tensor : iteration.tensors)
    if (tensor.to_memory) limits.least_out += tensor.bytes;
  return limits;
}

} // namespace

std::vector<std::string> broken(const Iteration &iteration, const Estimate &estimate, const Machine &machine) {
  std::vector<std::string> problems;
  const auto require = [&problems](bool holds, const std::string &what) {
    if (!holds) problems.push_back(what);
  };
  const double compute = iteration.operations() / machine.throughput;
  const double moving = static_cast<double>(estimate.traffic()) / machine.bandwidth;
  require(estimate.seconds >= compute * (1 - kRounding),
          fmt::format("{} s for {} s of computing", estimate.seconds, compute));
  require(estimate.seconds >= moving * (1 - kRounding),
          fmt::format("{} s for {} s of moving", estimate.seconds, moving));
  double sum = 0;
  for (const memory_model::StepTime &step : estimate.steps) {
    require(step.total >= step.compute * (1 - kRounding), "a step takes less than it computes");
    sum += step.total;
  }
  require(estimate.steps.size() == iteration.steps.size(), "a step is missing");
  require(std::abs(sum - estimate.seconds) <= estimate.seconds * kRounding, "steps do not add up");
  const Limits limits = limits_of(iteration);
  require(estimate.bytes_in >= limits.least_in, "something that is read does not come in");
  require(estimate.bytes_in <= limits.most_in, "something comes in twice for one use");
  require(estimate.bytes_out >= limits.least_out, "something that has to last does not go out");
  require(estimate.bytes_out <= limits.most_out, "something goes out twice for one change");
  return problems;
}

std::vector<std::string> broken(const Iteration &iteration, const Plan &plan, const Estimate &estimate,
                                const Machine &machine) {
  std::vector<std::string> problems = broken(iteration, estimate, machine);
  struct Byte {
    bool here = false, memory = false, same = false;
  };
  std::vector<std::vector<Byte>> bytes;
  for (const memory_model::Tensor &tensor : iteration.tensors)
    bytes.emplace_back(tensor.bytes, Byte{false, tensor.in_memory, tensor.in_memory});
  std::uint64_t in = 0, out = 0;
  const memory_model::Uses uses(iteration);
  for (std::uint32_t a = 0; a < uses.accesses(); ++a) {
    const Access &access = uses.what[a];
    const bool again = uses.next[a] != memory_model::kNever;
    std::vector<Byte> &tensor = bytes[access.tensor];
    for (std::size_t b = 0; b < tensor.size(); ++b) {
      Byte &byte = tensor[b];
      if (access.reads && !byte.here) {
        if (!byte.memory || !byte.same) problems.push_back("a byte is loaded that memory does not have");
        ++in;
      }
      byte.here = true;
      if (access.writes) byte.same = false;
      const bool stays = again && b < plan.kept[a];
      const bool wanted = again || iteration.tensors[access.tensor].to_memory;
      if (!stays && wanted && !byte.same) {
        ++out;
        byte.memory = byte.same = true;
      }
      byte.here = stays;
    }
  }
  if (in != estimate.bytes_in)
    problems.push_back(fmt::format("{} bytes come in, and {} are told", in, estimate.bytes_in));
  if (out != estimate.bytes_out)
    problems.push_back(fmt::format("{} bytes go out, and {} are told", out, estimate.bytes_out));
  return problems;
}

} // namespace gradweave::test
