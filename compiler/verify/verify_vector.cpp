// Layers of a stream that the vector unit computes: what they move, and whose rows they use.
#include "compiler/verify/verify_content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gradweave::compiler {

void ContentReplay::give_to_unit(const SpmView &view, std::uint32_t layer) {
  found_number_ = ~std::uint32_t{0};
  view.for_panels(npu_.lanes(), [&](std::uint32_t first, std::uint32_t end) {
    tiles_.erase(tiles_.lower_bound(first), tiles_.lower_bound(end));
  });
  view.for_rows(npu_.lanes(), [&](std::uint32_t row) {
    owner_[row] = next_number_;
    unit_rows_[row] = layer + 1;
  });
  ++next_number_;
}

/// What a transfer moves: rows of a tile may be several rows of the tensor each, whole ones with all that is between
/// them.
std::vector<ContentReplay::Located> ContentReplay::locate_rows(const isa::DmaCommand &d, std::string &problem) const {
  isa::DmaCommand row = d;
  row.rows = 1;
  std::vector<Located> all;
  for (std::uint32_t i = 0; i < d.rows && problem.empty(); ++i) {
    row.dram_addr = d.dram_addr + std::uint64_t{i} * d.pitch;
    row.cols = 1;
    Located at = locate(row, problem);
    if (at.binding == kNowhere && problem.empty()) problem = "moves what is no tensor";
    if (!problem.empty()) break;
    const TensorBinding &b = binding(at.binding);
    const std::uint32_t pixel = b.pitch / (b.fp32 ? 4 : 2), whole = d.cols / pixel;
    at.rect.rows = std::max(1U, whole);
    at.rect.cols = whole > 0 ? b.cols : d.cols;
    if (whole > 0 ? at.rect.col != 0 || d.cols % pixel != 0 : d.cols > b.cols - at.rect.col)
      problem = fmt::format("moves a part of rows of {}", to_string(b.tensor));
    else if (at.rect.rows > b.rows - at.rect.row)
      problem = fmt::format("{} reaches outside the tensor of {} x {}", name(at.binding, at.rect), b.rows, b.cols);
    all.push_back(at);
  }
  return all;
}

std::string ContentReplay::vector_load(const isa::DmaCommand &d, const CommandInfo &info, const SyncReplay &sync) {
  std::string problem;
  for (const Located &at : locate_rows(d, problem)) {
    if (!problem.empty()) return problem;
    const auto is = [&](Tensor t) {
      return compiled_.layout.place(info.layer, t) == static_cast<std::int32_t>(at.binding);
    };
    if (!is(Tensor::kX) && !is(Tensor::kW) && !is(Tensor::kDY))
      return fmt::format("the vector unit loads {}, which is no operand of the layer", name(at.binding, at.rect));
    if (problem = load_elements(at, sync); !problem.empty()) return problem;
  }
  give_to_unit(view_of(d), info.layer);
  return problem;
}

std::string ContentReplay::vector_store(const isa::DmaCommand &d, const CommandInfo &info, const SyncReplay &sync) {
  bool own = true;
  view_of(d).for_rows(npu_.lanes(), [&](std::uint32_t row) { own = own && unit_rows_[row] == info.layer + 1; });
  if (!own) return fmt::format("stores scratchpad row {} on, not all of which the vector unit wrote", d.spm.row);
  std::string problem;
  for (const Located &at : locate_rows(d, problem)) {
    if (!problem.empty()) return problem;
    const TensorBinding &b = binding(at.binding);
    if (b.input || b.layer != info.layer)
      return fmt::format("the vector unit overwrites {}, which is no result of the layer", name(at.binding, at.rect));
    if (problem = turn(info.layer, b.tensor); !problem.empty()) return problem;
    stored_[at.binding].push_back({at.rect, at.step, sync.engine(), sync.position()});
  }
  return problem;
}

/// A product of fused layers takes what they have in the scratchpad, and all terms of its sums.
std::string ContentReplay::fused_gemm(const isa::GemmCommand &g, std::uint32_t layer) {
  const Layer &l = compiled_.layers[layer];
  if (g.k != l.k || g.n != l.n || g.acc || !g.out_bf16)
    return fmt::format("a product of fused layers has {} terms and {} columns instead of {} and {}, or leaves a sum",
                       g.k, g.n, l.k, l.n);
  const GemmViews v(g);
  if (reads_tiles({v.a, v.b})) return "a product of fused layers reads rows of the scratchpad that a tile is in";
  give_to_unit(v.cout, layer);
  return {};
}

/// A product for dW of a depthwise layer takes pixels of dY and of the image, one or several side by side, channels
/// with channels.
std::string ContentReplay::depthwise_wgrad(const isa::ConvCommand &v, std::uint32_t layer) {
  const isa::GemmCommand &g = v.product;
  const TensorBinding &x = binding(static_cast<std::uint32_t>(compiled_.layout.place(layer, Tensor::kX)));
  const std::uint32_t pixel = x.pitch / (x.fp32 ? 4 : 2);
  if (!v.weights || g.m < g.n || (g.m - g.n) % pixel != 0 || g.out_bf16)
    return "the array computes for a layer that is the vector unit's, and no sums of dW";
  std::vector<SpmView> views = image_views(v);
  views.push_back({g.b, v.b_rows(), g.n, false});
  if (g.acc) views.push_back(GemmViews(g).cin);
  if (reads_tiles(views)) return "a product of dW reads rows of the scratchpad that a tile is in";
  give_to_unit(GemmViews(g).cout, layer);
  return {};
}

/// Rows that are nobody's count for nothing: those between columns of an image, or lines of a grid.
bool ContentReplay::reads_tiles(const std::vector<SpmView> &views) const {
  bool tiles = false;
  for (const SpmView &view : views)
    view.for_rows(npu_.lanes(),
                  [&](std::uint32_t row) { tiles = tiles || (unit_rows_[row] == 0 && owner_[row] != 0); });
  return tiles;
}

std::string ContentReplay::vector_step(const isa::Decoded &command, const CommandInfo &info, const SyncReplay &sync) {
  if (const auto *p = std::get_if<isa::ProgramCommand>(&command.op)) units_.at(p->unit).take(*p);
  if (const auto *t = std::get_if<isa::TileCommand>(&command.op)) units_.at(t->unit).take(*t);
  if (const auto *v = std::get_if<isa::VectorCommand>(&command.op))
    for (const vector::TileUse &use : units_.at(v->unit).uses(*v))
      if (use.is_result()) give_to_unit(view_of(use), info.layer);
  if (const auto *d = std::get_if<isa::DmaCommand>(&command.op)) {
    // A tensor that layers share is that of the layer that computes it: what others load of it is a tile.
    const std::array<Tensor, 3> &results = result_tensors();
    if (!d->store && std::find(results.begin(), results.end(), info.tensor) != results.end()) return load(*d, sync);
    return d->store ? vector_store(*d, info, sync) : vector_load(*d, info, sync);
  }
  const auto *g = std::get_if<isa::GemmCommand>(&command.op);
  if (g != nullptr && !compiled_.layers[info.layer].vector) return fused_gemm(*g, info.layer);
  if (const auto *v = std::get_if<isa::ConvCommand>(&command.op)) return depthwise_wgrad(*v, info.layer);
  const bool computes = g != nullptr || std::holds_alternative<isa::AddCommand>(command.op);
  return computes ? "the array computes for a layer that is the vector unit's" : "";
}

} // namespace gradweave::compiler
