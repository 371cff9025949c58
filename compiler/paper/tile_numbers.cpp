#include "compiler/paper/tile_numbers.hpp"
#include "compiler/lower/order.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler::paper {

void TileNumbers::Axis::count() {
  for (std::uint32_t &number : number_) {
    const std::uint32_t begins = number;
    number = size_;
    size_ += begins;
  }
}

TileNumbers::TileNumbers(const std::vector<TileProduct> &products, const Layer &layer, const ReductionPlans &plans)
    : layer_(layer), plans_(plans), m_(layer.m), k_(layer.k), n_(layer.n) {
  for (const TileProduct &p : products) {
    m_.mark(p.m);
    k_.mark(p.k);
    n_.mark(p.n);
  }
  for (Axis *axis : {&m_, &k_, &n_})
    axis->count();
  operands_ = layer.groups * (m_.size() * k_.size() + k_.size() * n_.size() + m_.size() * n_.size());
  for (const auto &cuts : plans.cuts)
    parts_ = std::max(parts_, static_cast<std::uint32_t>(cuts.size()) + 1);
  tiles_.reserve(products.size());
  for (const TileProduct &p : products)
    tiles_.push_back(of(p));
}

std::uint32_t TileNumbers::operand(Tensor tensor, const TileProduct &p) const {
  const auto axis = [&](Dim dim) -> const Axis & { return dim == Dim::kM ? m_ : dim == Dim::kK ? k_ : n_; };
  const std::uint32_t mk = m_.size() * k_.size(), kn = k_.size() * n_.size(), mn = m_.size() * n_.size();
  const TensorForm &form = form_of(tensor);
  const std::uint32_t before = form.row == Dim::kK ? mk : form.col == Dim::kN ? mk + kn : 0;
  return p.group * (mk + kn + mn) + before + axis(form.row)[range_of(p, form.row).first] * axis(form.col).size() +
         axis(form.col)[range_of(p, form.col).first];
}

ProductTiles TileNumbers::of(const TileProduct &p) const {
  const Contraction &c = contraction_of(p.result);
  ProductTiles t;
  t.a = operand(c.a, p);
  t.b = operand(c.b, p);
  t.sum = operand(c.result, p);
  const auto [red, size] = range_of(p, c.red);
  const bool complete = red + size == reduction_extent(p, layer_);
  t.add = p.add;
  t.first = !p.add && red == plans_.first(p.result, p.part);
  t.last = complete && (p.add || plans_.of(p.result).empty());
  if (p.add)
    t.a = t.sum + p.part * operands_;
  else
    t.sum += p.part * operands_;
  return t;
}

std::vector<NextUses> TileNumbers::next_uses() const {
  std::vector<std::uint32_t> operand(operands(), NextUses::kNever), sum(sums(), NextUses::kNever);
  std::vector<NextUses> uses(tiles_.size());
  for (std::size_t i = tiles_.size(); i-- > 0;) {
    const ProductTiles &t = tiles_[i];
    const auto now = static_cast<std::uint32_t>(i);
    uses[i].sum = std::exchange(sum[t.sum], now);
    if (t.add) {
      uses[i].a = std::exchange(sum[t.a], now);
    } else {
      uses[i].a = std::exchange(operand[t.a], now);
      uses[i].b = std::exchange(operand[t.b], now);
    }
  }
  return uses;
}

std::uint32_t TileNumbers::most_open_sums() const {
  std::uint32_t open = 0, most = 0;
  for (const ProductTiles &t : tiles_) {
    if (t.first && !t.last) most = std::max(most, ++open);
    if (t.add) --open;
    if (t.last && !t.first) --open;
  }
  return most;
}

} // namespace gradweave::compiler::paper
