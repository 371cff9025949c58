#include "compiler/verify_content.hpp"
#include "compiler/verify.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

std::string name(Tensor t, const Rect &r) {
  return fmt::format("{} ({}, {}) {} x {}", to_string(t), r.row, r.col, r.rows, r.cols);
}

std::uint64_t transfer_end(const isa::DmaCommand &d) {
  return d.dram_addr + static_cast<std::uint64_t>(d.rows - 1) * d.pitch + d.cols * (d.fp32 ? 4ULL : 2ULL);
}

} // namespace

ContentReplay::ContentReplay(const CompiledLayer &compiled, const NpuConfig &npu)
    : compiled_(compiled), npu_(npu), owner_(npu.spm_rows(), 0) {
  for (const TensorBinding &b : compiled.tensors)
    tensors_end_ = std::max(tensors_end_, b.offset + static_cast<std::uint64_t>(b.rows) * b.pitch);
}

std::uint32_t ContentReplay::extent(Tensor result) const {
  const Layer &l = compiled_.layer;
  return result == Tensor::kDX ? l.n : result == Tensor::kDW ? l.m : l.k;
}

bool ContentReplay::begins_part(Tensor result, std::uint32_t term) const {
  const std::vector<std::uint32_t> &cuts = compiled_.reductions.of(result);
  return term == 0 || std::find(cuts.begin(), cuts.end(), term) != cuts.end();
}

ContentReplay::Located ContentReplay::locate(const isa::DmaCommand &d, std::string &problem) const {
  for (const TensorBinding &b : compiled_.tensors) {
    if (d.dram_addr < b.offset || d.dram_addr >= b.offset + static_cast<std::uint64_t>(b.rows) * b.pitch) continue;
    const std::uint64_t at = d.dram_addr - b.offset;
    const std::uint32_t size = b.fp32 ? 4 : 2;
    const Rect rect{static_cast<std::uint32_t>(at / b.pitch), static_cast<std::uint32_t>(at % b.pitch / size), d.rows,
                    d.cols};
    if (d.fp32 != b.fp32)
      problem = fmt::format("moves {} as {}", to_string(b.tensor), d.fp32 ? "fp32" : "bf16");
    else if (d.pitch != b.pitch && d.rows > 1)
      problem = fmt::format("moves {} with pitch {} instead of {}", to_string(b.tensor), d.pitch, b.pitch);
    else if (at % b.pitch % size != 0 || rect.rows > b.rows - rect.row || rect.col >= b.cols ||
             rect.cols > b.cols - rect.col)
      problem = fmt::format("{} reaches outside the tensor of {} x {}", name(b.tensor, rect), b.rows, b.cols);
    return {&b, rect};
  }
  return {};
}

const ContentReplay::Tile *ContentReplay::find(const SpmView &view) const {
  const auto it = tiles_.find(view.place.row);
  if (it == tiles_.end() || !it->second.second.view.same_place(view)) return nullptr;
  bool whole = true;
  view.for_rows(npu_.lanes(), [&](std::uint32_t row) { whole = whole && owner_[row] == it->second.first; });
  return whole ? &it->second.second : nullptr;
}

void ContentReplay::put(const SpmView &view, const Content &content) {
  view.for_rows(npu_.lanes(), [&](std::uint32_t row) { owner_[row] = next_number_; });
  tiles_[view.place.row] = {next_number_, {view, content}};
  ++next_number_;
}

std::string ContentReplay::load(const isa::DmaCommand &d, const SyncReplay &sync) {
  std::string problem;
  const Located at = locate(d, problem);
  if (!problem.empty()) return problem;
  if (at.binding != nullptr) {
    if (!at.binding->input) return fmt::format("loads {}, which is a result", to_string(at.binding->tensor));
    put(view_of(d), {at.binding->tensor, at.rect, 0, 0});
    return {};
  }
  const auto it = spilled_.find(d.dram_addr);
  if (it == spilled_.end() || !d.fp32 || it->second.pitch != d.pitch || it->second.content.rect.rows != d.rows ||
      it->second.content.rect.cols != d.cols)
    return fmt::format("loads partial sums from {:#x}, where no such tile was stored", d.dram_addr);
  Spilled &s = it->second;
  if (!sync.complete(s.engine, s.position))
    return fmt::format("loads partial sums of {} without waiting for their STORE",
                       name(s.content.tensor, s.content.rect));
  s.reader_engine = sync.engine();
  s.reader_position = sync.position();
  put(view_of(d), s.content);
  return {};
}

