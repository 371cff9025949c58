// Jobs as commands: each operator of whole training steps gives golden execution's bits on the functional model, and
// the check of hazards finds none.
#include "compiler/vector/lower_op.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/compiler/vector_stream/section_run.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace gradweave::compiler {
namespace {

constexpr std::uint64_t kSeed = 271;

const std::vector<NetworkStep> &steps() {
  static const std::vector<NetworkStep> all = network_steps();
  return all;
}

std::size_t elements_of(const OpJobs &jobs) {
  std::size_t elements = 0;
  for (const JobValue &value : jobs.values)
    elements += value.elements;
  return elements;
}

class JobCommands : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = vector_machine(GetParam());
  bool is_small() const { return npu_.name == "small"; }
  /// Whether it takes long on a machine of few lanes.
  bool is_long(const OpJobs &jobs) const { return !is_small() && elements_of(jobs) > 100'000; }
};

TEST_P(JobCommands, GiveTheBitsOfGoldenExecution) {
  std::size_t compared = 0;
  for (const StepOp &op : distinct_ops(steps())) {
    if (!has_jobs(*op.op->type)) continue;
    for (const Values values : {Values::kTame, Values::kSpecial}) {
      Dice dice(kSeed);
      const OpData data = random_data(op.step->graph, *op.op, values, dice);
      const OpJobs jobs = lowered(op.step->graph, *op.op, data);
      if (is_long(jobs)) continue;
      const std::vector<isa::Command> stream = job_commands(jobs, SectionPlaces(jobs).addresses, npu_);
      const std::string found = section_difference(npu_, op, data, jobs, stream);
      EXPECT_EQ(found, "") << op.step->name << ", " << op.op->type->name << " " << op.op->name << ", seed " << kSeed;
      ++compared;
    }
  }
  EXPECT_GT(compared, 300U);
}

/// Ops without products between them as one section, from inputs that are drawn.
class OpsInARow {
public:
  explicit OpsInARow(const graph::Graph &graph) : graph_(graph), dice_(kSeed) {}

  void take(graph::OpId id, Values values) {
    const graph::Op &op = graph_.ops[id];
    std::vector<graph::Buffer<graph::Contract>> inputs(op.inputs.size());
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] == graph::kNone) continue;
      const auto [found, is_new] = buffers_.try_emplace(op.inputs[i]);
      if (is_new) found->second = random_input(graph_, op, i, values, dice_);
      if (!found->second.index.empty()) known_[op.inputs[i]] = &found->second.index;
      inputs[i] = found->second;
    }
    auto outputs = golden_outputs(graph_, op, inputs);
    for (std::size_t o = 0; o < op.outputs.size(); ++o)
      if (op.outputs[o] != graph::kNone) buffers_[op.outputs[o]] = std::move(outputs[o]);
    ops_.push_back(id);
  }
  bool empty() const { return ops_.empty(); }

  OpJobs jobs() const { return lower_ops(graph_, graph_.consumers(), ops_, known_); }

  /// The first element of the run that differs from golden execution.
  std::string difference(const Machine &npu, const OpJobs &jobs) const {
    const SectionPlaces places(jobs);
    const auto stream = job_commands(jobs, places.addresses, npu);
    if (std::string hazard = first_hazard(npu, stream); !hazard.empty()) return hazard;
    DeviceMemory memory(places.end + stream.size() * isa::kCommandBytes);
    const auto is_given = [&](const JobValue &v) {
      const graph::OpId producer = v.tensor == graph::kNone ? graph::kNone : graph_.tensors[v.tensor].producer;
      return v.tensor != graph::kNone && std::find(ops_.begin(), ops_.end(), producer) == ops_.end();
    };
    for (std::size_t v = 0; v < jobs.values.size(); ++v)
      if (is_given(jobs.values[v]))
        write_value(memory, places.addresses[v], jobs.values[v], bits_of(buffers_.at(jobs.values[v].tensor)));
    if (!run_functional(npu, memory, stream, places.end)) return "the stream does not end well";
    std::set<graph::TensorId> wanted = read_elsewhere();
    for (std::size_t v = 0; v < jobs.values.size(); ++v) {
      const JobValue &value = jobs.values[v];
      if (value.tensor == graph::kNone || is_given(value)) continue;
      wanted.erase(value.tensor);
      const std::vector<std::uint32_t> golden = bits_of(buffers_.at(value.tensor));
      for (std::size_t i = 0; i < golden.size(); ++i)
        if (read_element(memory, places.addresses[v], value, i) != golden[i])
          return fmt::format("'{}' [{}] differs", value.name, i);
    }
    return wanted.empty() ? "" : fmt::format("'{}' is no result", graph_.tensors[*wanted.begin()].name);
  }

