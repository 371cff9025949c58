#include "compiler/verify/verify_hazards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::compiler {

GemmViews::GemmViews(const isa::GemmCommand &g)
    : a{g.a, g.a_col ? g.m : g.k, g.a_col ? g.k : g.m, false}, b{g.b, g.b_col ? g.n : g.k, g.b_col ? g.k : g.n, false},
      cin{g.cin, g.m, g.n, true}, cout{g.cout, g.m, g.n, !g.out_bf16} {}

AddViews::AddViews(const isa::AddCommand &c)
    : a{c.a, c.m, c.n, true}, cin{c.cin, c.m, c.n, true}, cout{c.cout, c.m, c.n, !c.out_bf16} {}

SpmView view_of(const vector::TileUse &use) { return {use.tile.spm, use.rows, use.cols, use.tile.fp32}; }

SpmView view_of(const isa::DmaCommand &d) { return {d.spm, d.rows, d.cols, d.fp32}; }

HazardReplay::HazardReplay(const NpuConfig &npu)
    : npu_(npu), writers_(npu.spm_rows(), kNone),
      readers_(npu.engines(), std::vector<std::uint32_t>(npu.spm_rows(), kNone)), next_block_(npu.engines(), 0),
      last_add_(npu.engines(), 0), units_(npu.vectors()) {}

/// The engine's own guarantees. A vector unit executes one command after the other. Of a core: an ADD begins when all
/// before it is written, and ends before anything after it begins; initial values of a block are read after the results
/// of the third block before it, and of all earlier ones, are written.
bool HazardReplay::ordered_inside_core(std::uint32_t writer, const SpmView &view, Use use, std::size_t engine) const {
  if (use == Use::kVector || use == Use::kSum || last_add_[engine] >= places_[writer].position) return true;
  if (use != Use::kInitial) return false;
  const Blocks &w = blocks_.at(writer);
  const std::uint64_t last_needed = w.cout.same_place(view) ? w.first : w.first + w.count - 1;
  return blocks_.at(index_).first >= last_needed + 3;
}

std::string HazardReplay::read(const SpmView &view, Use use, const SyncReplay &sync) {
  std::string problem;
  std::uint32_t checked = kNone;
  std::vector<std::uint32_t> &readers = readers_[sync.engine()];
  view.for_rows(npu_.lanes(), [&](std::uint32_t row) {
    const std::uint32_t writer = writers_[row];
    readers[row] = index_;
    if (section_ && use != Use::kOperand && (writer == kNone || writer < *section_) && problem.empty())
      problem = fmt::format("reads scratchpad row {}, which its section has not written", row);
    if (writer == checked || writer == kNone || !problem.empty()) return;
    checked = writer;
    const Place &at = places_[writer];
    const bool own = at.engine == sync.engine();
    if (!sync.complete(at.engine, at.position) && !(own && ordered_inside_core(writer, view, use, sync.engine())))
      problem = fmt::format("reads scratchpad row {} without waiting for command {}, which writes it", row, writer);
  });
  return problem;
}

/// An engine's writes complete in order, and a GEMM's reads precede the writes of the next ones.
bool HazardReplay::races(std::uint32_t earlier, std::size_t engine, const SyncReplay &sync) const {
  return earlier != kNone && engine != sync.engine() && !sync.complete(engine, places_[earlier].position);
}

std::string HazardReplay::overwrite_problem(const SpmView &view, const SyncReplay &sync) const {
  std::string problem;
  const auto check = [&](std::uint32_t earlier, std::size_t engine, std::uint32_t row, const char *what) {
    if (problem.empty() && races(earlier, engine, sync))
      problem = fmt::format("writes scratchpad row {} without waiting for command {}, which {} it", row, earlier, what);
  };
  view.for_rows(npu_.lanes(), [&](std::uint32_t row) {
    if (writers_[row] != kNone) check(writers_[row], places_[writers_[row]].engine, row, "writes");
    for (std::size_t e = 0; e < readers_.size(); ++e)
      check(readers_[e][row], e, row, "reads");
  });
  return problem;
}

std::string HazardReplay::write(const SpmView &view, const SyncReplay &sync) {
  // Neighbouring rows mostly have their last accesses in common: only where these change is there something to check.
  const auto any_races = [&](const std::vector<std::uint32_t> &last, const auto &engine_of) {
    bool found = false;
    std::uint32_t checked = kNone;
    view.for_rows(npu_.lanes(), [&](std::uint32_t row) {
      if (last[row] == checked) return;
      checked = last[row];
      found = found || (checked != kNone && races(checked, engine_of(checked), sync));
    });
    return found;
  };
  bool raced = any_races(writers_, [this](std::uint32_t command) { return places_[command].engine; });
  for (std::size_t e = 0; e < readers_.size(); ++e)
    raced = raced || any_races(readers_[e], [e](std::uint32_t) { return e; });
  std::string problem = raced ? overwrite_problem(view, sync) : std::string();
  view.for_panels(npu_.lanes(), [&](std::uint32_t first, std::uint32_t end) {
    for (std::vector<std::uint32_t> &readers : readers_)
      std::fill(readers.begin() + first, readers.begin() + end, kNone);
    std::fill(writers_.begin() + first, writers_.begin() + end, index_);
  });
  return problem;
}

std::string HazardReplay::refuse_overlap(const SpmView &operand, const char *what, const SpmView &result) const {
  std::string problem;
  operand.for_panels(npu_.lanes(), [&](std::uint32_t first, std::uint32_t end) {
    result.for_panels(npu_.lanes(), [&](std::uint32_t out_first, std::uint32_t out_end) {
      if (problem.empty() && first < out_end && out_first < end)
        problem =
            fmt::format("writes its result over its own {} in scratchpad row {}", what, std::max(first, out_first));
    });
  });
  return problem;
}

