#include "train/npu/step_stream.hpp"

#include "base/process/stopwatch.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector/lower_op.hpp"
#include "compiler/vector_stream/cut/values_through_memory.hpp"
#include "compiler/vector_stream/job_commands.hpp"
#include "compiler/vector_stream/section.hpp"
#include "graph/ir/error.hpp"
#include "graph/ir/product.hpp"
#include "train/data/tensor_bytes.hpp"
#include "train/npu/check_flow.hpp"
#include "train/npu/check_stream.hpp"
#include "train/npu/choose_epilogues.hpp"
#include "train/npu/plan/depthwise_op.hpp"
#include "train/npu/plan/order/in_place.hpp"
#include "train/npu/plan/order/named_rows.hpp"
#include "train/npu/semaphores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace gradweave::runtime::train {
namespace {

using compiler::OpJobs;
using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::TensorId;

constexpr std::uint64_t kBarrierCommands = 2;
constexpr std::uint64_t kStreamAlignment = 4096; ///< of a stream behind the tensors (Device::submit())
constexpr std::uint64_t kCommandsOfARow = 128;   ///< at most: a row of an embedding is moved, added to and updated

/// The operators of a run, each once: "Add + LayerNormalization + Cast".
std::string names_of(const graph::Graph &graph, const std::vector<OpId> &ops) {
  std::vector<std::string_view> names;
  std::string text;
  for (const OpId op : ops) {
    const std::string_view name = graph.ops[op].type->name;
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    text += (names.empty() ? "" : " + ") + std::string(name);
    names.push_back(name);
  }
  return text;
}

/// A SYNC on STORE that posts, and one on LOAD that waits for it: LOADs behind come after STOREs before.
std::array<isa::Command, 2> barrier(const NpuConfig &npu) {
  const std::uint8_t token = compiler::barrier_semaphore(npu);
  isa::Decoded stored, load;
  stored.op = isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::STORE)};
  stored.sync.posts[0] = token;
  load.op = isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::LOAD)};
  load.sync.waits[0] = {token, 1};
  return {isa::encode(stored), isa::encode(load)};
}

[[noreturn]] void refuse(std::string_view why) {
  throw std::invalid_argument(
      fmt::format("the NPU cannot run the whole step; leave operators to the host (--operators host): {}", why));
}

} // namespace

ProductPlan plan_device_products(const graph::Graph &graph, const Machine &npu) {
  PlanOptions options;
  options.images = ReadImages::kWherePossible;
  const bool enough = section_semaphores(npu).strips + compiler::kPairSemaphores < npu.semaphores; // and a barrier
  options.elsewhere = [&](OpId op) { return enough && has_depthwise_pieces(graph, graph.ops[op], npu); };
  return plan_products(graph, npu, options);
}

std::string refused_ops(const graph::Graph &graph, const ProductPlan &products) {
  std::string refused;
  const auto add = [&refused](const std::string &text) { refused += (refused.empty() ? "" : "; ") + text; };
  for (const HostProduct &host : products.host)
    add(fmt::format("'{}': {}", graph.ops[host.op].name, host.reason));
  for (const Op &op : graph.ops)
    if (!graph::is_product({graph, op}) && !compiler::has_jobs(*op.type))
      add(fmt::format("'{}': {} has no program of the vector unit", op.name, op.type->name));
  return refused;
}

