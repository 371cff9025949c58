#include "compiler/vector/lower_op.hpp"

#include "compiler/vector/chain.hpp"
#include "compiler/vector/check_jobs.hpp"
#include "compiler/vector/copy_program.hpp"
#include "compiler/vector/cut_walk.hpp"
#include "compiler/vector/late_jobs.hpp"
#include "compiler/vector/placed_walk.hpp"
#include "graph/build/inference.hpp"
#include "graph/golden/recorded_kernel.hpp"
#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

namespace gradweave::compiler {
namespace {

using graph::Kernel;
using graph::Recorded;
using graph::RecordedWalk;
using graph::RowMove;
using graph::TensorId;
using graph::WalkValue;

/// Values in the order: inputs, outputs, temporaries.
class Lowering {
public:
  explicit Lowering(const Kernel<Recorded> &kernel) : kernel_(kernel) {
    for (const graph::TensorId id : kernel.op().inputs)
      add_tensor(id);
    for (const graph::TensorId id : kernel.op().outputs)
      add_tensor(id);
    for (std::size_t t = 0; t < kernel.temporaries().size(); ++t)
      jobs_.values.push_back({fmt::format("{}.{}", kernel.op().name, t), graph::kNone, graph::ElementType::kFp32,
                              kernel.temporaries()[t]});
  }

  OpJobs run() {
    for (const graph::RecordedStep &step : kernel_.steps())
      if (const auto *walk = std::get_if<RecordedWalk>(&step)) {
        add_walk(*walk);
      } else {
        add_waiting();
        add_move(std::get<RowMove>(step));
      }
    add_waiting();
    return std::move(jobs_);
  }

private:
  void add_tensor(graph::TensorId id) {
    if (id == graph::kNone) {
      jobs_.values.push_back({});
      return;
    }
    const graph::Tensor &tensor = kernel_.graph().tensors[id];
    jobs_.values.push_back({tensor.name, id, tensor.type, tensor.shape.elements()});
  }

  std::size_t value_of(const WalkValue &value) const {
    const std::size_t inputs = kernel_.inputs(), outputs = kernel_.outputs();
    return value.number + (value.kind == WalkValue::Kind::kInput    ? 0
                           : value.kind == WalkValue::Kind::kOutput ? inputs
                                                                    : inputs + outputs);
  }

  /// What a row has of the first tensor of the graph that the walk reads or writes.
  std::size_t row_of(const RecordedWalk &walk) const {
    for (const auto *operands : {&walk.walk.out, &walk.walk.in})
      for (const graph::WalkOperand &operand : *operands)
        if (const graph::TensorId id = jobs_.values[value_of(operand.value)].tensor; id != graph::kNone)
          return kernel_.graph().tensors[id].shape.cols();
    return 1;
  }

  /// Walks of elements over as many places wait for each other: their jobs come place by place.
  void add_walk(const RecordedWalk &recorded) {
    PlacedWalk walk{cut_walk(recorded, row_of(recorded), describe(kernel_.op())), jobs_.programs.size(), {}, 0};
    for (const graph::WalkOperand &operand : recorded.walk.in)
      walk.values.push_back(value_of(operand.value));
    walk.operands = walk.values.size();
    for (const graph::WalkOperand &operand : recorded.walk.out)
      walk.values.push_back(value_of(operand.value));
    if (!walk.walk.outer.empty()) {
      add_waiting();
      add_parts(walk, recorded.program);
      return;
    }
    const auto goes_with = [&](const PlacedWalk &w) { return go_place_by_place(w, walk); };
    if (walk.walk.firsts.size() == 1 || !std::all_of(waiting_.begin(), waiting_.end(), goes_with)) add_waiting();
    jobs_.programs.push_back(recorded.program);
    waiting_.push_back(std::move(walk));
  }

  void add_waiting() {
    for (std::size_t place = 0; !waiting_.empty() && place < waiting_.front().walk.firsts.size(); ++place)
      for (const PlacedWalk &waiting : waiting_) {
        const RectangleWalk &walk = waiting.walk;
        VectorJob job;
        job.program = waiting.program;
        job.lanes = static_cast<std::uint32_t>(walk.lanes.count);
        job.steps = static_cast<std::uint32_t>(walk.steps.count);
        job.elementwise = walk.elementwise;
        for (std::size_t i = 0; i < waiting.values.size(); ++i)
          (i < waiting.operands ? job.operands : job.results)
              .push_back(tile(walk, i, waiting.values[i], walk.firsts[place][i]));
        jobs_.steps.emplace_back(std::move(job));
      }
    waiting_.clear();
  }

  /// A chain over several dimensions: of each place a job for each step of the outer ones, loop by loop, which hand on
  /// registers as lines of words (N9).
  void add_parts(const PlacedWalk &placed, const isa::vector::Program &program) {
    const RectangleWalk &walk = placed.walk;
    check_behind(walk, program);
    std::map<unsigned, std::size_t> lines; // by register
    for (const std::vector<std::size_t> &begin : walk.firsts) {
      const std::vector<std::vector<std::size_t>> places = places_of(walk.outer, begin);
      for (const unsigned loop : loops_of(program))
        for (std::size_t at = 0; at < places.size(); ++at)
          add_part(placed, part_of(program, loop, at, {places.size(), walk.steps.count}), places[at], lines);
    }
  }