/// Of streams of a million commands a few thousand are in the scratchpad.
void HazardReplay::forget_products() {
  std::unordered_map<std::uint32_t, Blocks> held;
  for (const std::uint32_t writer : writers_)
    if (const auto product = blocks_.find(writer); product != blocks_.end()) held.insert(*product);
  blocks_ = std::move(held);
}

/// A product reads its operands again after its first results are written: its result may replace only its own initial
/// values.
std::string HazardReplay::product(const isa::GemmCommand &g, std::vector<Operand> operands, const SyncReplay &sync) {
  const GemmViews v(g);
  if (blocks_.size() > 2 * writers_.size()) forget_products();
  Blocks &mine = blocks_[index_];
  mine.first = next_block_[sync.engine()];
  mine.count = static_cast<std::uint64_t>((g.m + npu_.rows - 1) / npu_.rows) * ((g.n + npu_.cols - 1) / npu_.cols);
  mine.cout = v.cout;
  next_block_[sync.engine()] += mine.count;

  if (g.acc) operands.push_back({v.cin, "initial values", Use::kInitial});
  for (const Operand &operand : operands)
    if (std::string problem = read(operand.view, operand.use, sync); !problem.empty()) return problem;
  for (const Operand &operand : operands) {
    if (operand.use == Use::kInitial && operand.view.same_place(v.cout)) continue;
    if (std::string problem = refuse_overlap(operand.view, operand.what, v.cout); !problem.empty()) return problem;
  }
  return write(v.cout, sync);
}

std::string HazardReplay::gemm(const isa::GemmCommand &g, const SyncReplay &sync) {
  const GemmViews v(g);
  return product(g, {{v.a, "operand A"}, {v.b, "operand B"}}, sync);
}

std::string HazardReplay::conv(const isa::ConvCommand &v, const SyncReplay &sync) {
  const isa::GemmCommand &g = v.product;
  std::vector<Operand> operands;
  for (const SpmView &view : image_views(v))
    operands.push_back({view, "operand A"});
  operands.push_back({{g.b, v.b_rows(), g.b_col ? g.k : g.n, false}, "operand B"});
  return product(g, std::move(operands), sync);
}

std::string HazardReplay::add(const isa::AddCommand &c, const SyncReplay &sync) {
  const AddViews v(c);
  last_add_[sync.engine()] = sync.position();
  for (const std::string &problem : {read(v.a, Use::kSum, sync), read(v.cin, Use::kSum, sync)})
    if (!problem.empty()) return problem;
  return write(v.cout, sync);
}

namespace {

/// Whether the unit has read each element that it replaces by the time it does.
bool in_place(const vector::TileUse &operand, const vector::TileUse &result) {
  const isa::VectorTile &a = operand.tile, &b = result.tile;
  const bool same_lines = a.spm.row == b.spm.row && a.spm.pstride == b.spm.pstride && a.spm.rot == b.spm.rot &&
                          a.col == b.col && a.fp32 == b.fp32 && a.by_col == b.by_col && !a.same_element;
  const bool same_steps = a.same_step == b.same_step && !a.same_step;
  return same_lines && (same_steps || (!operand.in_loop && !result.in_loop)) &&
         operand.last_section <= result.first_section;
}

} // namespace

/// Lines are read ahead of those that are written, in other sections, strips and steps.
std::string HazardReplay::vector(const isa::VectorCommand &v, const SyncReplay &sync) {
  const gradweave::vector::UnitState &unit = units_[v.unit];
  if (const auto fault = unit.fault(v)) return "the program cannot run: " + fault->text;
  const std::vector<gradweave::vector::TileUse> uses = unit.uses(v);
  for (const auto &use : uses) {
    if (use.is_result()) continue;
    if (std::string problem = read(view_of(use), Use::kVector, sync); !problem.empty()) return problem;
  }
  for (const auto &result : uses)
    for (const auto &other : uses) {
      if (!result.is_result() || other.tile.slot == result.tile.slot) continue;
      if (other.is_result() ? other.tile.slot < result.tile.slot : in_place(other, result)) continue;
      const std::string what = other.is_result() ? "result " : "operand ";
      std::string problem =
          refuse_overlap(view_of(other), (what + isa::slot_name(other.tile.slot)).c_str(), view_of(result));
      if (!problem.empty()) return problem;
    }
  for (const auto &result : uses) {
    if (!result.is_result()) continue;
    if (std::string problem = write(view_of(result), sync); !problem.empty()) return problem;
  }
  return {};
}

std::string HazardReplay::step(std::size_t index, const isa::Decoded &command, const SyncReplay &sync) {
  index_ = static_cast<std::uint32_t>(index);
  places_.resize(index + 1);
  places_[index] = {static_cast<std::uint32_t>(sync.engine()), sync.position()};
  if (const auto *g = std::get_if<isa::GemmCommand>(&command.op)) return gemm(*g, sync);
  if (const auto *c = std::get_if<isa::AddCommand>(&command.op)) return add(*c, sync);
  if (const auto *v = std::get_if<isa::ConvCommand>(&command.op)) return conv(*v, sync);
  if (const auto *p = std::get_if<isa::ProgramCommand>(&command.op)) units_[p->unit].take(*p);
  if (const auto *t = std::get_if<isa::TileCommand>(&command.op)) units_[t->unit].take(*t);
  if (const auto *v = std::get_if<isa::VectorCommand>(&command.op)) return vector(*v, sync);
  if (const auto *d = std::get_if<isa::DmaCommand>(&command.op))
    return d->store ? read(view_of(*d), Use::kDma, sync) : write(view_of(*d), sync);
  return {};
}

} // namespace gradweave::compiler