private:
  /// Tensors that ops outside read, or that live on.
  std::set<graph::TensorId> read_elsewhere() const {
    std::set<graph::TensorId> wanted;
    const auto is_given = [&](graph::TensorId id) {
      return std::find(ops_.begin(), ops_.end(), graph_.tensors[id].producer) != ops_.end();
    };
    for (graph::OpId op = 0; op < graph_.ops.size(); ++op)
      if (std::find(ops_.begin(), ops_.end(), op) == ops_.end())
        for (const graph::TensorId id : graph_.ops[op].inputs)
          if (id != graph::kNone && is_given(id)) wanted.insert(id);
    for (const graph::Update &update : graph_.updates)
      if (is_given(update.next)) wanted.insert(update.next);
    return wanted;
  }

  const graph::Graph &graph_;
  Dice dice_;
  std::vector<graph::OpId> ops_;
  std::map<graph::TensorId, graph::Buffer<graph::Contract>> buffers_;
  KnownIndices known_;
};

TEST_P(JobCommands, OfOpsInARowGiveTheBitsOfGoldenExecution) {
  std::size_t compared = 0;
  for (const NetworkStep &step : steps()) {
    if (step.name == "resnet50") continue; // many alike, and large
    std::optional<OpsInARow> row(step.graph);
    for (graph::OpId id = 0; id <= step.graph.ops.size(); ++id) {
      const bool goes_on = id < step.graph.ops.size() && has_jobs(*step.graph.ops[id].type);
      if (goes_on) row->take(id, Values::kSpecial);
      if (goes_on || row->empty()) continue;
      const OpJobs jobs = row->jobs();
      if (!is_long(jobs)) {
        EXPECT_EQ(row->difference(npu_, jobs), "") << step.name << ", before op " << id << ", seed " << kSeed;
        ++compared;
      }
      row.emplace(step.graph);
    }
  }
  EXPECT_GT(compared, 40U);
}

INSTANTIATE_TEST_SUITE_P(Npus, JobCommands, testing::Values("small", "test8v2", "test6x10v1", "test8c2v8"));

TEST(JobCommandsOfWholeNetworks, EndOnSmall) {
  const Machine npu = vector_machine("small");
  const std::vector<NetworkStep> networks = full_network_steps();
  for (const StepOp &op : distinct_ops(networks)) {
    if (!has_jobs(*op.op->type)) continue;
    Dice dice(kSeed);
    const OpJobs jobs = lowered(op.step->graph, *op.op, random_indices(op.step->graph, *op.op, dice));
    EXPECT_TRUE(timing::run(npu, job_commands(jobs, SectionPlaces(jobs).addresses, npu)).ok())
        << op.step->name << " " << op.op->name;
  }
}

// What cannot be.

/// Lanes that sum their steps.
OpJobs sums(std::uint32_t lanes, std::uint32_t steps, unsigned operands) {
  OpJobs jobs;
  VectorJob job;
  job.lanes = lanes;
  job.steps = steps;
  isa::vector::Program program;
  for (unsigned i = 0; i < operands; ++i) {
    jobs.values.push_back({fmt::format("x{}", i), 0, graph::ElementType::kFp32, std::size_t{lanes} * steps});
    job.operands.push_back({i, 0, lanes, LineOf::kRow, true, true});
    isa::vector::Instruction set{isa::vector::Op::OR, static_cast<std::uint8_t>(i), {}, 0}, add = set;
    set.operands = {isa::vector::constant(), isa::vector::constant(), {}};
    program.sections[0].push_back(set);
    add.op = isa::vector::Op::ADD;
    add.operands = {isa::vector::reg(i), isa::vector::tile(i), {}};
    program.sections[1].push_back(add);
    if (i == 0) continue;
    add.d = 0;
    add.operands = {isa::vector::reg(0), isa::vector::reg(i), {}};
    program.sections[2].push_back(add);
  }
  isa::vector::Instruction out{isa::vector::Op::OR, isa::vector::kOutputCode, {}, 0};
  out.operands = {isa::vector::reg(0), isa::vector::reg(0), {}};
  program.sections[2].push_back(out);
  jobs.values.push_back({"sum", 1, graph::ElementType::kFp32, lanes});
  job.results.push_back({operands, 0, 0, LineOf::kRow, true, false});
  jobs.programs.push_back(program);
  jobs.steps.emplace_back(job);
  return jobs;
}