StepPlan::StepPlan(const graph::TrainingGraph &step, const ProductPlan &products, const Machine &npu,
                   const compiler::CompileOptions &options, bool keep_all)
    : step_(step), npu_(npu), products_(products), views_(find_views(step.graph, products)),
      keeps_([&step, keep_all](TensorId id) {
        return keep_all || std::any_of(step.micro_batches.begin(), step.micro_batches.end(),
                                       [id](const graph::MicroBatch &m) { return m.loss == id; });
      }),
      items_(step.graph, npu, keeps_, section_semaphores(npu).strips), job_sections_(npu, section_semaphores(npu)) {
  if (npu.vectors() == 0)
    throw std::invalid_argument(fmt::format(
        "NPU '{}' has no vector unit, and so computes no operators; set npu.vector_groups to 1, 2, 4 or 8, pick "
        "another NPU, or leave operators to the host (--operators host)",
        npu.name));
  const Stopwatch stopwatch;
  std::uint64_t lasting = 0; // of what no op computes: known before jobs are made
  for (const graph::Tensor &tensor : step.graph.tensors)
    if (!tensor.computed()) lasting += bytes_of_tensor(tensor);
  check_memory(lasting, npu);
  if (const std::string refused = refused_ops(step.graph, products); !refused.empty()) refuse(refused);
  try {
    compile(options);
    lower();
    take_constants();
    place(false);
    if (room() > npu.memory.size_bytes && !keep_all) place(true);
  } catch (const graph::GraphDefect &) {
    throw;
  } catch (const graph::GraphError &error) { // an op whose operator has jobs, and which has none
    refuse(error.what());
  } catch (const compiler::JobCommandsError &error) { // too small a scratchpad
    refuse(error.what());
  }
  check_memory(compiler::round_up(memory_bytes_, kStreamAlignment) + known_commands() * isa::kCommandBytes, npu);
  compile_seconds_ = stopwatch.wall_seconds();
}

std::uint64_t StepPlan::known_commands() const {
  std::uint64_t commands = 0;
  for (const Part &part : parts_)
    commands += part.commands.size() + kBarrierCommands;
  return commands;
}

std::uint64_t StepPlan::room() const {
  std::uint64_t commands = known_commands();
  for (const TensorId id : index_tensors_)
    commands += step_.graph.tensors[id].shape.elements() * kCommandsOfARow;
  return compiler::round_up(memory_bytes_, kStreamAlignment) + commands * isa::kCommandBytes;
}

/// Jobs of all operators, and which tensors they leave in the scratchpad.
void StepPlan::lower() {
  const graph::Graph &graph = step_.graph;
  const graph::Consumers consumers = graph.consumers();
  inside_.assign(graph.tensors.size(), false);
  for (const Station &station : order_.stations) {
    jobs_.emplace_back();
    if (station.group) items_.note_inside(*station.group, graph, inside_);
    if (station.ops.empty() || station.by_indices || station.by_areas) continue;
    jobs_.back() =
        compiler::values_through_memory(compiler::lower_ops(graph, consumers, station.ops, {}, keeps_), npu_);
    for (const OpId op : station.ops)
      for (const TensorId id : graph.ops[op].outputs)
        if (id != kNone) inside_[id] = true;
    for (const compiler::JobValue &value : jobs_.back().values)
      if (value.tensor != kNone) inside_[value.tensor] = false;
  }
  for (std::size_t pass = 0; pass < epilogues_.size(); ++pass) {
    epilogue_jobs_.emplace_back();
    for (const PassEpilogue &epilogue : epilogues_[pass]) {
      epilogue_jobs_.back().push_back(
          epilogue_jobs(graph, consumers, products_.passes[pass], epilogue, views_, keeps_));
      for (const TensorId id : epilogue_jobs_.back().back().inside)
        inside_[id] = true;
    }
  }
}

/// Places for all tensors, and the sections that follow from them. A next value over which jobs still read the one
/// before gets a place of its own.
void StepPlan::place(bool reuse) {
  for (;;) {
    memory_ = plan_memory({step_.graph, order_, views_, inside_, reuse, displaced_});
    try {
      return make_sections();
    } catch (const InPlaceConflict &conflict) {
      if (!displaced_.insert(conflict.written()).second) throw;
    }
  }
}

void StepPlan::make_sections() {
  memory_bytes_ = memory_.scratch;
  parts_.clear();
  index_tensors_.clear();
  for (std::size_t i = 0; i < order_.stations.size(); ++i) {
    for (const std::size_t pass : order_.stations[i].passes)
      add_pass(pass);
    if (order_.stations[i].group)
      add_items(*order_.stations[i].group);
    else if (order_.stations[i].by_areas)
      add_areas(order_.stations[i].ops.front());
    else if (!order_.stations[i].ops.empty())
      add_operators(i);
  }
  add_moves();
}