std::string ContentReplay::spill(const isa::DmaCommand &d, const Content &content, const SyncReplay &sync) {
  const std::uint64_t end = transfer_end(d);
  if (d.dram_addr < tensors_end_ || end > compiled_.dram_bytes)
    return fmt::format("stores to {:#x}, which is neither a tensor nor spill space", d.dram_addr);
  if (!d.fp32) return "spills sums that are not fp32";
  auto it = spilled_.upper_bound(d.dram_addr);
  if (it != spilled_.begin()) --it; // spilled tiles are disjoint: only this one can reach in from before
  while (it != spilled_.end() && it->first < end) {
    const Spilled &old = it->second;
    if (old.end > d.dram_addr && old.reader_position > 0 && !sync.complete(old.reader_engine, old.reader_position))
      return fmt::format("overwrites partial sums of {} without waiting for their LOAD",
                         name(old.content.tensor, old.content.rect));
    it = old.end > d.dram_addr ? spilled_.erase(it) : std::next(it);
  }
  spilled_[d.dram_addr] = {end, d.pitch, content, sync.engine(), sync.position(), 0, 0};
  return {};
}

std::string ContentReplay::store(const isa::DmaCommand &d, const SyncReplay &sync) {
  const Tile *tile = find(view_of(d));
  if (tile == nullptr) return fmt::format("stores scratchpad row {} on, which holds no such tile", d.spm.row);
  const Content content = tile->content;
  std::string problem;
  const Located at = locate(d, problem);
  if (!problem.empty()) return problem;
  if (at.binding == nullptr) return spill(d, content, sync);
  if (at.binding->input) return fmt::format("overwrites the input {}", to_string(at.binding->tensor));
  if (at.binding->tensor != content.tensor || !(at.rect == content.rect))
    return fmt::format("stores {} to the place of {}", name(content.tensor, content.rect),
                       name(at.binding->tensor, at.rect));
  if (content.first != 0 || content.done != extent(content.tensor))
    return fmt::format("stores {} with terms {} to {} of {}", name(content.tensor, content.rect), content.first,
                       content.done, extent(content.tensor));
  stored_[static_cast<std::size_t>(content.tensor)].push_back(content.rect);
  return {};
}

