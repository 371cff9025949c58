#include "train/npu/plan/order/step_order.hpp"

#include "compiler/vector/lower_op.hpp"
#include "graph/ir/product.hpp"
#include "train/data/tensor_bytes.hpp"
#include "train/npu/plan/order/named_rows.hpp"
#include "train/npu/plan/order/same_elements.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::runtime::train {
namespace {

using graph::Graph;
using graph::kNone;
using graph::OpId;
using graph::TensorId;

class Ordering {
public:
  Ordering(const Graph &graph, const ProductPlan &products, const Views &views,
           const std::vector<compiler::ItemGroup> &groups, const Epilogues &epilogues, const std::set<OpId> &apart)
      : graph_(graph), products_(products), groups_(groups), epilogues_(epilogues), apart_(apart),
        owner_(graph.tensors.size()), is_owner_(graph.tensors.size()), readers_(graph.consumers()),
        done_(graph.ops.size()), pass_of_(products.pass_of_ops(graph.ops.size())), group_of_(graph.ops.size()),
        written_(graph.tensors.size(), kNone) {
    for (TensorId id = 0; id < owner_.size(); ++id)
      owner_[id] = id;
    for (const View &view : views.views) {
      owner_[view.tensor] = view.of;
      is_owner_[view.of] = true;
    }
    for (const OpId op : views.ops)
      done_[op] = true;
    for (std::size_t group = 0; group < groups.size(); ++group)
      for (const OpId op : groups[group].ops)
        group_of_[op] = group;
    for (const std::vector<PassEpilogue> &of_pass : epilogues)
      for (const PassEpilogue &epilogue : of_pass)
        for (const OpId op : epilogue.ops)
          done_[op] = true;
    order_.station_of.assign(graph.ops.size(), 0);
  }

  StepOrder run() {
    for (OpId op = 0; op < graph_.ops.size(); ++op) {
      order_.station_of[op] = static_cast<std::uint32_t>(order_.stations.size()); // unless it is a pass's
      if (group_of_[op]) {
        if (op == groups_[*group_of_[op]].ops.back()) add_group(*group_of_[op]);
        continue;
      }
      if (std::vector<std::size_t> due = products_.due(op); !due.empty()) add_passes(std::move(due));
      if ((pass_of_[op] == 0 && graph::is_product({graph_, graph_.ops[op]})) || apart_.count(op) != 0)
        add_areas(op);
      else if (is_operator(op)) {
        if (may_wait(op))
          waiting_.push_back(op);
        else
          add_operator(op);
      }
    }
    end_run();
    for (std::size_t pass = 0; pass < epilogues_.size(); ++pass)
      for (const PassEpilogue &epilogue : epilogues_[pass])
        for (const OpId op : epilogue.ops)
          order_.station_of[op] = order_.station_of[products_.passes[pass].when()];
    return std::move(order_);
  }

private:
  void add_passes(std::vector<std::size_t> due) {
    end_run();
    for (const std::size_t pass : due)
      for (const OpId op : products_.passes[pass].ops)
        order_.station_of[op] = static_cast<std::uint32_t>(order_.stations.size());
    order_.stations.push_back({std::move(due), {}});
  }

  void add_areas(OpId op) {
    end_run();
    order_.station_of[op] = static_cast<std::uint32_t>(order_.stations.size());
    order_.stations.push_back({{}, {op}, false, true});
  }

  void add_group(std::size_t group) {
    end_run();
    for (const OpId op : groups_[group].ops)
      order_.station_of[op] = static_cast<std::uint32_t>(order_.stations.size());
    order_.stations.push_back({{}, {}, false, false, group});
  }

  bool is_operator(OpId op) const {
    return compiler::has_jobs(*graph_.ops[op].type) && !done_[op] && pass_of_[op] == 0 && !group_of_[op] &&
           apart_.count(op) == 0 && !graph::is_product({graph_, graph_.ops[op]});
  }