void StepPlan::compile(const compiler::CompileOptions &options) {
  poolings_ = pooling_sections(step_.graph, npu_);
  std::set<OpId> apart;
  for (const auto &[op, areas] : poolings_)
    apart.insert(op);
  CompiledPasses passes = compile_passes(step_.graph, products_, views_, items_.groups(), npu_, options, keeps_, apart);
  compiled_ = std::move(passes.compiled);
  epilogues_ = std::move(passes.epilogues);
  rooms_ = std::move(passes.rooms);
  displaced_ = std::move(passes.displaced);
  order_ = order_step(step_.graph, products_, views_, items_.groups(), epilogues_, apart);
  multiply_adds_ = items_.multiply_adds();
  for (const compiler::Compiled &compiled : compiled_)
    multiply_adds_ += compiled.useful_macs;
  for (const Station &station : order_.stations)
    if (station.by_areas && poolings_.count(station.ops.front()) == 0) {
      const Op &op = step_.graph.ops[station.ops.front()];
      multiply_adds_ += static_cast<std::uint64_t>(op.type->operations({step_.graph, op}));
    }
}

void StepPlan::add_pass(std::size_t index) {
  const ProductPass &pass = products_.passes[index];
  ProductSection section = place_product(pass, compiled_[index], step_.graph, memory_);
  memory_bytes_ = std::max(memory_bytes_, section.scratch_end);
  std::vector<OpId> ops = pass.ops;
  for (const PassEpilogue &epilogue : epilogues_[index])
    ops.insert(ops.end(), epilogue.ops.begin(), epilogue.ops.end());
  if (!epilogues_[index].empty()) {
    section.commands =
        with_epilogues(section.commands, compiled_[index], epilogue_jobs_[index], memory_, rooms_[index], npu_);
    if (section.commands.empty())
      throw graph::GraphDefect(fmt::format("{}: operators that were to run on its tiles cannot; please report this, "
                                           "with the graph",
                                           step_.graph.ops[pass.when()].name));
  }
  add_staged(section.before, pass);
  parts_.push_back({pass.when(), names_of(step_.graph, ops), std::move(section.commands), false, ops});
  add_staged(section.behind, pass);
}

void StepPlan::add_items(std::size_t group) {
  const std::vector<OpId> &ops = items_.groups()[group].ops;
  parts_.push_back({ops.back(), names_of(step_.graph, ops), items_.commands(group, step_.graph, memory_), false, ops});
}

void StepPlan::add_staged(const std::vector<StagedMatrix> &staged, const ProductPass &pass) {
  const OpId op = pass.when();
  for (const StagedMatrix &matrix : staged)
    parts_.push_back({op, fmt::format("{} staging", step_.graph.ops[op].type->name),
                      commands_of(matrix.jobs, matrix.addresses), false, pass.ops});
}

void StepPlan::add_operators(std::size_t index) {
  const Station &station = order_.stations[index];
  const std::string what = names_of(step_.graph, station.ops);
  if (!station.by_indices) return add_jobs(jobs_[index], station.ops, what);
  const OpId op = station.ops.front();
  const std::vector<TensorId> numbers = row_numbers_of(op);
  note_indices(op);
  reserve_scratch(op);
  const bool fed =
      std::any_of(numbers.begin(), numbers.end(), [this](TensorId id) { return constants_.count(id) == 0; });
  Part part{op, what, {}, fed, {op}};
  if (!fed) part.commands = commands_by_indices(op, {}, memory_bytes_);
  parts_.push_back(std::move(part));
}

void StepPlan::add_jobs(OpJobs jobs, const std::vector<OpId> &ops, const std::string &what) {
  const OpId op = ops.back();
  const std::vector<std::uint64_t> addresses = addresses_of(jobs, memory_bytes_);
  fit_in_place(jobs, addresses, step_.graph.ops[op].name);
  for (std::vector<isa::Command> &commands : job_sections_.of(jobs, addresses))
    parts_.push_back({op, what, std::move(commands), false, ops});
}