std::string error_of(const OpJobs &jobs, const Machine &npu) {
  try {
    job_commands(jobs, SectionPlaces(jobs).addresses, npu);
  } catch (const JobCommandsError &error) {
    return error.what();
  }
  return {};
}

TEST(JobCommandsErrors, SayWhatDoesNotFit) {
  const Machine npu = load_machine("configs/test8v2.toml");
  EXPECT_EQ(error_of(sums(5, 20, 3), npu), "");
  EXPECT_EQ(error_of(sums(5, 2000, 2), npu), "");
  EXPECT_EQ(
      error_of(sums(5, 2000, 3), npu),
      "job of 'sum': a part of its chain reads 6 tiles and writes 3, 3 and 3 of them variables; there are 5 and 4. "
      "Give NPU 'test8v2' more spm_bytes, so that whole chains fit");
  OpJobs late = sums(5, 2000, 1);
  late.programs[0].sections[2][0].operands[0] = isa::vector::tile(0);
  EXPECT_EQ(error_of(late, npu), "job of 'sum': its chain does not fit NPU 'test8v2', and cannot be cut, as it reads "
                                 "'x0' behind its loops. Read it in a section before them");
  EXPECT_EQ(error_of(sums(2, 2, 1), load_machine("configs/test8.toml")),
            "NPU 'test8' has no vector unit; give it one by vector_groups");
  Machine tiny = npu;
  tiny.spm_bytes = 64 * 16;
  EXPECT_EQ(error_of(sums(8, 4, 2), tiny), "");
}

// Faults that the checks have to see, in the stream of a chain that is cut.

struct Section {
  Section() {
    for (const StepOp &found : distinct_ops(steps()))
      if (found.op->type->name == "BiasGradient" &&
          found.step->graph.tensors[found.op->outputs[0]].shape == graph::Shape{6})
        op = found;
    Dice dice(kSeed);
    data = random_data(op.step->graph, *op.op, Values::kTame, dice);
    jobs = lowered(op.step->graph, *op.op, data);
    stream = job_commands(jobs, SectionPlaces(jobs).addresses, npu);
  }
  std::string difference() const { return section_difference(npu, op, data, jobs, stream); }
  /// The n-th command of an engine that is a T.
  template <typename T, typename F> void change(std::size_t n, const F &f) {
    for (isa::Command &c : stream) {
      isa::Decoded d = *isa::decode(c);
      if (!std::holds_alternative<T>(d.op) || n-- != 0) continue;
      f(d, std::get<T>(d.op));
      c = isa::encode(d);
      return;
    }
    FAIL() << "there is no such command";
  }

  Machine npu = load_machine("configs/test8v2.toml");
  StepOp op{nullptr, nullptr};
  OpData data;
  OpJobs jobs;
  std::vector<isa::Command> stream;
};

TEST(JobCommandsFaults, AMissingWaitIsSeen) {
  Section s;
  EXPECT_EQ(s.difference(), "");
  s.change<isa::VectorCommand>(1, [](isa::Decoded &d, auto &) { d.sync.waits[0] = {}; });
  EXPECT_NE(s.difference(), "");
}

TEST(JobCommandsFaults, AnotherPlaceIsSeen) {
  Section s;
  s.change<isa::DmaCommand>(2, [](isa::Decoded &, isa::DmaCommand &c) { c.spm.row += 2; });
  EXPECT_NE(s.difference(), "");
}

TEST(JobCommandsFaults, AnotherChunkIsSeen) {
  Section s;
  s.change<isa::DmaCommand>(1, [](isa::Decoded &, isa::DmaCommand &c) { c.dram_addr += c.pitch; });
  EXPECT_NE(s.difference(), "");
}

} // namespace
} // namespace gradweave::compiler
