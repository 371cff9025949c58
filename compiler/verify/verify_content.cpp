#include "compiler/verify/verify_content.hpp"
#include "compiler/ir/fused.hpp"
#include "compiler/verify/operands/image_operands.hpp"
#include "compiler/verify/operands/operands.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

std::uint64_t transfer_end(const isa::DmaCommand &d) {
  return d.dram_addr + static_cast<std::uint64_t>(d.rows - 1) * d.pitch + d.cols * (d.fp32 ? 4ULL : 2ULL);
}

/// Of rectangles whose rows are so far apart.
std::uint64_t common_elements(const Rect &x, std::uint32_t x_step, const Rect &y, std::uint32_t y_step) {
  const auto end = [](const Rect &r, std::uint32_t step) { return r.row + (r.rows - 1) * step + 1; };
  const std::uint32_t top = std::max(x.row, y.row), bottom = std::min(end(x, x_step), end(y, y_step));
  const std::uint32_t left = std::max(x.col, y.col), right = std::min(x.col + x.cols, y.col + y.cols);
  if (bottom <= top || right <= left) return 0;
  std::uint64_t rows = bottom - top;
  if (x_step > 1 || y_step > 1) {
    rows = 0;
    for (std::uint32_t row = top; row < bottom; ++row)
      rows += (row - x.row) % x_step == 0 && (row - y.row) % y_step == 0 ? 1 : 0;
  }
  return rows * (right - left);
}

/// Multiply-adds of a result of all of a layer.
std::uint64_t macs_of(const Layer &l, Tensor result) {
  if (!l.image || !is_turned(result)) return std::uint64_t{l.groups} * l.m * l.k * l.n;
  const Convolution &conv = *l.conv;
  std::uint64_t taps = 0; // of a column of every row of an image, and so on
  for (std::uint32_t y = 0; y < conv.height; ++y)
    for (std::uint32_t x = 0; x < conv.width; ++x)
      taps += taps_that_meet(conv, y % conv.stride_height, x % conv.stride_width);
  return taps * conv.batch * conv.channels * l.n;
}

} // namespace

ContentReplay::ContentReplay(const Compiled &compiled, const NpuConfig &npu)
    : compiled_(compiled), npu_(npu), owner_(npu.spm_rows(), 0), unit_rows_(npu.spm_rows(), 0), units_(npu.vectors()),
      stored_(compiled.layout.tensors.size()), macs_(compiled.layers.size()), turned_(compiled.jobs.ranges().size()) {
  for (const TensorBinding &b : compiled.layout.tensors)
    tensors_end_ = std::max(tensors_end_, b.offset + static_cast<std::uint64_t>(b.rows) * b.pitch);
  for (std::uint32_t i = 0; i < compiled.layers.size(); ++i) {
    const auto at = [&](Tensor t) { return static_cast<std::size_t>(compiled.layout.place(i, t)); };
    layer_of_w_[at(Tensor::kW)] = i;
    layer_of_x_dy_[{at(Tensor::kX), at(Tensor::kDY)}] = i;
    macs_[i].fill(0);
    if (compiled.layers[i].image) steps_.push_back(compiled.layers[i].conv->stride_width);
  }
}

std::string ContentReplay::name(std::size_t i, const Rect &r) const {
  const TensorBinding &b = binding(i);
  const std::string of =
      compiled_.layers.size() > 1 ? fmt::format(" of layer '{}'", compiled_.layers[b.layer].name) : "";
  return fmt::format("{}{} ({}, {}) {} x {}", to_string(b.tensor), of, r.row, r.col, r.rows, r.cols);
}

std::uint32_t ContentReplay::extent(const Content &sum) const {
  const TensorBinding &b = binding(sum.binding);
  const Layer &l = compiled_.layers[b.layer];
  if (!l.image || !is_turned(b.tensor)) return terms_of(b.tensor, l);
  const Convolution &conv = *l.conv;
  return terms_of(b.tensor, l, sum.rect.row / conv.width % conv.height % conv.stride_height,
                  sum.rect.row % conv.width % conv.stride_width);
}

