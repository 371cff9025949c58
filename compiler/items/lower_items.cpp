#include "compiler/items/lower_items.hpp"

#include "compiler/items/split_program.hpp"
#include "compiler/vector/lower_op.hpp"
#include "compiler/vector_stream/stage/stage.hpp"
#include "graph/ir/error.hpp"
#include "sw_models/vector/recorder.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gradweave::compiler {
namespace {

using graph::Graph;
using graph::kNone;
using graph::OpId;
using graph::TensorId;

/// An op is not local to the items.
struct NotLocal {};

/// Whose elements a tile has: a tensor, or a value between jobs of an op.
struct Owner {
  TensorId tensor = kNone;
  OpId op = kNone;
  std::size_t value = 0;

  bool operator==(const Owner &o) const { return tensor == o.tensor && op == o.op && value == o.value; }
};

bool same_elements(const ItemTile &a, const ItemTile &b) {
  return a.rows == b.rows && a.cols == b.cols && a.each == b.each && a.firsts == b.firsts &&
         (a.pitch == b.pitch || a.rows == 1);
}

/// Finds results that lie in the place of an operand.
class PlaceSharing {
public:
  explicit PlaceSharing(ItemJobs &jobs) : jobs_(jobs), last_read_(jobs.tiles.size()), taken_(jobs.tiles.size()) {}

  void run() {
    for (std::size_t s = 0; s < jobs_.stages.size(); ++s)
      if (const auto *product = std::get_if<ItemProduct>(&jobs_.stages[s]))
        last_read_[product->a] = last_read_[product->b] = s;
      else
        for (const ItemView &view : std::get<ItemRun>(jobs_.stages[s]).operands)
          last_read_[view.tile] = s;
    for (std::size_t s = 0; s < jobs_.stages.size(); ++s)
      if (const auto *run = std::get_if<ItemRun>(&jobs_.stages[s]))
        for (std::size_t o = 0; o < run->results.size(); ++o)
          for (std::size_t t = 0; t < run->operands.size(); ++t)
            share(*run, s, t, o);
  }

private:
  static bool walks_all(const ItemView &view) { return view.by_col && !view.same_element && !view.same_step; }

  void share(const ItemRun &run, std::size_t stage, std::size_t operand, std::size_t result) {
    const ItemView &from = run.operands[operand], &to = run.results[result];
    ItemTile &tile = jobs_.tiles[to.tile];
    const ItemTile &place = jobs_.tiles[from.tile];
    if (tile.over != kOwnPlace || taken_[from.tile] || last_read_[from.tile] != stage) return;
    if (!walks_all(from) || !walks_all(to) || !place.each || place.line || tile.line) return;
    if (tile.rows != place.rows || tile.cols != place.cols || tile.fp32 != place.fp32) return;
    if (!reads_before(run.program, operand, result)) return;
    tile.over = from.tile;
    taken_[from.tile] = true;
  }

  ItemJobs &jobs_;
  std::vector<std::size_t> last_read_; ///< of each tile, the stage
  std::vector<bool> taken_;            ///< tiles whose place another has
};

void share_places(ItemJobs &jobs) { PlaceSharing(jobs).run(); }

class ItemLowering {
public:
  ItemLowering(const Graph &graph, const graph::Consumers &consumers, const ItemGroup &group, const NpuConfig &npu,
               const std::function<bool(TensorId)> &keep)
      : graph_(graph), consumers_(consumers), group_(group), npu_(npu), keep_(keep) {
    jobs_.items = group.items;
  }

  ItemJobs run() {
    for (const OpId op : group_.ops)
      if (const auto product = batched_product(graph_, op))
        add_product(op, *product);
      else
        add_operator(op);
    for (ItemTile &tile : jobs_.tiles)
      tile.stored = !tile.loaded && tile.tensor != kNone && is_wanted(tile.tensor, consumers_[tile.tensor]);
    share_places(jobs_);
    return std::move(jobs_);
  }

private:
  bool has(OpId op) const { return std::find(group_.ops.begin(), group_.ops.end(), op) != group_.ops.end(); }

  bool is_wanted(TensorId id, const std::vector<OpId> &consumers) const {
    return consumers.empty() || id == graph_.loss || (keep_ && keep_(id)) ||
           std::find(graph_.results.begin(), graph_.results.end(), id) != graph_.results.end() ||
           std::any_of(graph_.updates.begin(), graph_.updates.end(), [id](const auto &u) { return u.next == id; }) ||
           std::any_of(consumers.begin(), consumers.end(), [this](OpId op) { return !has(op); });
  }

  void add_product(OpId id, const BatchedProduct &p) {
    const graph::Op &op = graph_.ops[id];
    ItemProduct product;
    product.m = p.m, product.n = p.n, product.k = p.k;
    product.a_col = !p.transposed_a;
    product.b_col = p.transposed_b;
    product.a =
        read(owner_of(op.inputs[0]), matrix(op.inputs[0], p.transposed_a ? p.k : p.m, p.transposed_a ? p.m : p.k));
    product.b =
        read(owner_of(op.inputs[1]), matrix(op.inputs[1], p.transposed_b ? p.n : p.k, p.transposed_b ? p.k : p.n));
    if (jobs_.tiles[product.a].fp32 || jobs_.tiles[product.b].fp32) throw NotLocal();
    product.c = write(owner_of(op.outputs[0]), matrix(op.outputs[0], p.m, p.n));
    product.sums = jobs_.tiles[product.c].fp32 ? product.c : add({}, sums_of(p));
    jobs_.stages.emplace_back(product);
  }

