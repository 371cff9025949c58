// Sums and extremes of what is known.
#include "graph/onnx/fold/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradweave::graph::onnx {
namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrapped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::vector<std::size_t> axes_of(const FoldInputs &in, std::size_t rank) {
  const Dims asked = in.list(1, "axes", {});
  if (!asked.empty()) return in.node.axes(asked, rank);
  std::vector<std::size_t> all(in.node.integer("noop_with_empty_axes", 0) != 0 ? 0 : rank);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = i;
  return all;
}

/// `dims` with the axes as 1, or without them.
Dims without(const Dims &dims, const std::vector<std::size_t> &axes, bool keeps) {
  Dims left;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!std::binary_search(axes.begin(), axes.end(), i))
      left.push_back(dims[i]);
    else if (keeps)
      left.push_back(1);
  return left;
}

struct Start {
  std::int64_t whole;
  double real;
};

template <class Whole, class Real> Literal reduced(const FoldInputs &in, Start start, Whole whole, Real real) {
  const Literal &x = in.at(0);
  const std::vector<std::size_t> axes = axes_of(in, x.dims.size());
  const bool keeps = in.node.integer("keepdims", 1) != 0;
  Dims steps = steps_of(without(x.dims, axes, true));
  for (const std::size_t axis : axes)
    steps[axis] = 0;
  Literal result{x.type, without(x.dims, axes, keeps)};
  const auto count = static_cast<std::size_t>(product_of(result.dims));
  if (x.is_real())
    result.real.assign(count, start.real);
  else
    result.whole.assign(count, start.whole);
  const std::vector<std::size_t> to = places(x.dims, steps);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x.is_real())
      result.real[to[i]] = real(result.real[to[i]], x.real[i]);
    else
      result.whole[to[i]] = whole(result.whole[to[i]], x.whole[i]);
  for (double &value : result.real)
    value = rounded_to(x.type, value);
  return result;
}

Literal fold_reduce_sum(const FoldInputs &in) {
  return reduced(in, {0, 0}, wrapped_sum, [](double a, double b) { return a + b; });
}
Literal fold_reduce_prod(const FoldInputs &in) {
  return reduced(in, {1, 1}, wrapped_product, [](double a, double b) { return a * b; });
}
Literal fold_reduce_max(const FoldInputs &in) {
  return reduced(
      in, {INT64_MIN, -HUGE_VAL}, [](auto a, auto b) { return std::max(a, b); },
      [](double a, double b) { return std::fmax(a, b); });
}
Literal fold_reduce_min(const FoldInputs &in) {
  return reduced(
      in, {INT64_MAX, HUGE_VAL}, [](auto a, auto b) { return std::min(a, b); },
      [](double a, double b) { return std::fmin(a, b); });
}
Literal fold_reduce_mean(const FoldInputs &in) {
  Literal sum = fold_reduce_sum(in);
  const double share = sum.size() == 0 ? 1 : static_cast<double>(in.at(0).size()) / static_cast<double>(sum.size());
  for (double &value : sum.real)
    value = rounded_to(sum.type, value / share);
  for (std::int64_t &value : sum.whole)
    value /= std::max<std::int64_t>(1, static_cast<std::int64_t>(share));
  return sum;
}

/// Elements of a literal along an axis: outer x along x inner.
struct Along {
  Along(const Literal &x, std::size_t axis) : along(static_cast<std::size_t>(x.dims[axis])) {
    for (std::size_t i = axis + 1; i < x.dims.size(); ++i)
      inner *= static_cast<std::size_t>(x.dims[i]);
    lines = along == 0 ? 0 : x.size() / along;
  }
  /// Element i of a line.
  std::size_t at(std::size_t line, std::size_t i) const { return (line / inner * along + i) * inner + line % inner; }

  std::size_t along, inner = 1, lines = 0;
};

Literal fold_cum_sum(const FoldInputs &in) {
  const Literal &x = in.at(0);
  const Dims given = in.list(1, "axis", {0});
  if (given.size() != 1) in.node.fail("input 1, the axis, must be a single number");
  const Along lines(x, in.node.axis(given[0], x.dims.size()));
  const bool exclusive = in.node.integer("exclusive", 0) != 0, reverse = in.node.integer("reverse", 0) != 0;
  Literal result = x;
  for (std::size_t line = 0; line < lines.lines; ++line) {
    std::int64_t whole = 0;
    double real = 0;
    for (std::size_t i = 0; i < lines.along; ++i) {
      const std::size_t at = lines.at(line, reverse ? lines.along - 1 - i : i);
      if (x.is_real()) {
        const double with = rounded_to(x.type, real + x.real[at]);
        result.real[at] = exclusive ? real : with;
        real = with;
      } else {
        const std::int64_t with = wrapped_sum(whole, x.whole[at]);
        result.whole[at] = exclusive ? whole : with;
        whole = with;
      }
    }
  }
  return result;
}

