#include "train/npu/epilogues.hpp"

#include "compiler/epilogue/matrix_stages.hpp"
#include "compiler/epilogue/operand_sums.hpp"
#include "compiler/vector/lower_op.hpp"
#include "train/npu/plan/order/in_place.hpp"
#include "train/npu/plan/order/reads_first.hpp"
#include "train/npu/plan/product_section.hpp"
#include "train/npu/plan/staging.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace gradweave::runtime::train {
namespace {

using graph::Graph;
using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::TensorId;

constexpr std::size_t kMostOps = 64; ///< of an epilogue: a tile waits for all of them

/// What each tensor is that has the same elements in the same order: itself, or what it is a view of.
std::vector<TensorId> same_as(const Graph &graph, const Views &views) {
  std::vector<TensorId> same(graph.tensors.size());
  for (TensorId id = 0; id < same.size(); ++id)
    same[id] = id;
  for (const View &view : views.views) // a view of a view comes behind that
    if (view.strides.empty()) same[view.tensor] = same[view.of];
  return same;
}

bool has(const std::vector<TensorId> &tensors, TensorId id) {
  return std::find(tensors.begin(), tensors.end(), id) != tensors.end();
}

/// Values of one place are one value: views, and what they are views of.
void join_views(compiler::OpJobs &jobs, const std::vector<TensorId> &same) {
  std::map<TensorId, std::size_t> first;
  std::vector<std::size_t> names;
  for (std::size_t v = 0; v < jobs.values.size(); ++v) {
    const TensorId id = jobs.values[v].tensor;
    names.push_back(id == kNone ? v : first.try_emplace(same[id], v).first->second);
    if (id != kNone) jobs.values[v].tensor = names[v] == v ? same[id] : kNone; // nobody names the others any more
  }
  for (compiler::JobStep &step : jobs.steps)
    if (auto *job = std::get_if<compiler::VectorJob>(&step))
      for (auto *tiles : {&job->operands, &job->results})
        for (compiler::JobTile &tile : *tiles)
          tile.value = names[tile.value];
}

EpilogueJobs sum_jobs(const Graph &graph, const PassEpilogue &epilogue, const std::vector<TensorId> &same) {
  EpilogueJobs all;
  all.is_sum = true;
  compiler::Epilogue &e = all.epilogue;
  const Op &op = graph.ops[epilogue.ops[0]];
  e.jobs = compiler::lower_op(graph, op);
  e.rows = graph.tensors[op.inputs[0]].shape.rows();
  e.cols = graph.tensors[op.inputs[0]].shape.cols();
  for (const compiler::JobValue &value : e.jobs.values) {
    if (value.tensor != kNone && same[value.tensor] == epilogue.of) e.result = e.in_memory.size();
    e.in_memory.push_back(true);
  }
  return all;
}

compiler::OperandSum operand_sum(const compiler::Epilogue &e) {
  return {e.jobs, e.result, e.rows, e.cols, e.addresses};
}

/// Whether the product, of these commands, has read what the epilogue writes over, when it does.
bool leaves_operands(const std::vector<isa::Command> &with, const compiler::Epilogue &epilogue,
                     const std::vector<isa::Command> &product, const NpuConfig &npu) {
  std::set<std::size_t> written;
  for (const compiler::JobStep &step : epilogue.jobs.steps)
    for (const compiler::JobTile &tile : std::get<compiler::VectorJob>(step).results)
      if (epilogue.in_memory[tile.value]) written.insert(tile.value);
  for (const std::size_t v : written) {
    const compiler::JobValue &value = epilogue.jobs.values[v];
    const std::uint64_t begin = epilogue.addresses[v], end = begin + value.elements * graph::bytes_of(value.type);
    const bool is_operand = std::any_of(product.begin(), product.end(), [&](const isa::Command &command) {
      const std::optional<isa::Decoded> decoded = isa::decode(command);
      const auto *dma = std::get_if<isa::DmaCommand>(&decoded->op);
      return dma != nullptr && !dma->store && dma->dram_addr >= begin && dma->dram_addr < end;
    });
    if (is_operand && !reads_come_first(with, begin, end, npu)) return false;
  }
  return true;
}

} // namespace

EpilogueFinder::EpilogueFinder(const Graph &graph, const ProductPlan &products, const Views &views,
                               const std::vector<compiler::ItemGroup> &groups, const std::set<OpId> &apart)
    : graph_(graph), products_(products), consumers_(graph.consumers()), same_(same_as(graph, views)),
      alike_(same_.size()), free_(graph.ops.size()), at_(graph.ops.size()) {
  for (TensorId id = 0; id < same_.size(); ++id)
    alike_[same_[id]].push_back(id);
  for (OpId op = 0; op < graph.ops.size(); ++op) {
    at_[op] = op;
    free_[op] = compiler::has_jobs(*graph.ops[op].type) && apart.count(op) == 0;
  }
  for (const ProductPass &pass : products.passes)
    for (const OpId op : pass.ops) {
      free_[op] = false;
      at_[op] = std::max(at_[op], pass.when());
    }
  for (const compiler::ItemGroup &group : groups)
    for (const OpId op : group.ops) {
      free_[op] = false;
      at_[op] = group.ops.back();
    }
  for (const View &view : views.views)
    if (!view.strides.empty()) strided_.push_back(view.tensor);
  for (const OpId op : views.ops)
    free_[op] = false;
}