  ItemTile sums_of(const BatchedProduct &product) const {
    ItemTile tile;
    tile.rows = product.m;
    tile.cols = product.n;
    tile.fp32 = true;
    tile.each = false;
    tile.firsts.resize(jobs_.items);
    return tile;
  }

  static Owner owner_of(TensorId id) { return {id, kNone, 0}; }

  ItemTile matrix(TensorId id, std::uint32_t rows, std::uint32_t cols) const {
    ItemTile tile;
    tile.tensor = id;
    tile.rows = rows;
    tile.cols = cols;
    tile.fp32 = graph_.tensors[id].type != graph::ElementType::kBf16;
    tile.pitch = cols;
    for (std::size_t item = 0; item < jobs_.items; ++item)
      tile.firsts.push_back(item * rows * cols);
    return tile;
  }

  std::size_t read(const Owner &owner, ItemTile tile) {
    bool given = false;
    for (std::size_t i = 0; i < owners_.size(); ++i) {
      if (!(owners_[i] == owner)) continue;
      if (same_elements(jobs_.tiles[i], tile)) return i;
      given = given || !jobs_.tiles[i].loaded;
    }
    if (given || owner.tensor == kNone) throw NotLocal();
    tile.loaded = true;
    return add(owner, std::move(tile));
  }

  std::size_t write(const Owner &owner, ItemTile tile) {
    if (!tile.each || std::find(owners_.begin(), owners_.end(), owner) != owners_.end()) throw NotLocal();
    return add(owner, std::move(tile));
  }

  std::size_t add(const Owner &owner, ItemTile tile) {
    owners_.push_back(owner);
    jobs_.tiles.push_back(std::move(tile));
    return jobs_.tiles.size() - 1;
  }

  /// Jobs of one program are over the items, or some of them, each.
  void add_operator(OpId id) {
    const OpJobs jobs = lower_op(graph_, graph_.ops[id]);
    for (std::size_t at = 0; at < jobs.steps.size();) {
      std::vector<Stage> stages;
      const auto *first = std::get_if<VectorJob>(&jobs.steps[at]);
      if (first == nullptr) throw NotLocal();
      for (; at < jobs.steps.size(); ++at) {
        const auto *job = std::get_if<VectorJob>(&jobs.steps[at]);
        if (job == nullptr || job->program != first->program) break;
        stages.push_back(by_rows(stage_of(jobs, *job)));
      }
      add_run(id, jobs, stages);
    }
  }

  /// Elements along rows are turned so that rows are lanes.
  static Stage by_rows(Stage stage) {
    const StridedTile &result = stage.results.at(0);
    return stage.elementwise && result.lane <= 1 && result.step > 1 ? exchanged(std::move(stage)) : stage;
  }

  void add_run(OpId op, const OpJobs &jobs, const std::vector<Stage> &stages) {
    const Stage &like = stages.front();
    ItemRun run;
    run.program = *like.program;
    run.steps = static_cast<std::uint32_t>(like.steps);
    run.lanes = static_cast<std::uint32_t>(lanes_of_item(jobs, like));
    std::vector<ItemTile> operands, results;
    for (const StridedTile &t : like.operands)
      operands.push_back(tile_of(jobs, t, run));
    for (const StridedTile &t : like.results)
      results.push_back(tile_of(jobs, t, run));
    std::vector<bool> done(jobs_.items);
    for (const Stage &stage : stages)
      take_items(jobs, stage, run, operands, results, done);
    if (!std::all_of(done.begin(), done.end(), [](bool d) { return d; })) throw NotLocal();
    const auto owner = [&](const StridedTile &t) {
      const TensorId tensor = jobs.values[t.value].tensor;
      return tensor != kNone ? owner_of(tensor) : Owner{kNone, op, t.value};
    };
    for (std::size_t i = 0; i < operands.size(); ++i)
      run.operands.push_back(view_of(like.operands[i], read(owner(like.operands[i]), std::move(operands[i]))));
    for (std::size_t i = 0; i < results.size(); ++i)
      run.results.push_back(view_of(like.results[i], write(owner(like.results[i]), std::move(results[i]))));
    const auto split = split_program(run.program, static_cast<unsigned>(run.operands.size()),
                                     static_cast<unsigned>(run.results.size()), run.steps, same_in_lanes(like), npu_);
    if (split)
      add_parts(run, *split);
    else
      jobs_.stages.emplace_back(std::move(run));
  }