ContentReplay::Located ContentReplay::locate(const isa::DmaCommand &d, std::string &problem) const {
  const std::vector<TensorBinding> &tensors = compiled_.layout.tensors;
  const auto after = std::upper_bound(tensors.begin(), tensors.end(), d.dram_addr,
                                      [](std::uint64_t at, const TensorBinding &b) { return at < b.offset; });
  if (after == tensors.begin()) return {};
  const TensorBinding &b = *std::prev(after);
  if (d.dram_addr >= b.offset + static_cast<std::uint64_t>(b.rows) * b.pitch) return {};
  const auto index = static_cast<std::size_t>(std::prev(after) - tensors.begin());
  const std::uint64_t at = d.dram_addr - b.offset;
  const std::uint32_t size = b.fp32 ? 4 : 2;
  const Rect rect{static_cast<std::uint32_t>(at / b.pitch), static_cast<std::uint32_t>(at % b.pitch / size), d.rows,
                  d.cols};
  // A row apart, or as far as a phase's pixels.
  const std::uint32_t step = d.rows > 1 ? d.pitch / b.pitch : 1;
  const bool steps =
      step * b.pitch == d.pitch && (step == 1 || std::find(steps_.begin(), steps_.end(), step) != steps_.end());
  if (d.fp32 != b.fp32)
    problem = fmt::format("moves {} as {}", to_string(b.tensor), d.fp32 ? "fp32" : "bf16");
  else if (d.rows > 1 && !steps)
    problem = fmt::format("moves {} with pitch {} instead of {}", to_string(b.tensor), d.pitch, b.pitch);
  else if (std::uint64_t{rect.rows - 1} * step >= b.rows - rect.row || rect.col >= b.cols ||
           rect.cols > b.cols - rect.col)
    problem = fmt::format("{} reaches outside the tensor of {} x {}", name(index, rect), b.rows, b.cols);
  return {index, rect, step};
}

const ContentReplay::Tile *ContentReplay::find(const SpmView &view) const {
  const auto it = tiles_.find(view.place.row);
  if (it == tiles_.end() || !it->second.second.view.same_place(view)) return nullptr;
  return holds(view, it->second.first) ? &it->second.second : nullptr;
}

bool ContentReplay::holds(const SpmView &view, std::uint32_t number) const {
  bool all = true;
  view.for_rows(npu_.lanes(), [&](std::uint32_t row) { all = all && owner_[row] == number; });
  return all;
}

void ContentReplay::put(const SpmView &view, const Content &content) {
  found_number_ = ~std::uint32_t{0};
  view.for_panels(npu_.lanes(), [&](std::uint32_t first, std::uint32_t end) {
    tiles_.erase(tiles_.lower_bound(first), tiles_.lower_bound(end));
  });
  view.for_rows(npu_.lanes(), [&](std::uint32_t row) {
    owner_[row] = next_number_;
    unit_rows_[row] = 0;
  });
  tiles_[view.place.row] = {next_number_, {view, content}};
  ++next_number_;
}

std::string ContentReplay::load(const isa::DmaCommand &d, const SyncReplay &sync) {
  std::string problem;
  const Located at = locate(d, problem);
  if (!problem.empty()) return problem;
  if (at.binding != kNowhere) {
    if (problem = load_elements(at, sync); !problem.empty()) return problem;
    put(view_of(d), {at.binding, at.rect, 0, 0, at.step});
    return {};
  }
  const auto it = spilled_.find(d.dram_addr);
  if (it == spilled_.end() || !d.fp32 || it->second.pitch != d.pitch || it->second.content.rect.rows != d.rows ||
      it->second.content.rect.cols != d.cols)
    return fmt::format("loads partial sums from {:#x}, where no such tile was stored", d.dram_addr);
  Spilled &s = it->second;
  if (!sync.complete(s.engine, s.position))
    return fmt::format("loads partial sums of {} without waiting for their STORE", name(s.content));
  s.reader_engine = sync.engine();
  s.reader_position = sync.position();
  put(view_of(d), s.content);
  return {};
}

/// An input is there from the beginning, anything else must have been stored.
std::string ContentReplay::load_elements(const Located &at, const SyncReplay &sync) const {
  if (binding(at.binding).input) return {};
  if (stored_[at.binding].empty())
    return fmt::format("loads {}, which is a result", to_string(binding(at.binding).tensor));
  std::uint64_t there = 0;
  for (const Stored &s : stored_[at.binding]) {
    const std::uint64_t elements = common_elements(s.rect, s.step, at.rect, at.step);
    if (elements != 0 && !sync.complete(s.engine, s.position))
      return fmt::format("loads {} without waiting for its STORE", name(at.binding, at.rect));
    there += elements;
  }
  const std::uint64_t all = static_cast<std::uint64_t>(at.rect.rows) * at.rect.cols;
  if (there != all)
    return fmt::format("loads {}, of which {} of {} elements were stored", name(at.binding, at.rect), there, all);
  return {};
}

