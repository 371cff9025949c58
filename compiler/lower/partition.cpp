#include "compiler/lower/partition.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"

#include "compiler/lower/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace gradweave::compiler {
namespace {

bool cuts_groups(Dim dim, const Layer &layer) { return layer.groups > 1 && dim != Dim::kM; }

/// Rows of Y's images, of all of the layer.
std::uint32_t result_rows(const Layer &layer) { return layer.m / layer.conv->out_width(); }

/// Parts of the rows of Y, so that none is without; in lines of the grid.
std::vector<std::uint32_t> row_bounds(std::uint32_t parts, const Layer &layer) {
  const std::uint32_t height = layer.conv->out_height();
  const Grid grid = grid_of(*layer.conv);
  std::vector<std::uint32_t> bounds = part_bounds(result_rows(layer), parts, 1);
  for (std::uint32_t &row : bounds)
    row = (row / height * grid.height + row % height) * grid.width;
  return bounds;
}

std::vector<std::uint32_t> bounds_of(const PhaseParts &parts, const Layer &layer, const NpuConfig &npu) {
  if (cuts_groups(parts.dim, layer)) return part_bounds(layer.groups, parts.count, 1);
  const Region all = whole(layer);
  if (parts.dim == Dim::kM)
    return layer.image ? row_bounds(parts.count, layer) : part_bounds(layer.m, parts.count, npu.lanes());
  return part_bounds(parts.dim == Dim::kK ? all.k_end : all.n_end, parts.count, npu.lanes());
}

Region region_of(std::uint32_t part, const std::vector<std::uint32_t> &bounds, Dim dim, const Layer &layer) {
  Region r = whole(layer);
  const std::uint32_t first = bounds[part], end = bounds[part + 1];
  if (cuts_groups(dim, layer))
    std::tie(r.g, r.g_end) = std::tie(first, end);
  else if (dim == Dim::kM)
    std::tie(r.m, r.m_end) = std::tie(first, end);
  else if (dim == Dim::kK)
    std::tie(r.k, r.k_end) = std::tie(first, end);
  else
    std::tie(r.n, r.n_end) = std::tie(first, end);
  return r;
}

/// The convolution of so many rows of the grid: of whole images, or of a part of one.
Convolution part_of_rows(Convolution conv, std::uint32_t rows) {
  const std::uint32_t height = grid_of(conv).height;
  conv.batch = std::max(1U, rows / height);
  if (rows >= height) return conv;
  const std::uint32_t least = conv.dilation_height * (conv.kernel_height - 1) + 1;
  const std::uint32_t padding = conv.pad_top + conv.pad_bottom, missing = (height - rows) * conv.stride_height;
  conv.height = std::max({conv.height - std::min(missing, conv.height), least - std::min(padding, least), 1U});
  return conv;
}

Layer as_layer(const Region &r, const Layer &layer) {
  Layer part = layer;
  part.groups = r.g_end - r.g;
  part.m = r.m_end - r.m;
  part.k = r.k_end - r.k;
  part.n = r.n_end - r.n;
  if (layer.image) {
    part.conv->channels = part.groups * part.k;
    part.conv->groups = part.groups;
    part.k *= taps_of(layer);
    if (!keeps_size(*layer.conv)) {
      part.conv = part_of_rows(*part.conv, part.m / line_width(layer));
      part.m = part.conv->m();
    }
  }
  return part;
}

bool cuts_reduction(Tensor result, const PhaseParts &parts, const Layer &layer) {
  return parts.count > 1 && contraction_of(result).red == parts.dim && !cuts_groups(parts.dim, layer);
}

/// Merges the products of the cores into a serial order.
class Merger {
public:
  Merger(const PhasePlan &plan, const Layer &layer, const NpuConfig &npu)
      : plan_(plan), layer_(layer), bounds_(bounds_of(plan.parts, layer, npu)) {
    add_reductions(plan, layer, npu, plans_);
    queues_.resize(plan.parts.cores);
    for (std::uint32_t part = 0; part < plan.parts.count; ++part) {
      const std::uint32_t core = part % plan.parts.cores;
      for (TileProduct p :
           make_order(plan.kind, plan.loops, plan.tile, layer, region_of(part, bounds_, plan.parts.dim, layer))) {
        p.core = static_cast<std::uint8_t>(core);
        if (!plans_.of(p.result).empty()) p.part = part;
        queues_[core].push_back(p);
      }
    }
  }

  std::vector<TileProduct> run();

private:
  /// A result tile: tensor, group, first row and column.
  using Key = std::tuple<Tensor, std::uint32_t, std::uint32_t, std::uint32_t>;
  Key key(const TileProduct &p) const {
    const Rect c = roles(p, layer_).c_rect;
    return {p.result, p.group, c.row, c.col};
  }
  /// Whether the sum that the product continues has come far enough.
  bool ready(const TileProduct &p) const {
    if (!cuts_reduction(p.result, plan_.parts, layer_) || plan_.parts.reduction == Reduction::kAdd) return true;
    const std::uint32_t red = roles(p, layer_).red;
    const auto it = done_.find(key(p));
    return red == 0 || (it != done_.end() && it->second == red);
  }
  void issue(const TileProduct &p);
  void add_parts(const TileProduct &last);