std::string ContentReplay::gemm(const isa::GemmCommand &g) {
  const GemmViews v(g);
  const Tile *a = find(v.a);
  const Tile *b = find(v.b);
  if (a == nullptr || b == nullptr) return fmt::format("operand {} is not a whole tile", a == nullptr ? "A" : "B");
  const Content &ca = a->content;
  const Content &cb = b->content;

  // Which product this is, and which ranges it covers: result rows and columns, and the reduction as A and B see it.
  // Groups are blocks of the columns of X and dY and of the rows of W.
  const Layer &l = compiled_.layer;
  Content c;
  std::uint32_t red_a = 0, red_b = 0, group_a = 0, group_b = 0;
  if (ca.tensor == Tensor::kDY && cb.tensor == Tensor::kW && g.a_col && g.b_col) {
    c = {Tensor::kDX, {ca.rect.row, cb.rect.row, g.m, g.n}, 0, 0};
    group_a = ca.rect.col / l.n;
    group_b = cb.rect.row / l.k;
    red_a = ca.rect.col % l.n;
    red_b = cb.rect.col;
  } else if (ca.tensor == Tensor::kX && cb.tensor == Tensor::kDY && !g.a_col && !g.b_col) {
    group_a = ca.rect.col / l.k;
    group_b = cb.rect.col / l.n;
    c = {Tensor::kDW, {ca.rect.col, cb.rect.col % l.n, g.m, g.n}, 0, 0};
    red_a = ca.rect.row;
    red_b = cb.rect.row;
  } else if (ca.tensor == Tensor::kX && cb.tensor == Tensor::kW && g.a_col && !g.b_col) {
    group_a = ca.rect.col / l.k;
    group_b = cb.rect.row / l.k;
    c = {Tensor::kY, {ca.rect.row, group_a * l.n + cb.rect.col, g.m, g.n}, 0, 0};
    red_a = ca.rect.col % l.k;
    red_b = cb.rect.row % l.k;
  } else {
    return fmt::format("multiplies {} and {}, walked in a way that gives no result of a layer", to_string(ca.tensor),
                       to_string(cb.tensor));
  }
  if (group_a != group_b) return fmt::format("multiplies A of group {} and B of group {}", group_a, group_b);
  if (red_a != red_b) return fmt::format("reduces A from {} but B from {}", red_a, red_b);
  if (g.acc) {
    const Tile *cin = find(v.cin);
    if (cin == nullptr || cin->content.tensor != c.tensor || !(cin->content.rect == c.rect))
      return fmt::format("has initial values that are not {}", name(c.tensor, c.rect));
    if (cin->content.done != red_a)
      return fmt::format("adds terms from {} on to {}, whose sum stands at {}", red_a, name(c.tensor, c.rect),
                         cin->content.done);
    c.first = cin->content.first;
  } else {
    if (!begins_part(c.tensor, red_a))
      return fmt::format("starts {} from zero at term {}, where its reduction plan has no part", name(c.tensor, c.rect),
                         red_a);
    c.first = red_a;
  }
  c.done = red_a + g.k;
  for (std::uint32_t cut : compiled_.reductions.of(c.tensor))
    if (cut > c.first && cut < c.done)
      return fmt::format("sums {} over term {}, where its reduction plan begins a part", name(c.tensor, c.rect), cut);
  if (g.out_bf16 && (c.first != 0 || c.done != extent(c.tensor) || c.tensor == Tensor::kDW))
    return fmt::format("rounds {} to bf16 with terms {} to {} of {}", name(c.tensor, c.rect), c.first, c.done,
                       extent(c.tensor));
  macs_[static_cast<std::size_t>(c.tensor)] += static_cast<std::uint64_t>(g.m) * g.n * g.k;
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
  if (c.done == 0 || p.done == 0) return "adds tiles that are no sums";
  if (p.tensor != c.tensor || !(p.rect == c.rect))
    return fmt::format("adds {} to {}", name(p.tensor, p.rect), name(c.tensor, c.rect));
  // Ascending, one part at a time, each complete: the plan's order of additions.
  const std::vector<std::uint32_t> &cuts = compiled_.reductions.of(c.tensor);
  const auto cut = std::find(cuts.begin(), cuts.end(), p.first);
  if (c.first != 0 || c.done != p.first || cut == cuts.end() ||
      p.done != (cut + 1 == cuts.end() ? extent(c.tensor) : *(cut + 1)))
    return fmt::format("adds terms {} to {} to terms {} to {} of {}, which is not in the reduction plan", p.first,
                       p.done, c.first, c.done, name(c.tensor, c.rect));
  c.done = p.done;
  if (command.out_bf16 && (c.done != extent(c.tensor) || c.tensor == Tensor::kDW))
    return fmt::format("rounds {} to bf16 after {} of {} terms", name(c.tensor, c.rect), c.done, extent(c.tensor));
  put(v.cout, c);
  return {};
}

std::string ContentReplay::step(const isa::Decoded &command, const SyncReplay &sync) {
  if (const auto *g = std::get_if<isa::GemmCommand>(&command.op)) return gemm(*g);
  if (const auto *c = std::get_if<isa::AddCommand>(&command.op)) return add(*c);
  if (const auto *d = std::get_if<isa::DmaCommand>(&command.op)) return d->store ? store(*d, sync) : load(*d, sync);
  return {};
}

std::string ContentReplay::finish() const {
  const Layer &l = compiled_.layer;
  const std::uint64_t whole = static_cast<std::uint64_t>(l.groups) * l.m * l.k * l.n;
  for (const Tensor t : {Tensor::kY, Tensor::kDX, Tensor::kDW}) {
    const auto index = static_cast<std::size_t>(t);
    const auto binding = std::find_if(compiled_.tensors.begin(), compiled_.tensors.end(),
                                      [&](const TensorBinding &b) { return b.tensor == t; });
    const bool wanted = binding != compiled_.tensors.end();
    if (wanted)
      if (const std::string problem = verify_cover(stored_[index], binding->rows, binding->cols); !problem.empty())
        return fmt::format("stores of {}: {}", to_string(t), problem);
    if (macs_[index] != (wanted ? whole : 0))
      return fmt::format("{} is computed with {} multiply-adds instead of {}", to_string(t), macs_[index],
                         wanted ? whole : 0);
  }
  return {};
}

} // namespace gradweave::compiler
