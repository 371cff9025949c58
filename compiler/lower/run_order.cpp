#include "compiler/lower/run_order.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/ir/vector_section.hpp"
#include "compiler/lower/order.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace gradweave::compiler {
namespace {

/// A product of a phase, both by index.
struct Turn {
  std::size_t plan = 0, product = 0;
};

/// Row, column, rows and columns of a tile.
using Area = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

/// All columns of a tensor, however many.
constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();

Area area_of(const Rect &rect) {
  std::uint32_t first = 0, end = 0;
  tensor_rows(rect, first, end);
  return {first, rect.col, end - first, rect.cols};
}

bool overlap(const Area &a, const Area &b) {
  const auto &[row, col, rows, cols] = a;
  const auto &[other_row, other_col, other_rows, other_cols] = b;
  return row < other_row + other_rows && other_row < row + rows && col < other_col + other_cols &&
         other_col < col + cols;
}

/// Rows that a piece of a section moves.
Area area_of(const SectionRows &rows) { return {rows.first, 0, rows.end - rows.first, kMost}; }

/// Pieces of a section count alike.
double weight(const TileProduct &p) {
  if (p.vector) return 1;
  return p.add ? 0 : static_cast<double>(p.m_size) * static_cast<double>(p.k_size) * static_cast<double>(p.n_size);
}

/// Weaves one phase at a time into those before it.
class Weaver {
public:
  Weaver(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers, const Layout &layout)
      : plans_(plans), layers_(layers), layout_(layout) {}

  void add(std::size_t plan) {
    if (plans_[plan].woven && !run_.empty())
      weave(plan);
    else if (plans_[plan].joined && !run_.empty())
      join(plan);
    else
      begin(plan);
  }
  std::vector<Slice> take() {
    end_run();
    return std::move(slices_);
  }

private:
  /// How many products of the run come before whatever reads a tile.
  using Behind = std::map<Area, std::size_t>;
  struct Written {
    Behind tiles;
    bool by_memory = false; ///< between sections and products
  };
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  const TileProduct &product(const Turn &at) const { return plans_[at.plan].products[at.product]; }
  void begin(std::size_t plan);
  void join(std::size_t plan);
  void weave(std::size_t plan);
  void end_run();
  void find_written(std::size_t plan);
  std::size_t behind(std::int32_t binding, const Area &read);
  std::size_t behind_operands(std::size_t plan, const TileProduct &p);

