// Chains that are cut in steps.
#pragma once

#include "compiler/vector/chain.hpp"
#include "compiler/vector/job.hpp"
#include "compiler/vector_stream/group/group.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace gradweave::compiler {

/// Throws JobCommandsError: so many lanes and a step of the group have no room in a place.
[[noreturn]] void fail_to_fit(const OpJobs &jobs, const JobGroup &group, std::size_t lanes, const NpuConfig &npu);

/// What a part of the group's first stage reads and writes, under its own names. `part` must outlive it.
JobGroup group_of_part(const JobGroup &group, const ChainPart &part);

/// A group of one chain, loop by loop, each in parts of some of its steps, which hand on variables.
class ChainCutting {
public:
  /// Keeps all of them. Throws JobCommandsError: a strip does not fit, or the chain cannot be cut.
  ChainCutting(const OpJobs &jobs, const JobGroup &group, const NpuConfig &npu);

  /// Whether a group may be cut that need not be: one chain of one loop, so that nothing is read twice.
  static bool is_possible(const JobGroup &group);

  const std::vector<unsigned> &loops() const { return loops_; } ///< sections of the program
  std::size_t lanes() const { return lanes_; }                  ///< at once
  std::size_t steps(unsigned loop) const;                       ///< of a part; at least 1
  /// Places among the values that are handed on, by register.
  const std::map<unsigned, std::size_t> &states() const { return states_; }
  /// Throws JobCommandsError, as the constructor does.
  ChainPart part(unsigned loop, bool first, bool last, std::size_t offset) const;
  /// Of all of it, nearly, by the estimate of cut_of_chains().
  std::uint64_t cycles() const;

private:
  void check_behind() const;
  std::size_t steps_that_fit(unsigned loop, std::size_t lanes) const;
  const std::string &name() const;

  const OpJobs &jobs_;
  const JobGroup &group_;
  const NpuConfig &npu_;
  std::vector<unsigned> loops_;
  std::map<unsigned, std::size_t> states_;
  std::size_t lanes_ = 1;
};

} // namespace gradweave::compiler