Literal fold_arg_extreme(const FoldInputs &in) {
  const Literal &x = in.at(0);
  const std::size_t axis = in.node.axis(in.node.integer("axis", 0), x.dims.size());
  const Along lines(x, axis);
  const bool largest = in.node.is("ArgMax"), last = in.node.integer("select_last_index", 0) != 0;
  if (lines.along == 0) in.node.fail(fmt::format("axis {} of {} is empty", axis, text_of(x.dims)));
  Literal result{DataType::kInt64, without(x.dims, {axis}, in.node.integer("keepdims", 1) != 0)};
  for (std::size_t line = 0; line < lines.lines; ++line) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < lines.along; ++i) {
      const std::size_t at = lines.at(line, i), than = lines.at(line, best);
      const double a = x.number(at), b = x.number(than);
      if (largest ? a > b || (last && a == b) : a < b || (last && a == b)) best = i;
    }
    result.whole.push_back(static_cast<std::int64_t>(best));
  }
  return result;
}

/// Products of matrices, whole or real, with leading dimensions repeated.
Literal fold_mat_mul(const FoldInputs &in) {
  Literal a = in.at(0), b = in.at(1);
  if (a.is_real() != b.is_real()) in.node.fail("one input is real and the other is not");
  const bool row = a.dims.size() == 1, col = b.dims.size() == 1;
  if (row) a.dims.insert(a.dims.begin(), 1);
  if (col) b.dims.push_back(1);
  if (a.dims.size() < 2 || b.dims.size() < 2 || a.dims.back() != b.dims[b.dims.size() - 2])
    in.node.fail(fmt::format("inputs are {} and {}: the columns of one must be the rows of the other",
                             text_of(in.at(0).dims), text_of(in.at(1).dims)));
  const std::int64_t m = a.dims[a.dims.size() - 2], k = a.dims.back(), n = b.dims.back();
  const Dims lead_a(a.dims.begin(), a.dims.end() - 2), lead_b(b.dims.begin(), b.dims.end() - 2);
  Dims dims = broadcast_dims(in.node, lead_a, lead_b);
  const std::vector<std::size_t> from_a = places(dims, repeated_steps(lead_a, dims)),
                                 from_b = places(dims, repeated_steps(lead_b, dims));
  dims.insert(dims.end(), {m, n});
  constexpr double kMostProducts = 1e9;
  if (static_cast<double>(checked_elements(in.node, dims)) * static_cast<double>(k) > kMostProducts)
    in.node.fail(fmt::format("the constant {} takes more than 10^9 products", text_of(dims)));
  Literal y{a.type, dims};
  for (std::size_t batch = 0; batch < from_a.size(); ++batch)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double real = 0;
        std::int64_t whole = 0;
        for (std::int64_t t = 0; t < k; ++t) {
          const std::size_t at = (from_a[batch] * static_cast<std::size_t>(m) + static_cast<std::size_t>(i)) *
                                     static_cast<std::size_t>(k) +
                                 static_cast<std::size_t>(t);
          const std::size_t bt = (from_b[batch] * static_cast<std::size_t>(k) + static_cast<std::size_t>(t)) *
                                     static_cast<std::size_t>(n) +
                                 static_cast<std::size_t>(j);
          if (a.is_real())
            real += a.real[at] * b.real[bt];
          else
            whole = wrapped_sum(whole, wrapped_product(a.whole[at], b.whole[bt]));
        }
        if (a.is_real())
          y.real.push_back(rounded_to(a.type, real));
        else
          y.whole.push_back(whole);
      }
  if (col) y.dims.pop_back();
  if (row) y.dims.erase(y.dims.end() - (col ? 1 : 2));
  return y;
}

} // namespace

const std::vector<NamedFolder> &reduction_folders() {
  static const std::vector<NamedFolder> all = {
      {"ArgMax", fold_arg_extreme},   {"ArgMin", fold_arg_extreme},     {"CumSum", fold_cum_sum},
      {"MatMul", fold_mat_mul},       {"ReduceMax", fold_reduce_max},   {"ReduceMean", fold_reduce_mean},
      {"ReduceMin", fold_reduce_min}, {"ReduceProd", fold_reduce_prod}, {"ReduceSum", fold_reduce_sum},
  };
  return all;
}

} // namespace gradweave::graph::onnx