  const PhasePlan &plan_;
  const Layer &layer_;
  std::vector<std::uint32_t> bounds_;
  ReductionPlans plans_;
  std::vector<std::vector<TileProduct>> queues_; ///< by core
  std::map<Key, std::uint32_t> done_;            ///< terms of sums whose reduction is cut
  std::uint32_t next_adder_ = 0;
  std::vector<TileProduct> products_;
};

void Merger::add_parts(const TileProduct &last) {
  TileProduct p = last;
  p.add = true;
  p.core = static_cast<std::uint8_t>(next_adder_++ % plan_.parts.cores);
  const std::uint32_t extent = reduction_extent(p, layer_);
  for (p.part = 1; p.part <= plans_.of(p.result).size(); ++p.part) {
    const std::uint32_t first = plans_.first(p.result, p.part), size = plans_.end(p.result, p.part, extent) - first;
    set_range(p, contraction_of(p.result).red, {first, size});
    products_.push_back(p);
  }
}

void Merger::issue(const TileProduct &p) {
  products_.push_back(p);
  if (!cuts_reduction(p.result, plan_.parts, layer_)) return;
  std::uint32_t &terms = done_[key(p)];
  terms += roles(p, layer_).red_size;
  if (!plans_.of(p.result).empty() && terms == reduction_extent(p, layer_)) add_parts(p);
}

std::vector<TileProduct> Merger::run() {
  std::vector<std::size_t> next(queues_.size(), 0);
  for (bool any = true; any;) {
    any = false;
    for (std::size_t core = 0; core < queues_.size(); ++core) {
      if (next[core] == queues_[core].size() || !ready(queues_[core][next[core]])) continue;
      issue(queues_[core][next[core]++]);
      any = true;
    }
  }
  return std::move(products_);
}

} // namespace

std::vector<std::uint32_t> part_bounds(std::uint32_t extent, std::uint32_t parts, std::uint32_t unit) {
  if (parts == 0 || parts > extent)
    throw std::invalid_argument(fmt::format("{} cannot be cut into {} parts", extent, parts));
  std::uint64_t units = divide_up(extent, unit);
  if (units < parts) {
    units = extent;
    unit = 1;
  }
  std::vector<std::uint32_t> bounds;
  for (std::uint64_t p = 0; p < parts; ++p)
    bounds.push_back(static_cast<std::uint32_t>(units * p / parts * unit));
  bounds.push_back(extent);
  return bounds;
}

Dim cut_dim(Partition partition) {
  return partition == Partition::kWeightSharing ? Dim::kM : partition == Partition::kDySharing ? Dim::kN : Dim::kK;
}

Partition partition_along(Dim dim) {
  return dim == Dim::kM ? Partition::kWeightSharing : dim == Dim::kN ? Partition::kDySharing : Partition::kIfmapSharing;
}

std::uint32_t cuttable(Dim dim, bool forward, const Layer &layer) {
  if (cuts_groups(dim, layer)) return layer.groups;
  if (layer.image && dim == Dim::kM) return result_rows(layer);
  // A part of dY's channels would have some terms of each tap of dX.
  if (layer.image && dim == Dim::kN && !forward) return 1;
  return dim == Dim::kM ? layer.m : dim == Dim::kK ? whole(layer).k_end : layer.n;
}

Layer part_of(const Layer &layer, const PhaseParts &parts, const NpuConfig &npu) {
  if (parts.count == 1 || parts.by_turns()) return layer;
  const std::vector<std::uint32_t> bounds = bounds_of(parts, layer, npu);
  std::uint32_t largest = 0; // tiles are chosen for the largest part
  for (std::uint32_t p = 1; p < parts.count; ++p)
    if (bounds[p + 1] - bounds[p] > bounds[largest + 1] - bounds[largest]) largest = p;
  return as_layer(region_of(largest, bounds, parts.dim, layer), layer);
}

std::uint64_t plan_cycles(const PhasePlan &plan, const Layer &layer, const NpuConfig &npu) {
  if (plan.parts.count == 1) return phase_cycles(plan.kind, plan.tile, layer, npu);
  if (plan.parts.by_turns()) return divide_up(phase_cycles(plan.kind, plan.tile, layer, npu), plan.parts.cores);
  const std::vector<std::uint32_t> bounds = bounds_of(plan.parts, layer, npu);
  std::vector<std::uint64_t> cycles(plan.parts.cores, 0);
  for (std::uint32_t p = 0; p < plan.parts.count; ++p)
    cycles[p % plan.parts.cores] +=
        phase_cycles(plan.kind, plan.tile, as_layer(region_of(p, bounds, plan.parts.dim, layer), layer), npu);
  return *std::max_element(cycles.begin(), cycles.end());
}