std::string ContentReplay::spill(const isa::DmaCommand &d, const Content &content, const SyncReplay &sync) {
  const std::uint64_t end = transfer_end(d);
  if (d.dram_addr < tensors_end_ || end > compiled_.dram_bytes)
    return fmt::format("stores to {:#x}, which is neither a tensor nor spill space", d.dram_addr);
  if (!d.fp32 || !content.sum()) return "spills sums that are not fp32";
  auto it = spilled_.upper_bound(d.dram_addr);
  if (it != spilled_.begin()) --it; // spilled tiles are disjoint: only this one can reach in from before
  while (it != spilled_.end() && it->first < end) {
    const Spilled &old = it->second;
    if (old.end > d.dram_addr && old.reader_position > 0 && !sync.complete(old.reader_engine, old.reader_position))
      return fmt::format("overwrites partial sums of {} without waiting for their LOAD", name(old.content));
    it = old.end > d.dram_addr ? spilled_.erase(it) : std::next(it);
  }
  spilled_[d.dram_addr] = {end, d.pitch, content, sync.engine(), sync.position(), 0, 0};
  return {};
}

/// Whether the tile's rows from `skipped` on are those that are stored.
std::string ContentReplay::check_stored(const Content &content, std::uint32_t skipped, const Located &at) const {
  bool same = at.binding == content.binding && at.rect.col == content.rect.col && at.rect.cols == content.rect.cols;
  for (std::uint32_t row = 0; same && row < at.rect.rows; ++row)
    same = content.row(skipped + row) == at.rect.row + row * at.step;
  if (same) return {};
  return fmt::format("stores {} to the place of {}", name(content), name(at.binding, at.rect));
}

std::string ContentReplay::store(const isa::DmaCommand &d, const SyncReplay &sync) {
  std::uint32_t skipped = 0;
  const Tile *tile = find(view_of(d));
  // Rows between gaps of a grid.
  if (tile == nullptr) tile = find_rows(view_of(d), skipped);
  if (tile != nullptr && tile->content.lines.grid_w == 0 && tile->view.rows != d.rows) tile = nullptr;
  std::optional<Content> held;
  if (tile != nullptr)
    held = tile->content;
  else
    held = content_of(view_of(d));
  if (!held) return fmt::format("stores scratchpad row {} on, which holds no such tile", d.spm.row);
  const Content content = *held;
  if (tile == nullptr) skipped = 0;
  std::string problem;
  const Located at = locate(d, problem);
  if (!problem.empty()) return problem;
  if (at.binding == kNowhere) {
    if (tile == nullptr || tile->view.rows != d.rows) return "spills a part of a tile of sums";
    return spill(d, content, sync);
  }
  const TensorBinding &b = binding(at.binding);
  if (b.input) return fmt::format("overwrites the input {}", to_string(b.tensor));
  if (problem = check_stored(content, skipped, at); !problem.empty()) return problem;
  const bool complete = content.sum() && content.first == 0 && content.done == extent(content);
  if (b.fp32 ? !complete : content.sum())
    return fmt::format("stores {} with terms {} to {} of {}", name(content), content.first, content.done,
                       extent(content));
  stored_[at.binding].push_back({at.rect, at.step, sync.engine(), sync.position()});
  return {};
}

ContentReplay::Product ContentReplay::product_of(const isa::GemmCommand &g, const Content &a, const Content &b,
                                                 std::string &problem) const {
  if (!a.sum() && !b.sum()) {
    if (const auto of_w = layer_of_w_.find(b.binding); of_w != layer_of_w_.end()) {
      const std::uint32_t layer = of_w->second;
      const auto is = [&](Tensor t) { return a.binding == static_cast<std::size_t>(compiled_.layout.place(layer, t)); };
      if (g.a_col && !g.b_col && is(Tensor::kX)) return {layer, Tensor::kY};
      if (g.a_col && g.b_col && is(Tensor::kDY)) return {layer, Tensor::kDX};
    }
    const auto of_both = layer_of_x_dy_.find({a.binding, b.binding});
    if (!g.a_col && !g.b_col && of_both != layer_of_x_dy_.end()) return {of_both->second, Tensor::kDW};
  }
  problem = fmt::format("multiplies {} and {}, walked in a way that gives no result of a layer",
                        to_string(binding(a.binding).tensor), to_string(binding(b.binding).tensor));
  return {};
}