std::vector<PassEpilogue> EpilogueFinder::behind(std::size_t index) const {
  const ProductPass &pass = products_.passes[index];
  std::vector<PassEpilogue> all;
  for (const PlacedTensor &result : pass.results)
    if (std::vector<OpId> ops = ops_behind(pass, result, all); !ops.empty()) all.push_back({result.id, std::move(ops)});
  return all;
}

std::vector<PassEpilogue> EpilogueFinder::sums_of(std::size_t index) const {
  const ProductPass &pass = products_.passes[index];
  std::vector<PassEpilogue> all;
  if (pass.layer.groups != 1 || pass.pass != compiler::Pass::kBackward) return all;
  for (OpId op = 0; op < graph_.ops.size(); ++op) {
    if (!free_[op] || graph_.ops[op].inputs.size() != 1 || graph_.ops[op].outputs.size() != 1) continue;
    const TensorId output = graph_.ops[op].outputs[0], input = same_[graph_.ops[op].inputs[0]];
    const auto is_operand = [&](const PlacedTensor &placed) {
      return same_[placed.id] == input && !needs_staging(placed) && !has(strided_, placed.id);
    };
    const auto is_later = [&](OpId reader) { return at_[reader] > pass.when(); };
    if (std::none_of(pass.inputs.begin(), pass.inputs.end(), is_operand) ||
        !std::all_of(consumers_[output].begin(), consumers_[output].end(), is_later))
      continue;
    const PassEpilogue sum{input, {op}, true};
    if (compiler::is_operand_sum(operand_sum(sum_jobs(graph_, sum, same_).epilogue))) all.push_back(sum);
  }
  return all;
}

void EpilogueFinder::take(std::size_t pass, const std::vector<PassEpilogue> &epilogues) {
  for (const PassEpilogue &epilogue : epilogues)
    for (const OpId op : epilogue.ops) {
      free_[op] = false;
      at_[op] = products_.passes[pass].when();
    }
}

std::vector<OpId> EpilogueFinder::ops_behind(const ProductPass &pass, const PlacedTensor &result,
                                             const std::vector<PassEpilogue> &others) const {
  if (needs_staging(result) || pass.layer.groups != 1 || has(strided_, result.id)) return {};
  std::vector<TensorId> given{same_[result.id]};
  std::vector<OpId> ops;
  std::set<OpId> waiting = readers_of(given[0]); // what reads a result of an op comes behind it
  const auto is_taken = [&others](OpId op) {
    return std::any_of(others.begin(), others.end(), [op](const PassEpilogue &other) { return has(other.ops, op); });
  };
  while (!waiting.empty() && ops.size() < kMostOps) {
    const OpId op = *waiting.begin();
    waiting.erase(waiting.begin());
    if (!free_[op] || is_taken(op) || !can_follow(graph_.ops[op], pass, given) || !is_local(graph_.ops[op], given) ||
        !leaves_alone(graph_.ops[op], others))
      continue;
    ops.push_back(op);
    for (const TensorId output : graph_.ops[op].outputs)
      if (output != kNone) {
        given.push_back(output);
        waiting.merge(readers_of(output));
      }
  }
  return ops;
}

/// What reads the elements of the tensor, in their order.
std::set<OpId> EpilogueFinder::readers_of(TensorId tensor) const {
  std::set<OpId> readers;
  for (const TensorId alike : alike_[tensor])
    readers.insert(consumers_[alike].begin(), consumers_[alike].end());
  return readers;
}

/// Whether it reads something that is given, and all else is there before the pass.
bool EpilogueFinder::can_follow(const Op &op, const ProductPass &pass, const std::vector<TensorId> &given) const {
  bool follows = false;
  for (const TensorId id : op.inputs) {
    if (id == kNone) continue;
    if (!graph::is_real(graph_.tensors[id].type)) return false;
    const TensorId input = same_[id];
    const bool is_given = has(given, input);
    follows = follows || is_given;
    if (!is_given && graph_.tensors[input].computed() && at_[graph_.tensors[input].producer] >= pass.when())
      return false;
  }
  return follows;
}

/// `given[0]`: the product's result.
bool EpilogueFinder::is_local(const Op &op, const std::vector<TensorId> &given) const {
  const compiler::OpJobs jobs = compiler::lower_op(graph_, op);
  const graph::Shape &shape = graph_.tensors[given[0]].shape;
  for (std::size_t value = 0; value < jobs.values.size(); ++value) {
    const TensorId id = jobs.values[value].tensor;
    if (id == kNone || !has(given, same_[id])) continue;
    if (compiler::stages_on_matrix(jobs, {value, shape.rows(), shape.cols()}).empty()) return false;
  }
  return true;
}