  /// What is run once behind the last loop has the last part's first step.
  void check_behind(const RectangleWalk &walk, const isa::vector::Program &program) const {
    isa::vector::Mask mask = 0;
    for (unsigned s = loops_of(program).back() + 1; s < isa::vector::kSections; ++s)
      mask = static_cast<isa::vector::Mask>(mask | isa::vector::mask_of(program.sections[s]));
    for (std::size_t i = 0; i < isa::vector::kTiles && i < walk.steps.strides.size(); ++i)
      if ((mask >> i & 1U) != 0 && walk.steps.strides[i] != 0)
        fail_in_parts("what is run behind its loops reads steps");
  }

  [[noreturn]] void fail_in_parts(const std::string &why) const {
    throw graph::GraphError(fmt::format("{}: its chains go over dimensions that are no one dimension, and {}",
                                        describe(kernel_.op()), why));
  }

  ChainPart part_of(const isa::vector::Program &program, unsigned loop, std::size_t at,
                    const std::pair<std::size_t, std::size_t> &parts_and_steps) const {
    const auto [parts, steps] = parts_and_steps;
    try {
      return chain_part(program, loop, at == 0, at + 1 == parts, static_cast<std::uint32_t>(at * steps));
    } catch (const std::length_error &error) {
      fail_in_parts(error.what());
    }
  }

  void add_part(const PlacedWalk &placed, ChainPart part, const std::vector<std::size_t> &first,
                std::map<unsigned, std::size_t> &lines) {
    const RectangleWalk &walk = placed.walk;
    VectorJob job;
    job.program = program_of(std::move(part.program));
    job.lanes = static_cast<std::uint32_t>(walk.lanes.count);
    job.steps = static_cast<std::uint32_t>(walk.steps.count);
    const auto add = [&](std::size_t i, std::vector<JobTile> &tiles) {
      tiles.push_back(tile(walk, i, placed.values[i], first[i]));
    };
    for (const unsigned i : part.operands)
      add(i, job.operands);
    for (const unsigned o : part.results)
      add(placed.operands + o, job.results);
    const auto line_of = [&](unsigned reg) {
      const auto [line, is_new] = lines.try_emplace(reg, jobs_.values.size());
      if (is_new)
        jobs_.values.push_back(
            {fmt::format("{}.r{}", kernel_.op().name, reg), graph::kNone, graph::ElementType::kFp32, walk.lanes.count});
      return JobTile{line->second, 0, 0, LineOf::kRow, true, false};
    };
    std::transform(part.restored.begin(), part.restored.end(), std::back_inserter(job.operands), line_of);
    std::transform(part.saved.begin(), part.saved.end(), std::back_inserter(job.results), line_of);
    jobs_.steps.emplace_back(std::move(job));
  }

  /// Parts of a chain in its middle have one program.
  std::size_t program_of(isa::vector::Program &&program) {
    const auto [known, is_new] = programs_.try_emplace(isa::vector::encode(program), jobs_.programs.size());
    if (is_new) jobs_.programs.push_back(std::move(program));
    return known->second;
  }

  static JobTile tile(const RectangleWalk &walk, std::size_t i, std::size_t value, std::size_t first) {
    const std::size_t lane = walk.lanes.strides[i], step = walk.steps.strides[i];
    const bool rows = lane <= 1 && !(lane == 0 && step == 1);
    return {value, first, rows ? step : lane, rows ? LineOf::kRow : LineOf::kColumn, lane != 0, step != 0};
  }

  void add_move(const RowMove &move) {
    const RectangleWalk walk = cut_move(move);
    const std::size_t from = value_of(move.from.value), to = value_of(move.to.value);
    const bool copies = jobs_.values[from].type != jobs_.values[to].type;
    if (copies) jobs_.programs.push_back(copy_program());
    for (const std::vector<std::size_t> &first : walk.firsts)
      if (copies)
        add_copy({from, first[0], walk.steps.strides[0]}, {to, first[1], walk.steps.strides[1]}, walk.steps.count,
                 move.length);
      else
        jobs_.steps.emplace_back(MoveJob{from, to, first[0], walk.steps.strides[0], first[1], walk.steps.strides[1],
                                         walk.steps.count, move.length});
  }

  /// Rows that change their type on the way, by the last program.
  void add_copy(const JobTile &from, const JobTile &to, std::size_t rows, std::size_t length) {
    VectorJob job;
    job.program = jobs_.programs.size() - 1;
    job.elementwise = true;
    job.lanes = static_cast<std::uint32_t>(length);
    job.steps = static_cast<std::uint32_t>(rows);
    job.operands = {from};
    job.results = {to};
    jobs_.steps.emplace_back(std::move(job));
  }

