#include "compiler/weave/balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Pieces of each side that run together at most.
constexpr std::size_t kTogether = 2;

/// Turns in an order, with what they cost.
struct Sequence {
  std::vector<Turn> turns;
  std::vector<TileCost> before{{}}; ///< sums of the costs before each turn, and of all

  void add(const Turn &turn, const TileCost &cost) {
    turns.push_back(turn);
    before.push_back({before.back().array + cost.array, before.back().memory + cost.memory});
  }
  TileCost cost(std::size_t first, std::size_t end) const {
    return {before[end].array - before[first].array, before[end].memory - before[first].memory};
  }
  /// What turns before `turn` take, as a measure of progress.
  double progress(std::size_t turn) const { return before[turn].array + before[turn].memory; }
  double all() const { return progress(turns.size()); }

  /// The turns before which pieces of about `size` end.
  std::vector<std::size_t> ends(double size) const {
    const auto count = static_cast<std::size_t>(std::max(1.0, std::round(all() / size)));
    std::vector<std::size_t> ends{0};
    std::size_t turn = 0;
    for (std::size_t piece = 1; piece < count; ++piece) {
      const double end = all() * static_cast<double>(piece) / static_cast<double>(count);
      while (turn < turns.size() && progress(turn) < end)
        ++turn;
      ends.push_back(turn);
    }
    ends.push_back(turns.size());
    return ends;
  }
};

/// The path over pieces of two sequences that takes least.
class Balance {
public:
  Balance(const Sequence &one, const Sequence &other, double size)
      : one_(one), other_(other), one_ends_(one.ends(size)), other_ends_(other.ends(size)),
        points_(one_ends_.size() * other_ends_.size()) {
    points_.front().cost = 0;
    for (std::size_t i = 0; i < one_ends_.size(); ++i)
      for (std::size_t j = 0; j < other_ends_.size(); ++j)
        reach(i, j);
  }

  Sequence sequence() const {
    std::vector<std::pair<std::size_t, std::size_t>> path{{one_ends_.size() - 1, other_ends_.size() - 1}};
    while (path.back() != std::pair<std::size_t, std::size_t>{0, 0}) {
      const auto [i, j] = path.back();
      const Point &p = points_[i * other_ends_.size() + j];
      path.emplace_back(i - p.one, j - p.other);
    }
    Sequence all;
    for (std::size_t step = path.size() - 1; step-- > 0;)
      run(path[step + 1], path[step], all);
    return all;
  }

private:
  /// So many pieces of both done, at this cost, the last so many together.
  struct Point {
    double cost = std::numeric_limits<double>::infinity();
    std::size_t one = 0, other = 0;
  };

  void reach(std::size_t i, std::size_t j) {
    Point &here = points_[i * other_ends_.size() + j];
    for (std::size_t a = 0; a <= std::min(i, kTogether); ++a)
      for (std::size_t b = a == 0 ? 1 : 0; b <= std::min(j, kTogether); ++b) {
        const TileCost x = one_.cost(one_ends_[i - a], one_ends_[i]);
        const TileCost y = other_.cost(other_ends_[j - b], other_ends_[j]);
        const double cost =
            points_[(i - a) * other_ends_.size() + j - b].cost + std::max(x.array + y.array, x.memory + y.memory);
        if (cost < here.cost) here = {cost, a, b};
      }
  }

  /// Adds what both do from one point of the path to the next, evenly by turns.
  void run(const std::pair<std::size_t, std::size_t> &from, const std::pair<std::size_t, std::size_t> &to,
           Sequence &all) const {
    std::size_t i = one_ends_[from.first], j = other_ends_[from.second];
    const std::size_t i_end = one_ends_[to.first], j_end = other_ends_[to.second];
    const auto share = [](const Sequence &s, std::size_t first, std::size_t turn, std::size_t end) {
      const double length = s.progress(end) - s.progress(first);
      return length > 0 ? (s.progress(turn) - s.progress(first)) / length : 0;
    };
    const std::size_t i_first = i, j_first = j;
    while (i < i_end || j < j_end) {
      const bool first =
          j == j_end || (i < i_end && share(one_, i_first, i, i_end) <= share(other_, j_first, j, j_end));
      const Sequence &s = first ? one_ : other_;
      std::size_t &turn = first ? i : j;
      all.add(s.turns[turn], s.cost(turn, turn + 1));
      ++turn;
    }
  }

  const Sequence &one_, &other_;
  std::vector<std::size_t> one_ends_, other_ends_;
  std::vector<Point> points_; ///< by pieces done of one, then of the other
};

} // namespace

std::vector<Turn> balance(const std::vector<std::vector<TileCost>> &costs, std::uint32_t pieces) {
  std::vector<Sequence> jobs(costs.size());
  double all = 0;
  for (std::size_t job = 0; job < costs.size(); ++job) {
    for (std::size_t item = 0; item < costs[job].size(); ++item)
      jobs[job].add({job, item}, costs[job][item]);
    all += jobs[job].all();
  }
  Sequence together = std::move(jobs.front());
  for (std::size_t job = 1; job < jobs.size(); ++job)
    together = Balance(together, jobs[job], std::max(all, 1.0) / pieces).sequence();
  return together.turns;
}

} // namespace gradweave::compiler