std::vector<CutKind> other_cuts(Pass pass, bool several) {
  const bool forward = pass == Pass::kForward; // it has one way to be cut into parts, and none along its reduction
  std::vector<CutKind> kinds;
  for (const Partition p : all_partitions()) {
    if (p == Partition::kNone) continue;
    if (!forward) kinds.push_back({p, Reduction::kChain, Sharing::kParts});
    if (!forward && several && p != kFirstCut.partition) kinds.push_back({p, Reduction::kAdd, Sharing::kParts});
    if (several && !(forward && p == Partition::kIfmapSharing))
      kinds.push_back({p, Reduction::kChain, Sharing::kTurns});
  }
  return kinds;
}

Cut cut_of(const Layer &layer, const NpuConfig &npu, const CompileOptions &options) {
  if (options.partition == Partition::kNone || options.pass == Pass::kForward) {
    if (options.parts > 1 && options.partition == Partition::kNone)
      throw CompileError(fmt::format("layer '{}': {} parts, but no partition; choose weight_sharing, dy_sharing or "
                                     "ifmap_sharing",
                                     layer.name, options.parts));
  } else {
    const Dim dim = cut_dim(options.partition);
    const std::string_view name = dim == Dim::kM ? "M" : dim == Dim::kN ? "N" : "K";
    const std::uint32_t most = cuttable(dim, false, layer);
    if (options.parts > most && layer.image && dim == Dim::kN && layer.groups == 1)
      throw CompileError(
          fmt::format("layer '{}': dy_sharing would cut the terms of every tap of dX, as the layer reads "
                      "images; choose weight_sharing or ifmap_sharing",
                      layer.name));
    if (options.parts > most)
      throw CompileError(fmt::format("layer '{}': {} cannot cut {} = {} into {} parts; reduce the parts to at most {}",
                                     layer.name, to_string(options.partition), layer.groups > 1 ? "groups" : name, most,
                                     options.parts, most));
  }
  Cut cut;
  cut.partition = options.partition;
  cut.parts = options.parts != 0 ? options.parts : npu.cores > 1 ? npu.cores : 2;
  cut.reduction = options.reduction;
  cut.sharing = options.sharing;
  return cut;
}

PhaseParts phase_parts(const Cut &cut, bool forward, const Layer &layer, const NpuConfig &npu) {
  if (cut.partition == Partition::kNone) return {};
  const auto along = [&](Dim dim) {
    PhaseParts parts;
    parts.dim = dim;
    parts.count = std::min(cut.parts, cuttable(dim, forward, layer));
    parts.cores = std::min(parts.count, npu.cores);
    parts.reduction = cut.reduction;
    parts.sharing = cut.sharing;
    if (parts.by_turns()) parts.count = parts.cores;
    return parts;
  };
  const Dim dim = cut_dim(cut.partition);
  const bool by_turns = along(dim).by_turns();
  if (!forward || (by_turns && dim != contraction_of(form_of(forward_phase()).results.front()).red)) return along(dim);
  if (by_turns) return along(Dim::kN);
  const auto busiest = [&](Dim d) {
    PhasePlan plan;
    plan.kind = forward_phase();
    plan.parts = along(d);
    const Layer part = part_of(layer, plan.parts, npu);
    plan.tile = {part.m, part.k, part.n};
    return plan_cycles(plan, layer, npu);
  };
  return busiest(Dim::kN) < busiest(Dim::kM) ? along(Dim::kN) : along(Dim::kM);
}

void add_reductions(const PhasePlan &plan, const Layer &layer, const NpuConfig &npu, ReductionPlans &plans) {
  if (plan.section) return;
  for (const Tensor t : form_of(plan.kind).results)
    if (const std::uint32_t side = side_of(plan.tile, contraction_of(t).red);
        layer.image && !takes_one_tap(t) && takes_blocks(layer, side, tap_channels(layer, t)))
      plans.block[static_cast<std::size_t>(t)] = side;
  if (plan.parts.reduction != Reduction::kAdd || plan.parts.by_turns()) return;
  const std::vector<std::uint32_t> bounds = bounds_of(plan.parts, layer, npu);
  for (const Tensor t : form_of(plan.kind).results) {
    if (!cuts_reduction(t, plan.parts, layer)) continue;
    std::vector<std::uint32_t> &cuts = plans.cuts[static_cast<std::size_t>(t)];
    cuts.assign(bounds.begin() + 1, bounds.end() - 1);
    if (layer.image) // from lines to the pixels that dW sums over
      for (std::uint32_t &cut : cuts)
        cut = pixels_in(layer, phase_of(layer, t, 0), {0, cut / line_width(layer)}).size;
  }
}

std::vector<TileProduct> plan_products(const PhasePlan &plan, const Layer &layer, const NpuConfig &npu) {
  const PhaseParts &parts = plan.parts;
  std::vector<TileProduct> products =
      parts.count > 1 && !parts.by_turns()
          ? Merger(plan, layer, npu).run()
          : make_order(plan.kind, plan.loops, plan.tile, layer, whole(layer), {parts.dim, parts.cores});
  for (TileProduct &p : products)
    p.layer = plan.layer;
  return products;
}

} // namespace gradweave::compiler