  const Kernel<Recorded> &kernel_;
  OpJobs jobs_;
  std::vector<PlacedWalk> waiting_;                    ///< of which no job is made yet
  std::map<isa::vector::Words, std::size_t> programs_; ///< of parts of chains: which of OpJobs::programs
};

class Merging {
public:
  Merging(const graph::Graph &graph, const graph::Consumers &consumers, const std::vector<graph::OpId> &ops,
          const KnownIndices &known, const std::function<bool(graph::TensorId)> &keep)
      : graph_(graph), consumers_(consumers), ops_(ops), own_(ops.begin(), ops.end()), known_(known), keep_(keep) {
    wanted_.insert(graph.results.begin(), graph.results.end());
    for (const graph::Update &update : graph.updates)
      wanted_.insert(update.next);
  }

  OpJobs run() {
    for (const graph::OpId id : ops_)
      add(graph_.ops[id]);
    for (JobValue &value : all_.values)
      if (value.tensor != graph::kNone && is_between(value.tensor)) value.tensor = graph::kNone;
    return std::move(all_);
  }

private:
  void add(const graph::Op &op) {
    std::vector<const std::vector<std::int32_t> *> indices;
    for (const graph::TensorId id : op.inputs) {
      const auto found = known_.find(id);
      indices.push_back(found == known_.end() ? nullptr : found->second);
    }
    const OpJobs jobs = lower_op(graph_, op, indices);
    std::vector<std::size_t> names;
    for (const JobValue &value : jobs.values)
      names.push_back(value_of(value));
    for (const JobStep &step : jobs.steps)
      all_.steps.push_back(renamed(step, names));
    all_.programs.insert(all_.programs.end(), jobs.programs.begin(), jobs.programs.end());
  }

  std::size_t value_of(const JobValue &value) {
    if (value.tensor != graph::kNone) {
      const auto [found, is_new] = values_.try_emplace(value.tensor, all_.values.size());
      if (!is_new) return found->second;
    }
    all_.values.push_back(value);
    return all_.values.size() - 1;
  }

  JobStep renamed(JobStep step, const std::vector<std::size_t> &names) const {
    if (auto *move = std::get_if<MoveJob>(&step)) {
      move->from = names[move->from];
      move->to = names[move->to];
      return step;
    }
    auto &job = std::get<VectorJob>(step);
    job.program += all_.programs.size();
    for (auto *tiles : {&job.operands, &job.results})
      for (JobTile &tile : *tiles)
        tile.value = names[tile.value];
    return step;
  }

  bool has(graph::OpId op) const { return own_.count(op) != 0; }

  bool is_wanted(graph::TensorId id) const { return wanted_.count(id) != 0 || (keep_ && keep_(id)); }

  bool is_between(graph::TensorId id) const {
    const graph::OpId producer = graph_.tensors[id].producer;
    return producer != graph::kNone && has(producer) && !consumers_[id].empty() && !is_wanted(id) &&
           std::all_of(consumers_[id].begin(), consumers_[id].end(), [&](graph::OpId op) { return has(op); });
  }

  const graph::Graph &graph_;
  const graph::Consumers &consumers_;
  const std::vector<graph::OpId> &ops_;
  const std::set<graph::OpId> own_;
  std::set<graph::TensorId> wanted_; ///< what a run is for, and next values
  const KnownIndices &known_;
  const std::function<bool(graph::TensorId)> &keep_;
  std::map<graph::TensorId, std::size_t> values_; ///< of tensors
  OpJobs all_;
};

} // namespace

bool has_jobs(const graph::Operator &type) { return type.recorded != nullptr; }

bool needs_indices(const graph::Graph &graph, const graph::Op &op) {
  const auto whole = [&graph](TensorId id) { return id != graph::kNone && !graph::is_real(graph.tensors[id].type); };
  if (std::none_of(op.inputs.begin(), op.inputs.end(), whole)) return false;
  try { // only its text says what it does with them
    lower_op(graph, op);
    return false;
  } catch (const graph::GraphError &) {
    return true;
  }
}

OpJobs lower_op(const graph::Graph &graph, const graph::Op &op,
                const std::vector<const std::vector<std::int32_t> *> &indices) {
  if (!has_jobs(*op.type))
    throw graph::GraphError(fmt::format("{}: {} has no jobs of the vector unit; the array computes it, or the host",
                                        describe(op), op.type->name));
  Kernel<Recorded> kernel(graph, op, indices);
  op.type->recorded(kernel);
  OpJobs jobs = Lowering(kernel).run();
  check_jobs(jobs, describe(op));
  return jobs;
}

OpJobs lower_ops(const graph::Graph &graph, const graph::Consumers &consumers, const std::vector<graph::OpId> &ops,
                 const KnownIndices &known, const std::function<bool(graph::TensorId)> &keep) {
  OpJobs jobs = Merging(graph, consumers, ops, known, keep).run();
  put_late(jobs);
  return jobs;
}

} // namespace gradweave::compiler