/// Values are the inputs and the output, of a product the first two.
void StepPlan::add_areas(OpId id) {
  const Op &op = step_.graph.ops[id];
  const auto pooling = poolings_.find(id);
  const bool depthwise = pooling == poolings_.end();
  std::vector<std::uint64_t> addresses;
  for (const TensorId tensor : op.inputs)
    if (!depthwise || addresses.size() < 2) addresses.push_back(memory_.places[tensor].address);
  addresses.push_back(memory_.places[op.outputs[0]].address);
  const compiler::SectionSemaphores semaphores = section_semaphores(npu_);
  parts_.push_back(
      {id,
       std::string(op.type->name) + (depthwise ? " depthwise" : ""),
       depthwise ? depthwise_commands_of(step_.graph, op, addresses, npu_, {{semaphores.areas, 0}, semaphores.strips})
                 : compiler::section_commands(pooling->second, addresses, npu_, semaphores.areas),
       false,
       {id},
       true});
}

/// Constants that number rows.
void StepPlan::take_constants() {
  for (TensorId id = 0; id < step_.graph.tensors.size(); ++id) {
    const graph::Tensor &tensor = step_.graph.tensors[id];
    if (tensor.role != graph::Role::kConstant || graph::is_real(tensor.type)) continue;
    std::vector<std::int32_t> &numbers = constants_[id];
    for (std::size_t i = 0; i < tensor.shape.elements(); ++i)
      numbers.push_back(static_cast<std::int32_t>(tensor.values[tensor.values.size() == 1 ? 0 : i]));
  }
}

/// The int32 tensors that an op's jobs depend on: its own, and those that say which rows of a gradient there are.
std::vector<TensorId> StepPlan::row_numbers_of(OpId id) const {
  std::vector<TensorId> numbers;
  for (const TensorId input : step_.graph.ops[id].inputs)
    if (input != kNone && !graph::is_real(step_.graph.tensors[input].type)) numbers.push_back(input);
  const OpId gradient = gradient_by_rows(step_.graph, step_.graph.ops[id]);
  for (const OpId op : {id, gradient})
    if (op != kNone && rows_of(op) != kNone) numbers.push_back(rows_of(op));
  return numbers;
}

/// The int32 tensors that an op's jobs depend on, and that a step is fed.
void StepPlan::note_indices(OpId op) {
  for (const TensorId id : step_.graph.ops[op].inputs) {
    if (id == kNone || graph::is_real(step_.graph.tensors[id].type) || constants_.count(id) != 0) continue;
    if (step_.graph.tensors[id].computed())
      throw std::invalid_argument(
          fmt::format("'{}': which rows it takes is computed in the step, by '{}'; leave operators to the host "
                      "(--operators host)",
                      step_.graph.ops[op].name, step_.graph.ops[step_.graph.tensors[id].producer].name));
    if (std::find(index_tensors_.begin(), index_tensors_.end(), id) == index_tensors_.end())
      index_tensors_.push_back(id);
  }
}

/// Of an op whose jobs are not known yet: at most an fp32 value between jobs for each element that it gives.
void StepPlan::reserve_scratch(OpId op) {
  std::uint64_t elements = 0;
  for (const TensorId id : step_.graph.ops[op].outputs)
    if (id != kNone) elements += step_.graph.tensors[id].shape.elements() + compiler::kTensorAlignment;
  memory_bytes_ = std::max(memory_bytes_, memory_.scratch + elements * sizeof(float));
}

std::vector<isa::Command> StepPlan::commands_by_indices(OpId id, const StepIndices &indices, std::uint64_t &end) const {
  const Op &op = step_.graph.ops[id];
  const auto numbers = [&](TensorId tensor) -> const std::vector<std::int32_t> * {
    const auto constant = constants_.find(tensor);
    if (constant != constants_.end()) return &constant->second;
    return tensor < indices.size() ? indices[tensor] : nullptr;
  };
  std::vector<const std::vector<std::int32_t> *> of_inputs;
  for (const TensorId input : op.inputs)
    of_inputs.push_back(input == kNone ? nullptr : numbers(input));
  OpJobs jobs = compiler::lower_op(step_.graph, op, of_inputs);
  if (const TensorId rows = rows_of(id); rows != kNone)
    zero_named_rows(jobs, *numbers(rows), step_.graph.tensors[op.outputs[0]].shape);
  if (const OpId by_rows = gradient_by_rows(step_.graph, op); by_rows != kNone)
    update_by_rows(jobs, op.inputs[1], *numbers(rows_of(by_rows)), step_.graph.tensors[op.inputs[0]].shape);
  const std::vector<std::uint64_t> addresses = addresses_of(jobs, end);
  fit_in_place(jobs, addresses, op.name);
  return commands_of(jobs, addresses);
}