  const std::vector<PhasePlan> &plans_;
  const std::vector<Layer> &layers_;
  const Layout &layout_;
  std::vector<Turn> run_;  ///< the phases that are woven together, so far
  std::size_t leader_ = 0; ///< the first of them
  std::vector<Slice> slices_;
  std::map<std::int32_t, Written> written_; ///< by the run, of each binding that the phase reads
  std::map<std::int32_t, Behind> known_;    ///< likewise, of what it reads
  std::size_t sections_end_ = 0;            ///< how many products of the run come before a piece of a new section
};

void Weaver::begin(std::size_t plan) {
  end_run();
  leader_ = plan;
  const bool alone = plan + 1 == plans_.size() || !(plans_[plan + 1].woven || plans_[plan + 1].joined);
  if (alone)
    slices_.push_back({plan, 0, plans_[plan].products.size(), plan, true});
  else
    join(plan);
}

void Weaver::join(std::size_t plan) {
  const std::size_t count = plans_[plan].products.size();
  run_.reserve(run_.size() + count);
  for (std::size_t i = 0; i < count; ++i)
    run_.push_back({plan, i});
}

void Weaver::end_run() {
  bool begins = true;
  for (const Turn &at : run_) {
    const bool goes_on = !begins && slices_.back().plan == at.plan && slices_.back().end == at.product;
    if (goes_on)
      ++slices_.back().end;
    else
      slices_.push_back({at.plan, at.product, at.product + 1, leader_, begins});
    begins = false;
  }
  run_.clear();
}

/// What the run writes of the tensors that the phase reads.
void Weaver::find_written(std::size_t plan) {
  written_.clear();
  known_.clear();
  if (const auto &section = plans_[plan].section)
    for (const SectionOperand &operand : section->operands)
      written_.try_emplace(layout_.place(operand.layer, operand.tensor));
  for (const TileProduct &p : plans_[plan].products) {
    if (p.add || p.vector) continue;
    const Contraction &c = contraction_of(p.result);
    for (const Tensor t : {c.a, c.b})
      written_.try_emplace(layout_.place(p.layer, t));
  }
  sections_end_ = 0;
  for (std::size_t i = 0; i < run_.size(); ++i) {
    const TileProduct &p = product(run_[i]);
    if (p.vector) sections_end_ = i + 1;
    const auto tensor = written_.find(layout_.place(p.layer, p.result));
    if (tensor == written_.end()) continue;
    Written &written = tensor->second;
    written.by_memory = p.vector || plans_[plan].section != nullptr;
    if (!p.vector)
      written.tiles[area_of(roles(p, layers_[p.layer]).c_rect)] = i + 1;
    else if (const VectorPiece &piece = plans_[run_[i].plan].section->piece(p); piece.stored_rows > 0)
      written.tiles[area_of(piece.stored)] = i + 1;
  }
}

std::size_t Weaver::behind(std::int32_t binding, const Area &read) {
  const auto [known, is_new] = known_[binding].try_emplace(read, 0);
  if (!is_new) return known->second;
  const Written &written = written_[binding];
  std::size_t &behind = known->second;
  for (const auto &[tile, last] : written.tiles)
    if (overlap(tile, read)) behind = std::max(behind, last);
  if (!written.by_memory || behind == 0) return behind;
  std::size_t next = kNever; // what is stored last is not there yet: another tile meanwhile
  for (const auto &[tile, last] : written.tiles)
    if (last > behind) next = std::min(next, last);
  if (next != kNever) behind = next;
  return behind;
}

std::size_t Weaver::behind_operands(std::size_t plan, const TileProduct &p) {
  if (p.add) return 0;
  if (p.vector) {
    std::size_t last = sections_end_;
    for (const SectionRows &rows : plans_[plan].section->piece(p).loaded)
      last = std::max(last, behind(layout_.place(rows.of.layer, rows.of.tensor), area_of(rows)));
    return last;
  }
  const GemmRoles r = roles(p, layers_[p.layer]);
  return std::max(behind(layout_.place(p.layer, r.a), area_of(r.a_rect)),
                  behind(layout_.place(p.layer, r.b), area_of(r.b_rect)));
}

void Weaver::weave(std::size_t plan) {
  find_written(plan);
  const std::vector<TileProduct> &woven = plans_[plan].products;
  double all = 0, left = 0;
  for (const TileProduct &p : woven)
    all += weight(p);
  for (const Turn &at : run_)
    left += weight(product(at));

  std::vector<Turn> merged;
  merged.reserve(run_.size() + woven.size());
  std::size_t next = 0; // of the run
  double done = 0, begun = 0, passed = 0;
  for (std::size_t i = 0; i < woven.size(); ++i) {
    const std::size_t first = behind_operands(plan, woven[i]);
    const auto pass = [&] {
      passed += weight(product(run_[next]));
      merged.push_back(run_[next++]);
    };
    while (next < first)
      pass();
    if (i == 0) begun = passed;
    while (next < run_.size() && (passed - begun) * all < (left - begun) * done)
      pass();
    merged.push_back({plan, i});
    done += weight(woven[i]);
  }
  merged.insert(merged.end(), run_.begin() + static_cast<std::ptrdiff_t>(next), run_.end());
  run_ = std::move(merged);
}

} // namespace

std::vector<Slice> run_order(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers,
                             const Layout &layout) {
  Weaver weaver(plans, layers, layout);
  for (std::size_t i = 0; i < plans.size(); ++i)
    weaver.add(i);
  return weaver.take();
}

} // namespace gradweave::compiler