/// Whether no next value is written over an old one that another epilogue of the pass reads. What the pass itself reads
/// with_epilogues() sees to.
bool EpilogueFinder::leaves_alone(const Op &op, const std::vector<PassEpilogue> &others) const {
  const auto replaced_by = [this](const Op &writer, TensorId id) {
    return std::any_of(graph_.updates.begin(), graph_.updates.end(),
                       [&](const graph::Update &u) { return u.tensor == id && has(writer.outputs, u.next); });
  };
  for (const PassEpilogue &other : others)
    for (const OpId id : other.ops) {
      for (const TensorId input : graph_.ops[id].inputs)
        if (input != kNone && replaced_by(op, same_[input])) return false;
      for (const TensorId input : op.inputs)
        if (input != kNone && replaced_by(graph_.ops[id], same_[input])) return false;
    }
  return true;
}

EpilogueJobs epilogue_jobs(const Graph &graph, const graph::Consumers &consumers, const ProductPass &pass,
                           const PassEpilogue &epilogue, const Views &views, const Keeps &keeps) {
  if (epilogue.is_sum) return sum_jobs(graph, epilogue, same_as(graph, views));
  EpilogueJobs all;
  for (const PlacedTensor &placed : pass.results)
    if (placed.id == epilogue.of) all.as = placed.as;
  compiler::Epilogue &e = all.epilogue;
  e.rows = graph.tensors[epilogue.of].shape.rows();
  e.cols = graph.tensors[epilogue.of].shape.cols();
  e.jobs = compiler::lower_ops(graph, consumers, epilogue.ops, {}, keeps);
  join_views(e.jobs, same_as(graph, views));
  const std::vector<OpId> &readers = consumers[epilogue.of];
  const bool stored = keeps(epilogue.of) || has(graph.results, epilogue.of) ||
                      std::any_of(graph.updates.begin(), graph.updates.end(),
                                  [&](const graph::Update &u) { return u.next == epilogue.of; }) ||
                      std::any_of(readers.begin(), readers.end(), [&](OpId op) { return !has(epilogue.ops, op); });
  for (std::size_t v = 0; v < e.jobs.values.size(); ++v) {
    compiler::JobValue &value = e.jobs.values[v];
    if (value.tensor == epilogue.of) {
      e.result = v;
      if (!stored) value.tensor = kNone;
    }
    e.in_memory.push_back(value.tensor != kNone);
  }
  if (!stored) all.inside.push_back(epilogue.of);
  for (const OpId op : epilogue.ops)
    for (const TensorId id : graph.ops[op].outputs) {
      const auto is_value = [id](const compiler::JobValue &value) { return value.tensor == id; };
      if (id != kNone && std::none_of(e.jobs.values.begin(), e.jobs.values.end(), is_value)) all.inside.push_back(id);
    }
  return all;
}

std::vector<isa::Command> with_epilogues(const std::vector<isa::Command> &commands, const compiler::Compiled &compiled,
                                         const std::vector<EpilogueJobs> &epilogues, const StepMemory &memory,
                                         const compiler::EpilogueRoom &room, const NpuConfig &npu) {
  std::vector<compiler::ResultStore> stores;
  std::vector<compiler::Epilogue> placed, sums;
  for (const EpilogueJobs &jobs : epilogues) {
    compiler::Epilogue e = jobs.epilogue;
    for (const compiler::JobValue &value : e.jobs.values)
      e.addresses.push_back(value.tensor == kNone ? 0 : memory.places[value.tensor].address);
    if (jobs.is_sum) {
      sums.push_back(std::move(e));
      continue;
    }
    fit_in_place(e.jobs, e.addresses, e.jobs.values[e.result].name);
    const std::vector<compiler::ResultStore> of_result =
        result_stores(compiled, jobs.as, e.rows, e.cols, placed.size());
    if (of_result.empty() || !compiler::is_epilogue(e)) return {};
    stores.insert(stores.end(), of_result.begin(), of_result.end());
    placed.push_back(std::move(e));
  }
  std::sort(stores.begin(), stores.end(), [](const auto &a, const auto &b) { return a.command < b.command; });
  compiler::EpilogueRoom rest = room;
  for (const compiler::Epilogue &e : sums) {
    const std::uint32_t rows = compiler::rows_of_sum(commands, operand_sum(e), room.first_row, npu);
    if (rows == 0 || rows > rest.rows) return {};
    rest.rows -= rows;
  }
  std::vector<isa::Command> all = compiler::add_epilogues(commands, stores, placed, rest, npu);
  for (const compiler::Epilogue &e : placed)
    if (!leaves_operands(all, e, commands, npu)) return {};
  compiler::EpilogueRoom lines = rest;
  lines.first_row += rest.rows;
  for (const compiler::Epilogue &e : sums) {
    if (all.empty()) return {};
    lines.rows = compiler::rows_of_sum(commands, operand_sum(e), room.first_row, npu);
    all = compiler::add_operand_sum(all, operand_sum(e), room.first_row, lines, npu);
    lines.first_row += lines.rows;
  }
  return all;
}

} // namespace gradweave::runtime::train
