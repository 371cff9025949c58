#include "compiler/verify/operands/image_operands.hpp"
#include "compiler/verify/operands/operands.hpp"
#include "compiler/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace gradweave::compiler {
namespace {

/// Part of a tensor's tile, by its rectangle; ADD products gather in part 0.
using Key = std::tuple<Tensor, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

class Sums {
public:
  Sums(const Layer &layer, const ReductionPlans &plans) : layer_(layer), plans_(plans) {}

  std::string step(std::size_t index, const TileProduct &p);
  /// Whether all sums are complete; collects the result tiles.
  std::string finish(std::array<std::vector<Rect>, kTensorCount> &tiles) const;

private:
  /// What is wrong with an ADD; likewise of a GEMM.
  std::string add(const TileProduct &p, const Operands &r);
  std::string gemm(const TileProduct &p, const Operands &r);
  Key key(const TileProduct &p, const Operands &r, std::uint32_t part) const {
    // The phases of dX are counted one after the other.
    const std::uint32_t row = layer_.image && is_turned(p.result) ? p.m : r.result.row;
    return {p.result, part, row, r.result.col, r.result.rows, r.result.cols};
  }

  const Layer &layer_;
  const ReductionPlans &plans_;
  std::map<Key, std::uint32_t> done_; ///< end of the reduction so far
};

std::string Sums::add(const TileProduct &p, const Operands &r) {
  const std::uint32_t extent = terms_of(p, layer_);
  if (p.part == 0 || p.part > plans_.of(p.result).size()) return "adds a part that no plan has";
  const std::uint32_t first = plans_.first(p.result, p.part), end = plans_.end(p.result, p.part, extent);
  if (r.first != first || r.terms != end - first) return "adds another range than the plan's";
  const auto part = done_.find(key(p, r, p.part));
  const auto sum = done_.find(key(p, r, 0));
  if (part == done_.end() || part->second != end) return "adds a part that is not complete";
  if (sum == done_.end() || sum->second != first) return "adds its part to a sum that does not end there";
  sum->second = end;
  done_.erase(part);
  return {};
}

std::string Sums::gemm(const TileProduct &p, const Operands &r) {
  if (p.part > plans_.of(p.result).size()) return "has a part that no plan has";
  const std::uint32_t first = plans_.first(p.result, p.part);
  const auto it = done_.emplace(key(p, r, p.part), first).first;
  if (r.first != it->second)
    return fmt::format("continues the reduction at {}, which stands at {}", r.first, it->second);
  it->second += r.terms;
  if (it->second > plans_.end(p.result, p.part, terms_of(p, layer_))) return "reaches beyond its part";
  return {};
}

std::string Sums::step(std::size_t index, const TileProduct &p) {
  const auto [m, k, n] = extents_of(p.result, layer_);
  if (p.group >= layer_.groups || p.m_size == 0 || p.k_size == 0 || p.n_size == 0 || p.m_size > m - std::min(p.m, m) ||
      p.k_size > k - std::min(p.k, k) || p.n_size > n - std::min(p.n, n))
    return fmt::format("product {} is empty or outside the layer", index);
  if (layer_.image)
    if (std::string problem = image_product_problem(p, layer_, plans_); !problem.empty())
      return fmt::format("product {} {}", index, problem);
  const Operands r = operands_of(p, layer_);
  const std::string problem = p.add ? add(p, r) : gemm(p, r);
  if (problem.empty()) return {};
  return fmt::format("product {} of {} at ({}, {}) {}", index, to_string(p.result), r.result.row, r.result.col,
                     problem);
}

std::string Sums::finish(std::array<std::vector<Rect>, kTensorCount> &tiles) const {
  for (const auto &[key, at] : done_) {
    const auto &[result, part, row, col, rows, cols] = key;
    if (part != 0) return fmt::format("part {} of {} at ({}, {}) is never added", part, to_string(result), row, col);
    TileProduct first; // of those with this sum
    first.result = result;
    first.m = row;
    if (const std::uint32_t terms = terms_of(first, layer_); at != terms)
      return fmt::format("the reduction of {} at ({}, {}) ends at {} of {}", to_string(result), row, col, at, terms);
    tiles[static_cast<std::size_t>(result)].push_back({row, col, rows, cols});
  }
  return {};
}

} // namespace

std::string verify_order(const std::vector<TileProduct> &products, const Layer &layer, Pass pass,
                         const ReductionPlans &plans) {
  Sums sums(layer, plans);
  for (std::size_t i = 0; i < products.size(); ++i)
    if (std::string problem = sums.step(i, products[i]); !problem.empty()) return problem;
  std::array<std::vector<Rect>, kTensorCount> tiles;
  if (std::string problem = sums.finish(tiles); !problem.empty()) return problem;
  for (const Expected &e : expected_tensors(layer, pass)) {
    const std::vector<Rect> &rects = tiles[static_cast<std::size_t>(e.tensor)];
    if (!e.computed) continue;
    if (!e.wanted && !rects.empty())
      return fmt::format("{} is computed, which the pass does not need", to_string(e.tensor));
    if (!e.wanted) continue;
    if (const std::string problem = verify_cover(rects, e.rows, e.cols); !problem.empty())
      return fmt::format("{}: {}", to_string(e.tensor), problem);
  }
  return {};
}

} // namespace gradweave::compiler
