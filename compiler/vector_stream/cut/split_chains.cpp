#include "compiler/vector_stream/cut/split_chains.hpp"

#include "compiler/vector/chain.hpp"
#include "compiler/vector_stream/group/group.hpp"
#include "compiler/vector_stream/stage/result_slice.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gradweave::compiler {
namespace {

using isa::vector::Program;

class Splitting {
public:
  Splitting(const OpJobs &jobs, const std::vector<std::uint64_t> &addresses, const NpuConfig &npu)
      : jobs_(jobs), addresses_(addresses), npu_(npu) {}

  OpJobs run() {
    out_.values = jobs_.values;
    out_.programs = jobs_.programs;
    for (const JobStep &step : jobs_.steps) {
      const auto *job = std::get_if<VectorJob>(&step);
      if (job == nullptr || !has_to_be_split(*job)) {
        out_.steps.push_back(step);
        continue;
      }
      for (const unsigned result : results_of(*job))
        out_.steps.emplace_back(slice_of(*job, result));
    }
    return std::move(out_);
  }

private:
  bool has_to_be_split(const VectorJob &job) {
    if (job.elementwise || job.results.size() < 2 || results_in_place(job) > 1 || !is_too_wide(job.program))
      return false;
    JobGroup group;
    group.stages = {stage_of(jobs_, job)};
    group.in_memory.assign(jobs_.values.size(), true);
    return !fits(group, std::min<std::size_t>(job.lanes, npu_.lanes()), job.steps, npu_);
  }

  /// Whether a part of the program's chains would have too many tiles.
  bool is_too_wide(std::size_t program) {
    const auto [known, is_new] = too_wide_.try_emplace(program, false);
    if (is_new) known->second = !parts_fit(jobs_.programs[program]);
    return known->second;
  }

  bool is_in_place(const VectorJob &job, unsigned result) const {
    return std::any_of(job.operands.begin(), job.operands.end(),
                       [&](const JobTile &t) { return addresses_[t.value] == addresses_[job.results[result].value]; });
  }
  std::size_t results_in_place(const VectorJob &job) const {
    std::size_t count = 0;
    for (unsigned r = 0; r < job.results.size(); ++r)
      count += is_in_place(job, r) ? 1 : 0;
    return count;
  }

  std::vector<unsigned> results_of(const VectorJob &job) const {
    std::vector<unsigned> order;
    for (const bool in_place : {false, true})
      for (unsigned r = 0; r < job.results.size(); ++r)
        if (is_in_place(job, r) == in_place) order.push_back(r);
    return order;
  }

  VectorJob slice_of(const VectorJob &job, unsigned result) {
    const auto [known, is_new] = slices_.try_emplace({job.program, result});
    if (is_new) {
      Program program = result_slice(jobs_.programs[job.program], result);
      std::vector<std::vector<isa::vector::Instruction> *> sections;
      for (auto &section : program.sections)
        sections.push_back(&section);
      known->second = {out_.programs.size(), name_used_tiles(sections)};
      out_.programs.push_back(std::move(program));
    }
    VectorJob slice = job;
    slice.program = known->second.program;
    slice.operands.clear();
    for (const unsigned operand : known->second.used.operands)
      slice.operands.push_back(job.operands[operand]);
    slice.results = {job.results[result]};
    return slice;
  }

  struct Slice {
    std::size_t program = 0; ///< which of out_.programs
    UsedTiles used;
  };

  const OpJobs &jobs_;
  const std::vector<std::uint64_t> &addresses_;
  const NpuConfig &npu_;
  std::map<std::size_t, bool> too_wide_;                     ///< by program
  std::map<std::pair<std::size_t, unsigned>, Slice> slices_; ///< by program and result
  OpJobs out_;
};

} // namespace

OpJobs split_chains(const OpJobs &jobs, const std::vector<std::uint64_t> &addresses, const NpuConfig &npu) {
  return Splitting(jobs, addresses, npu).run();
}

} // namespace gradweave::compiler