  /// A run as runs of one loop each, that hand on values of each step, and variables.
  void add_parts(const ItemRun &whole, const SplitProgram &split) {
    ItemTile value;
    value.rows = whole.lanes;
    value.cols = whole.steps;
    value.fp32 = true;
    std::vector<ItemView> kept;
    for (unsigned v = 0; v < split.kept; ++v)
      kept.push_back({add({}, value), true, false, false});
    std::map<unsigned, ItemView> variables;
    for (const ChainPart &part : split.parts) {
      ItemRun run;
      run.program = part.program;
      run.lanes = whole.lanes;
      run.steps = whole.steps;
      for (const unsigned operand : part.operands)
        run.operands.push_back(operand < whole.operands.size() ? whole.operands[operand]
                                                               : kept[operand - whole.operands.size()]);
      for (const unsigned variable : part.restored)
        run.operands.push_back(variables.at(variable));
      for (const unsigned result : part.results)
        run.results.push_back(result < whole.results.size() ? whole.results[result]
                                                            : kept[result - whole.results.size()]);
      for (const unsigned variable : part.saved) {
        variables[variable] = {add({}, line_of(whole.lanes)), false, false, true};
        run.results.push_back(variables[variable]);
      }
      jobs_.stages.emplace_back(std::move(run));
    }
  }

  /// A value a lane, between runs.
  static ItemTile line_of(std::uint32_t lanes) {
    ItemTile tile;
    tile.rows = lanes;
    tile.fp32 = tile.line = true;
    return tile;
  }

  /// As the first result has them: its lanes are rows of so many elements.
  std::size_t lanes_of_item(const OpJobs &jobs, const Stage &stage) const {
    const StridedTile &result = stage.results.at(0);
    const std::size_t elements = elements_of_item(jobs, result);
    if (result.lane == 0 || elements % result.lane != 0) throw NotLocal();
    return elements / result.lane;
  }

  std::size_t elements_of_item(const OpJobs &jobs, const StridedTile &tile) const {
    const std::size_t all = jobs.values[tile.value].elements;
    if (all % jobs_.items != 0) throw NotLocal();
    return all / jobs_.items;
  }

  static ItemView view_of(const StridedTile &t, std::size_t tile) {
    return {tile, !(t.lane == 0 && t.step > 1), t.lane == 0, t.step == 0};
  }

  ItemTile tile_of(const OpJobs &jobs, const StridedTile &t, const ItemRun &run) const {
    if (t.lane != 0 && t.step > 1) throw NotLocal();
    ItemTile tile;
    tile.tensor = jobs.values[t.value].tensor;
    tile.fp32 = t.fp32;
    tile.each = t.lane != 0;
    const std::uint32_t along_steps = t.step == 0 ? 1 : run.steps;
    tile.rows = tile.each ? run.lanes : t.step > 1 ? along_steps : 1;
    tile.cols = tile.each || t.step <= 1 ? along_steps : 1;
    tile.pitch = tile.each ? t.lane : t.step;
    tile.firsts.resize(jobs_.items);
    return tile;
  }

  /// Where the items that a job has begin in each of its tiles.
  void take_items(const OpJobs &jobs, const Stage &stage, const ItemRun &run, std::vector<ItemTile> &operands,
                  std::vector<ItemTile> &results, std::vector<bool> &done) const {
    const StridedTile &first = stage.results.at(0);
    const std::size_t elements = elements_of_item(jobs, first), begin = first.first / elements;
    const std::size_t count = stage.lanes / run.lanes;
    if (stage.lanes % run.lanes != 0 || stage.steps != run.steps || begin + count > jobs_.items) throw NotLocal();
    const auto take = [&](const std::vector<StridedTile> &from, std::vector<ItemTile> &to) {
      for (std::size_t i = 0; i < from.size(); ++i) {
        const ItemTile again = tile_of(jobs, from[i], run);
        if (again.rows != to[i].rows || again.cols != to[i].cols || again.pitch != to[i].pitch ||
            again.each != to[i].each)
          throw NotLocal();
        for (std::size_t item = 0; item < count; ++item)
          to[i].firsts[begin + item] = from[i].first + item * run.lanes * from[i].lane;
      }
    };
    take(stage.operands, operands);
    take(stage.results, results);
    for (const StridedTile &result : stage.results)
      if (result.first != begin * elements_of_item(jobs, result) ||
          result.lane * run.lanes != elements_of_item(jobs, result))
        throw NotLocal();
    for (std::size_t item = begin; item < begin + count; ++item) {
      if (done[item]) throw NotLocal();
      done[item] = true;
    }
  }

  const Graph &graph_;
  const graph::Consumers &consumers_;
  const ItemGroup &group_;
  const NpuConfig &npu_;
  const std::function<bool(TensorId)> &keep_;
  ItemJobs jobs_;
  std::vector<Owner> owners_; ///< of each tile
};

} // namespace

std::optional<ItemJobs> lower_items(const Graph &graph, const graph::Consumers &consumers, const ItemGroup &group,
                                    const NpuConfig &npu, const std::function<bool(TensorId)> &keep) {
  try {
    return ItemLowering(graph, consumers, group, npu, keep).run();
  } catch (const NotLocal &) {
  } catch (const graph::GraphError &) { // jobs that depend on indices, or none
  } catch (const vector::RecordingError &) {
  }
  return std::nullopt;
}

} // namespace gradweave::compiler