/// Result rows and columns, and the first term as A and B see it. Groups are blocks of the columns of X and dY and of
/// the rows of W.
std::string ContentReplay::cover(const isa::GemmCommand &g, const Product &product, const Rect &a, const Rect &b,
                                 Content &c) const {
  const Layer &l = compiled_.layers[product.layer];
  c.binding = static_cast<std::size_t>(compiled_.layout.place(product.layer, product.result));
  std::uint32_t red_a = 0, red_b = 0, group_a = 0, group_b = 0;
  if (product.result == Tensor::kDX) {
    c.rect = {a.row, b.row, g.m, g.n};
    group_a = a.col / l.n;
    group_b = b.row / l.k;
    red_a = a.col % l.n;
    red_b = b.col;
  } else if (product.result == Tensor::kDW) {
    group_a = a.col / l.k;
    group_b = b.col / l.n;
    c.rect = {a.col, b.col % l.n, g.m, g.n};
    red_a = a.row;
    red_b = b.row;
  } else {
    group_a = a.col / l.k;
    group_b = b.row / l.k;
    c.rect = {a.row, group_a * l.n + b.col, g.m, g.n};
    red_a = a.col % l.k;
    red_b = b.row % l.k;
  }
  if (group_a != group_b) return fmt::format("multiplies A of group {} and B of group {}", group_a, group_b);
  if (red_a != red_b) return fmt::format("reduces A from {} but B from {}", red_a, red_b);
  c.first = red_a;
  c.done = red_a + g.k;
  return {};
}

/// Whether a product's terms from `c.first` on continue the sum that it starts from, as the reduction plan says.
std::string ContentReplay::continue_sum(const isa::GemmCommand &g, const Tile *cin, Content &c) const {
  // binding() tells of a shared tensor who computes it, which is this product.
  const std::vector<std::uint32_t> &plan = cuts(c);
  if (g.acc) {
    if (cin == nullptr || !cin->content.same_elements(c))
      return fmt::format("has initial values that are not {}", name(c));
    if (cin->content.done != c.first)
      return fmt::format("adds terms from {} on to {}, whose sum stands at {}", c.first, name(c), cin->content.done);
    c.first = cin->content.first;
  } else if (c.first != 0 && std::find(plan.begin(), plan.end(), c.first) == plan.end()) {
    return fmt::format("starts {} from zero at term {}, where its reduction plan has no part", name(c), c.first);
  }
  for (const std::uint32_t cut : plan)
    if (cut > c.first && cut < c.done)
      return fmt::format("sums {} over term {}, where its reduction plan begins a part", name(c), cut);
  return {};
}

std::string ContentReplay::gemm(const isa::GemmCommand &g) {
  const GemmViews v(g);
  const std::optional<Content> a = content_of(v.a), b = content_of(v.b);
  if (!a || !b) return fmt::format("operand {} is not a whole tile, or rows of tiles", !a ? "A" : "B");
  if (!a->plain() || !b->plain()) return "multiplies rows with gaps between them";
  std::string problem;
  const Product product = product_of(g, *a, *b, problem);
  if (!problem.empty()) return problem;
  if (compiled_.layers[product.layer].image) return "multiplies an image as if it were a matrix";
  Content c;
  if (problem = cover(g, product, a->rect, b->rect, c); !problem.empty()) return problem;
  return finish_product(g, static_cast<std::uint64_t>(g.m) * g.n * g.k, product, c);
}

/// A job's dY depends on all of its Y: none is computed once the backward pass has begun.
std::string ContentReplay::turn(std::uint32_t layer, Tensor result) {
  const std::size_t job = compiled_.jobs.job_of(layer);
  if (result == Tensor::kY && turned_[job])
    return fmt::format("computes Y of layer '{}' after a gradient, which depends on all Y",
                       compiled_.layers[layer].name);
  turned_[job] = turned_[job] || result != Tensor::kY;
  return {};
}

