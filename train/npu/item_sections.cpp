#include "train/npu/item_sections.hpp"

#include "compiler/items/choose_cut.hpp"
#include "compiler/items/item_commands.hpp"
#include "compiler/items/lower_items.hpp"
#include "compiler/items/ordered_commands.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradweave::runtime::train {
namespace {

using compiler::ItemJobs;
using compiler::ItemPlace;
using compiler::ItemTile;
using graph::kNone;
using graph::OpId;
using graph::TensorId;

ItemPlace place_of(const ItemTile &tile, const graph::Graph &graph, const StepMemory &memory) {
  ItemPlace place;
  if (tile.tensor == kNone || !(tile.loaded || tile.stored)) return place;
  const TensorPlace &in_memory = memory.places[tile.tensor];
  const graph::Shape &shape = graph.tensors[tile.tensor].shape;
  const std::uint32_t bytes = tile.fp32 ? 4 : 2;
  for (const std::size_t first : tile.firsts)
    place.addresses.push_back(in_memory.address + in_memory.element(shape, first) * bytes);
  const std::size_t pitch = in_memory.strides.empty() ? tile.pitch : in_memory.strides[shape.rank() - 2];
  place.pitch = static_cast<std::uint32_t>(pitch) * bytes;
  return place;
}

bool same_tiles(const ItemTile &a, const ItemTile &b) {
  return a.rows == b.rows && a.cols == b.cols && a.fp32 == b.fp32 && a.each == b.each && a.firsts == b.firsts &&
         a.pitch == b.pitch && a.line == b.line && a.over == b.over && a.loaded == b.loaded && a.stored == b.stored;
}

bool same_views(const std::vector<compiler::ItemView> &a, const std::vector<compiler::ItemView> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto &x, const auto &y) {
    return x.tile == y.tile && x.by_col == y.by_col && x.same_element == y.same_element && x.same_step == y.same_step;
  });
}

bool same_stages(const compiler::ItemStage &a, const compiler::ItemStage &b) {
  if (a.index() != b.index()) return false;
  if (const auto *p = std::get_if<compiler::ItemProduct>(&a)) {
    const auto &q = std::get<compiler::ItemProduct>(b);
    return p->a == q.a && p->b == q.b && p->c == q.c && p->a_col == q.a_col && p->b_col == q.b_col && p->m == q.m &&
           p->n == q.n && p->k == q.k;
  }
  const auto &r = std::get<compiler::ItemRun>(a), &s = std::get<compiler::ItemRun>(b);
  return r.lanes == s.lanes && r.steps == s.steps && same_views(r.operands, s.operands) &&
         same_views(r.results, s.results) && isa::vector::encode(r.program) == isa::vector::encode(s.program);
}

bool same_form(const ItemJobs &a, const ItemJobs &b) {
  return a.items == b.items && std::equal(a.tiles.begin(), a.tiles.end(), b.tiles.begin(), b.tiles.end(), same_tiles) &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(), same_stages);
}

} // namespace

class ItemSections::Jobs {
public:
  Jobs(const Machine &npu, std::uint32_t first_semaphore) : npu_(npu), first_semaphore_(first_semaphore) {}

  void add(ItemJobs jobs) { jobs_.push_back(std::move(jobs)); }
  const ItemJobs &of(std::size_t group) const { return jobs_[group]; }

  std::vector<isa::Command> commands(std::size_t group, const std::vector<ItemPlace> &places) {
    return compiler::item_commands(jobs_[group], places, cut_of(group, places), npu_, first_semaphore_);
  }

private:
  struct Cut {
    std::size_t like = 0;     ///< the group that it was chosen for
    std::vector<bool> beside; ///< of each of its tiles: items lie side by side in memory
    compiler::ItemCut cut;
  };

  std::vector<bool> tiles_beside(std::size_t group, const std::vector<ItemPlace> &places) const {
    std::vector<bool> beside;
    for (std::size_t tile = 0; tile < places.size(); ++tile)
      beside.push_back(!places[tile].addresses.empty() && compiler::lie_side_by_side(jobs_[group], places, tile));
    return beside;
  }

  const compiler::ItemCut &cut_of(std::size_t group, const std::vector<ItemPlace> &places) {
    for (const Cut &known : cuts_)
      if (same_form(jobs_[known.like], jobs_[group]) && known.beside == tiles_beside(group, places)) return known.cut;
    std::optional<compiler::ItemCut> cut = compiler::choose_cut(jobs_[group], places, npu_);
    if (!cut) throw std::logic_error("an item fits the scratchpad, and has no cut");
    cuts_.push_back({group, tiles_beside(group, places), std::move(*cut)});
    return cuts_.back().cut;
  }

  const Machine &npu_;
  std::uint32_t first_semaphore_;
  std::vector<ItemJobs> jobs_; ///< of each group
  std::vector<Cut> cuts_;
};

ItemSections::ItemSections(const graph::Graph &graph, const Machine &npu, const std::function<bool(TensorId)> &keep,
                           std::uint32_t first_semaphore)
    : jobs_(std::make_unique<Jobs>(npu, first_semaphore)) {
  if (npu.vectors() == 0 || first_semaphore + compiler::kOrderedSemaphores >= npu.semaphores) return;
  const graph::Consumers consumers = graph.consumers();
  for (compiler::ItemGroup &group : compiler::find_item_groups(graph)) {
    std::optional<ItemJobs> jobs = compiler::lower_items(graph, consumers, group, npu, keep);
    if (!jobs || !compiler::has_cut(*jobs, npu)) continue;
    for (const compiler::ItemStage &stage : jobs->stages)
      if (const auto *product = std::get_if<compiler::ItemProduct>(&stage))
        multiply_adds_ += std::uint64_t{product->m} * product->n * product->k * jobs->items;
    groups_.push_back(std::move(group));
    jobs_->add(std::move(*jobs));
  }
}

ItemSections::~ItemSections() = default;

bool ItemSections::has(OpId op) const {
  return std::any_of(groups_.begin(), groups_.end(), [op](const compiler::ItemGroup &group) {
    return std::binary_search(group.ops.begin(), group.ops.end(), op);
  });
}

void ItemSections::note_inside(std::size_t group, const graph::Graph &graph, std::vector<bool> &inside) const {
  for (const OpId op : groups_[group].ops)
    for (const TensorId id : graph.ops[op].outputs)
      if (id != kNone) inside[id] = true;
  for (const ItemTile &tile : jobs_->of(group).tiles)
    if (tile.tensor != kNone && tile.stored) inside[tile.tensor] = false;
}

std::vector<isa::Command> ItemSections::commands(std::size_t group, const graph::Graph &graph,
                                                 const StepMemory &memory) {
  std::vector<ItemPlace> places;
  for (const ItemTile &tile : jobs_->of(group).tiles)
    places.push_back(place_of(tile, graph, memory));
  return jobs_->commands(group, places);
}

} // namespace gradweave::runtime::train