  /// Whether it is first read by an operator behind a product, and has to read less than it gives: then it runs with
  /// that, so that what it gives need not come from memory.
  bool may_wait(OpId id) const {
    const graph::Op &op = graph_.ops[id];
    OpId reader = kNone;
    std::uint64_t given = 0, read = 0;
    for (const TensorId output : op.outputs) {
      if (output == kNone) continue;
      if (owner_[output] != output || is_owner_[output] || is_result(graph_, output)) return false;
      for (const OpId consumer : readers_[output]) {
        if (done_[consumer]) return false; // with a product, which may come before
        reader = std::min(reader, consumer);
      }
      given += bytes_of_tensor(graph_.tensors[output]);
    }
    for (const TensorId input : op.inputs)
      if (input != kNone) read += bytes_of_tensor(graph_.tensors[input]);
    if (reader == kNone || !is_operator(reader) || compiler::needs_indices(graph_, op) || read >= given) return false;
    for (OpId between = id + 1; between < reader; ++between)
      if (!products_.due(between).empty()) return true;
    return false;
  }

  /// Operators that have waited for the op.
  void add_awaited(const graph::Op &op) {
    for (std::size_t w = 0; w < waiting_.size();) {
      const std::vector<TensorId> &given = graph_.ops[waiting_[w]].outputs;
      const bool is_read = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId input) {
        return input != kNone && std::find(given.begin(), given.end(), input) != given.end();
      });
      if (!is_read) {
        ++w;
        continue;
      }
      const OpId awaited = waiting_[w];
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(w));
      add_operator(awaited);
    }
  }

  void add_operator(OpId id) {
    const graph::Op &op = graph_.ops[id];
    add_awaited(op);
    const bool by_indices = compiler::needs_indices(graph_, op) || gradient_by_rows(graph_, op) != kNone;
    const bool of_view = std::any_of(op.inputs.begin(), op.inputs.end(), [this](TensorId input) {
      return input != kNone && written_[place_of(input)] != kNone && written_[place_of(input)] != input;
    });
    if (by_indices || of_view) end_run();
    run_.ops.push_back(id);
    run_.by_indices = by_indices;
    order_.station_of[id] = static_cast<std::uint32_t>(order_.stations.size());
    for (const TensorId output : op.outputs)
      if (output != kNone) written_[place_of(output)] = output;
    if (by_indices) end_run();
  }

  TensorId place_of(TensorId id) const {
    while (owner_[id] != id)
      id = owner_[id];
    return id;
  }

  void end_run() {
    for (const OpId op : run_.ops)
      for (const TensorId output : graph_.ops[op].outputs)
        if (output != kNone) written_[place_of(output)] = kNone;
    if (!run_.ops.empty()) order_.stations.push_back(std::move(run_));
    run_ = {};
  }

  const Graph &graph_;
  const ProductPlan &products_;
  const std::vector<compiler::ItemGroup> &groups_;
  const Epilogues &epilogues_;
  const std::set<OpId> &apart_;
  std::vector<TensorId> owner_; ///< of each tensor, what it is a view of, or itself
  std::vector<bool> is_owner_;  ///< of each tensor, whether another one is a view of it
  graph::Consumers readers_;
  std::vector<OpId> waiting_; ///< operators that run with their first reader
  std::vector<bool> done_;    ///< ops that have nothing to do
  std::vector<std::size_t> pass_of_;
  std::vector<std::optional<std::size_t>> group_of_; ///< of each op, if it is of one
  std::vector<TensorId> written_; ///< of each place, the tensor that the run at hand has written there
  Station run_;
  StepOrder order_;
};

} // namespace

StepOrder order_step(const Graph &graph, const ProductPlan &products, const Views &views,
                     const std::vector<compiler::ItemGroup> &groups, const Epilogues &epilogues,
                     const std::set<OpId> &apart) {
  return Ordering(graph, products, views, groups, epilogues, apart).run();
}

} // namespace gradweave::runtime::train
