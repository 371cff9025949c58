#include "memory_model/iteration/iteration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::memory_model {

double Iteration::operations() const {
  double all = 0;
  for (const Step &s : steps)
    all += s.operations;
  return all;
}

Uses::Uses(const Iteration &iteration) {
  std::vector<std::uint32_t> last(iteration.tensors.size(), kNever);
  for (std::uint32_t s = 0; s < iteration.steps.size(); ++s) {
    first.push_back(static_cast<std::uint32_t>(what.size()));
    for (const Access &access : iteration.steps[s].accesses) {
      const auto id = static_cast<std::uint32_t>(what.size());
      std::uint32_t &before = last[access.tensor];
      if (before != kNever) next[before] = id;
      step.push_back(s);
      what.push_back(access);
      next.push_back(kNever);
      previous.push_back(before);
      before = id;
    }
  }
  first.push_back(static_cast<std::uint32_t>(what.size()));
  for (const Step &s : iteration.steps) {
    window.push_back(working_window(iteration, s));
    footprint.push_back(memory_model::footprint(iteration, s));
  }
}

std::uint64_t footprint(const Iteration &iteration, const Step &step) {
  std::uint64_t bytes = 0;
  for (const Access &access : step.accesses)
    bytes += iteration.tensors[access.tensor].bytes;
  return bytes;
}

double reuse_frequency(const Iteration &iteration, const Step &step) {
  return step.operations / static_cast<double>(footprint(iteration, step));
}

std::uint64_t working_window(const Iteration &iteration, const Step &step) {
  std::uint64_t rows = 0, read_weights = 0, written_weights = 0, read_twice = 0;
  for (const Access &access : step.accesses) {
    const Tensor &tensor = iteration.tensors[access.tensor];
    if (tensor.weight) {
      (access.writes ? written_weights : read_weights) += tensor.bytes;
      continue;
    }
    const std::uint64_t some = std::min(tensor.bytes, access.rows * tensor.row_bytes);
    rows += some;
    if (access.products > 1) read_twice += tensor.bytes - some;
  }
  return rows + std::min(read_weights + written_weights, std::max(read_weights, written_weights) + read_twice);
}

void check(const Iteration &iteration) {
  std::vector<bool> there(iteration.tensors.size()), touched(iteration.tensors.size());
  for (std::size_t t = 0; t < iteration.tensors.size(); ++t) {
    there[t] = iteration.tensors[t].in_memory;
    if (iteration.tensors[t].bytes == 0)
      throw std::logic_error(fmt::format("tensor '{}' has no bytes", iteration.tensors[t].name));
  }
  std::vector<std::size_t> last(iteration.tensors.size());
  for (std::size_t s = 0; s < iteration.steps.size(); ++s) {
    const Step &step = iteration.steps[s];
    if (step.accesses.empty()) throw std::logic_error(fmt::format("step '{}' touches no tensor", step.name));
    for (const Access &access : step.accesses) {
      const std::string &name = iteration.tensors[access.tensor].name;
      if (last[access.tensor] == s + 1) throw std::logic_error(fmt::format("'{}' touches '{}' twice", step.name, name));
      last[access.tensor] = s + 1;
      if (access.reads && !there[access.tensor])
        throw std::logic_error(fmt::format("'{}' reads '{}', which nobody has written", step.name, name));
      if (!access.reads && !access.writes)
        throw std::logic_error(fmt::format("'{}' neither reads nor writes '{}'", step.name, name));
      there[access.tensor] = touched[access.tensor] = true;
    }
  }
  for (std::size_t t = 0; t < touched.size(); ++t)
    if (!touched[t]) throw std::logic_error(fmt::format("nobody touches '{}'", iteration.tensors[t].name));
}

} // namespace gradweave::memory_model