TensorId StepPlan::rows_of(OpId id) const { return named_rows_of(step_.graph, step_.graph.ops[id]); }

std::vector<isa::Command> StepPlan::commands_of(const OpJobs &jobs, const std::vector<std::uint64_t> &addresses) const {
  return compiler::job_commands(jobs, addresses, npu_, section_semaphores(npu_).areas);
}

/// Values between jobs lie in scratch space.
std::vector<std::uint64_t> StepPlan::addresses_of(const OpJobs &jobs, std::uint64_t &end) const {
  std::vector<std::uint64_t> addresses;
  std::uint64_t scratch = memory_.scratch;
  for (const compiler::JobValue &value : jobs.values) {
    if (value.tensor != kNone) {
      addresses.push_back(memory_.places[value.tensor].address);
      continue;
    }
    scratch = compiler::round_up(scratch, compiler::kTensorAlignment);
    addresses.push_back(scratch);
    scratch += value.elements * graph::bytes_of(value.type);
  }
  end = std::max(end, scratch);
  return addresses;
}

/// Next values that could not take their places.
void StepPlan::add_moves() {
  for (const graph::Update &update : memory_.moved) {
    const graph::Tensor &tensor = step_.graph.tensors[update.tensor];
    OpJobs jobs;
    const std::size_t elements = tensor.shape.elements();
    jobs.values = {{step_.graph.tensors[update.next].name, update.next, tensor.type, elements},
                   {tensor.name, update.tensor, tensor.type, elements}};
    jobs.steps.emplace_back(compiler::MoveJob{0, 1, 0, elements, 0, elements, 1, elements});
    parts_.push_back({kNone, "next value",
                      commands_of(jobs, {memory_.places[update.next].address, memory_.places[update.tensor].address}),
                      false});
  }
}

StepStream StepPlan::stream(const StepIndices &indices) const {
  StepStream stream;
  std::uint64_t end = memory_bytes_;
  for (const Part &part : parts_) {
    std::vector<isa::Command> made;
    if (part.by_indices) made = commands_by_indices(part.op, indices, end);
    const std::vector<isa::Command> &commands = part.by_indices ? made : part.commands;
    if (commands.empty()) continue;
    const std::size_t first = stream.commands.size();
    if (first > 0)
      for (const isa::Command &command : barrier(npu_))
        stream.commands.push_back(command);
    stream.commands.insert(stream.commands.end(), commands.begin(), commands.end());
    stream.sections.push_back({part.op, part.what, first, stream.commands.size() - first, part.ops, part.has_gaps});
  }
  if (stream.commands.empty()) { // of a step that has no op
    for (const isa::Command &command : barrier(npu_))
      stream.commands.push_back(command);
    stream.sections.push_back({kNone, "no operators", 0, stream.commands.size()});
  }
  if (end > memory_bytes_) throw std::logic_error("a step's jobs have more values between them than results");
  check_memory(compiler::round_up(memory_bytes_, kStreamAlignment) + stream.commands.size() * isa::kCommandBytes, npu_);
  check(stream);
  return stream;
}

void StepPlan::check(const StepStream &stream) const {
  std::string problem = check_stream(stream, step_.graph, npu_, memory_bytes_);
  if (problem.empty()) problem = check_flow(stream, flow());
  if (!problem.empty())
    throw graph::GraphDefect(
        fmt::format("the step's stream is wrong: {}; please report this, with the graph", problem));
}

FlowPlan StepPlan::flow() const {
  return {step_.graph, views_, memory_, memory_bytes_, [this](OpId id) {
            const std::vector<TensorId> &outputs = step_.graph.ops[id].outputs;
            const auto is_over = [this](TensorId t) { return t != kNone && memory_.places[t].owner != t; };
            return rows_of(id) != kNone || (order_.stations[order_.station_of[id]].by_indices &&
                                            std::any_of(outputs.begin(), outputs.end(), is_over));
          }};
}

} // namespace gradweave::runtime::train