/// The sum with the terms of `c`: whether it goes on where its initial values stand, and its place.
std::string ContentReplay::finish_product(const isa::GemmCommand &g, std::uint64_t macs, const Product &product,
                                          Content c) {
  const GemmViews v(g);
  if (std::string problem = turn(product.layer, product.result); !problem.empty()) return problem;
  if (std::string problem = continue_sum(g, g.acc ? find(v.cin) : nullptr, c); !problem.empty()) return problem;
  if (g.out_bf16) {
    if (c.first != 0 || c.done != extent(c) || binding(c.binding).fp32)
      return fmt::format("rounds {} to bf16 with terms {} to {} of {}", name(c), c.first, c.done, extent(c));
    c.done = 0;
  }
  macs_[product.layer][static_cast<std::size_t>(product.result)] += macs;
  put(v.cout, c);
  return {};
}

std::string ContentReplay::add(const isa::AddCommand &command) {
  const AddViews v(command);
  const Tile *sum = find(v.a);
  const Tile *part = find(v.cin);
  if (sum == nullptr || part == nullptr)
    return fmt::format("{} is not a whole tile of sums", sum == nullptr ? "A" : "CIN");
  Content c = sum->content;
  const Content &p = part->content;
  if (!c.sum() || !p.sum()) return "adds tiles that are no sums";
  if (!p.same_elements(c)) return fmt::format("adds {} to {}", name(p), name(c));
  // Ascending, one part at a time, each complete: the plan's order of additions.
  const std::vector<std::uint32_t> &plan = cuts(c);
  const auto cut = std::find(plan.begin(), plan.end(), p.first);
  if (c.first != 0 || c.done != p.first || cut == plan.end() ||
      p.done != (cut + 1 == plan.end() ? extent(c) : *(cut + 1)))
    return fmt::format("adds terms {} to {} to terms {} to {} of {}, which is not in the reduction plan", p.first,
                       p.done, c.first, c.done, name(c));
  c.done = p.done;
  if (command.out_bf16) {
    if (c.done != extent(c) || binding(c.binding).fp32)
      return fmt::format("rounds {} to bf16 after {} of {} terms", name(c), c.done, extent(c));
    c.done = 0;
  }
  put(v.cout, c);
  return {};
}

std::string ContentReplay::step(const isa::Decoded &command, const SyncReplay &sync) {
  const std::size_t index = next_++;
  if (is_in_section(compiled_.layers, compiled_.info[index].layer))
    return vector_step(command, compiled_.info[index], sync);
  if (const auto *g = std::get_if<isa::GemmCommand>(&command.op)) return gemm(*g);
  if (const auto *v = std::get_if<isa::ConvCommand>(&command.op)) return conv(*v, compiled_.info[index]);
  if (const auto *c = std::get_if<isa::AddCommand>(&command.op)) return add(*c);
  if (const auto *d = std::get_if<isa::DmaCommand>(&command.op)) return d->store ? store(*d, sync) : load(*d, sync);
  if (std::holds_alternative<isa::VectorCommand>(command.op))
    return "a VECTOR, whose results no product of the layers is; no pass emits one";
  return {};
}

std::string ContentReplay::finish() const {
  for (std::size_t i = 0; i < stored_.size(); ++i) {
    const TensorBinding &b = binding(i);
    if (b.input) continue;
    std::vector<Rect> rects;
    for (const Stored &s : stored_[i])
      for (std::uint32_t row = 0; row < (s.step == 1 ? 1 : s.rect.rows); ++row)
        rects.push_back({s.rect.row + row * s.step, s.rect.col, s.step == 1 ? s.rect.rows : 1, s.rect.cols});
    if (const std::string problem = verify_cover(std::move(rects), b.rows, b.cols, b.result); !problem.empty())
      return fmt::format("stores of {}: {}", to_string(b.tensor), problem);
  }
  for (std::uint32_t i = 0; i < compiled_.layers.size(); ++i) {
    const Layer &l = compiled_.layers[i];
    if (is_in_section(compiled_.layers, i)) continue;
    for (const Tensor t : {Tensor::kY, Tensor::kDX, Tensor::kDW}) {
      const std::uint64_t wanted = compiled_.layout.place(i, t) == Layout::kNone ? 0 : macs_of(l, t);
      if (const std::uint64_t macs = macs_[i][static_cast<std::size_t>(t)]; macs != wanted)
        return fmt::format("{} is computed with {} multiply-adds instead of {}", to_string(t), macs, wanted);
    }
  }
  return {};
}

} // namespace gradweave::compiler
