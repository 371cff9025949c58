// What is known in other places and shapes.
#include "graph/onnx/fold/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradweave::graph::onnx {
namespace {

using Dims = std::vector<std::int64_t>;

Literal with_dims(const Literal &x, Dims dims) {
  Literal result = x;
  result.dims = std::move(dims);
  return result;
}

Literal fold_identity(const FoldInputs &in) { return in.at(0); }

Literal fold_reshape(const FoldInputs &in) {
  const Dims dims = reshaped(in.node, in.at(0).dims, in.list(1, "shape", {}), in.node.integer("allowzero", 0) != 0);
  return with_dims(in.at(0), dims);
}

Literal fold_flatten(const FoldInputs &in) {
  const Dims &dims = in.at(0).dims;
  const std::int64_t rank = static_cast<std::int64_t>(dims.size()), given = in.node.integer("axis", 1);
  const std::int64_t axis = given == rank ? rank : static_cast<std::int64_t>(in.node.axis(given, dims.size()));
  return with_dims(in.at(0),
                   {product_of({dims.begin(), dims.begin() + axis}), product_of({dims.begin() + axis, dims.end()})});
}

Literal fold_unsqueeze(const FoldInputs &in) {
  return with_dims(in.at(0), unsqueezed(in.node, in.at(0).dims, in.list(1, "axes", {})));
}

Literal fold_squeeze(const FoldInputs &in) {
  Dims dims = in.at(0).dims;
  const std::vector<std::size_t> axes = squeezed_axes(in.node, dims, in.list(1, "axes", {}));
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(*axis));
  return with_dims(in.at(0), dims);
}

Literal fold_transpose(const FoldInputs &in) {
  const Literal &x = in.at(0);
  Dims order(x.dims.size());
  std::iota(order.rbegin(), order.rend(), 0);
  order = in.node.integers("perm", order);
  const Dims own = steps_of(x.dims);
  Dims dims, steps;
  if (in.node.axes(order, x.dims.size()).size() != x.dims.size())
    in.node.fail("attribute 'perm' leaves out dimensions");
  for (const std::int64_t axis : order) {
    dims.push_back(x.dims[in.node.axis(axis, x.dims.size())]);
    steps.push_back(own[in.node.axis(axis, x.dims.size())]);
  }
  return taken(x, dims, places(dims, steps));
}

Literal fold_slice(const FoldInputs &in) {
  const Literal &x = in.at(0);
  const std::vector<SliceAxis> all = sliced(in.node, x.dims, in.list(1, "starts", {}), in.list(2, "ends", {}),
                                            in.list(3, "axes", {}), in.list(4, "steps", {}));
  const Dims own = steps_of(x.dims);
  Dims dims, steps;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    dims.push_back(all[i].count);
    steps.push_back(all[i].count == 0 ? 0 : own[i] * all[i].step);
    first += all[i].count == 0 ? 0 : own[i] * all[i].start;
  }
  return taken(x, dims, places(dims, steps, first));
}

Literal fold_gather(const FoldInputs &in) {
  const Literal &x = in.at(0), &indices = in.at(1);
  if (indices.is_real()) in.node.fail("indices must be whole numbers");
  const std::size_t axis = in.node.axis(in.node.integer("axis", 0), x.dims.size());
  Dims dims(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  const std::int64_t outer = product_of(dims), along = x.dims[axis];
  const std::int64_t inner = product_of({x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end()});
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end());
  checked_elements(in.node, dims);
  std::vector<std::size_t> from;
  for (std::int64_t o = 0; o < outer; ++o)
    for (const std::int64_t index : indices.whole) {
      if (!in.sample && (index < -along || index >= along))
        in.node.fail(fmt::format("index {} is none of the {} of axis {}", index, along, axis));
      for (std::int64_t i = 0; i < inner; ++i)
        from.push_back(static_cast<std::size_t>((o * along + (index < 0 ? index + along : index)) * inner + i));
    }
  return taken(x, dims, from);
}

Literal fold_concat(const FoldInputs &in) {
  const Literal &first = in.at(0);
  const std::size_t axis = in.node.axis(in.node.integer("axis", 0), first.dims.size());
  Literal result{first.type, first.dims};
  result.dims[axis] = 0;
  for (std::size_t i = 0; i < in.literals.size(); ++i) {
    const Literal &x = in.at(i);
    const bool fits = x.dims.size() == first.dims.size() && x.is_real() == first.is_real();
    for (std::size_t a = 0; fits && a < x.dims.size(); ++a)
      if (a != axis && x.dims[a] != first.dims[a])
        in.node.fail("inputs differ in other dimensions than that of the axis");
    if (!fits) in.node.fail("inputs differ in type or number of dimensions");
    result.dims[axis] += x.dims[axis];
  }
  const std::int64_t outer = product_of({first.dims.begin(), first.dims.begin() + static_cast<std::ptrdiff_t>(axis)});
  if (checked_elements(in.node, result.dims) == 0) return result;
  for (std::int64_t o = 0; o < outer; ++o)
    for (const Literal *x : in.literals) {
      const std::size_t row = x->size() / static_cast<std::size_t>(outer), begin = static_cast<std::size_t>(o) * row;
      for (std::size_t i = begin; i < begin + row; ++i)
        if (x->is_real())
          result.real.push_back(x->real[i]);
        else
          result.whole.push_back(x->whole[i]);
    }
  return result;
}

Literal repeated(const NodeView &node, const Literal &x, const Dims &dims) {
  checked_elements(node, dims);
  return taken(x, dims, places(dims, repeated_steps(x.dims, dims)));
}

Literal fold_expand(const FoldInputs &in) {
  return repeated(in.node, in.at(0), broadcast_dims(in.node, in.at(0).dims, in.list(1, "shape", {})));
}

Literal fold_tile(const FoldInputs &in) {
  const Literal &x = in.at(0);
  const Dims repeats = in.list(1, "repeats", {});
  if (repeats.size() != x.dims.size()) in.node.fail("repeats must be as many as the dimensions");
  // [repeats, dim] for each axis, and then as one.
  Dims cut, steps, dims;
  const Dims own = steps_of(x.dims);
  for (std::size_t i = 0; i < x.dims.size(); ++i) {
    checked_elements(in.node, {repeats[i], x.dims[i]});
    cut.insert(cut.end(), {repeats[i], x.dims[i]});
    steps.insert(steps.end(), {0, own[i]});
    dims.push_back(repeats[i] * x.dims[i]);
  }
  checked_elements(in.node, dims);
  return taken(x, dims, places(cut, steps));
}

Literal fold_constant_of_shape(const FoldInputs &in) {
  return repeated(in.node, fill_of(in.node), in.list(0, "shape", {}));
}

/// What exporters of opsets below 9 write, as the older operator of the same kind is experimental.
Literal fold_constant_fill(const FoldInputs &in) {
  if (in.node.integer("input_as_shape", 0) == 0 || in.node.integer("dtype", 1) != 1 ||
      in.node.has_attribute("extra_shape"))
    in.node.fail("is taken with input_as_shape = 1, dtype = 1 (float), and no extra_shape");
  Literal number{DataType::kFloat, {}};
  number.real = {in.node.real("value", 0)};
  return repeated(in.node, number, in.list(0, "shape", {}));
}

Literal fold_range(const FoldInputs &in) {
  const Literal &start = in.at(0), &limit = in.at(1), &delta = in.at(2);
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1 || delta.is_real() != start.is_real())
    in.node.fail("start, limit and delta must be single numbers of one type");
  const double count = std::ceil((limit.number(0) - start.number(0)) / delta.number(0));
  if (!(std::abs(count) < 4194304.0)) in.node.fail("has more than 2^22 elements");
  Literal result{start.type, {std::max<std::int64_t>(0, static_cast<std::int64_t>(count))}};
  checked_elements(in.node, result.dims);
  for (std::int64_t i = 0; i < result.dims[0]; ++i)
    if (start.is_real())
      result.real.push_back(rounded_to(start.type, start.real[0] + static_cast<double>(i) * delta.number(0)));
    else
      result.whole.push_back(
          static_cast<std::int64_t>(static_cast<std::uint64_t>(start.whole[0]) +
                                    static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(delta.whole[0])));
  return result;
}

Literal fold_where(const FoldInputs &in) {
  const Literal &mask = in.at(0), &a = in.at(1), &b = in.at(2);
  if (mask.is_real() || a.is_real() != b.is_real()) in.node.fail("inputs are of types that do not fit");
  const Dims dims = broadcast_dims(in.node, mask.dims, broadcast_dims(in.node, a.dims, b.dims));
  checked_elements(in.node, dims);
  const auto from_mask = places(dims, repeated_steps(mask.dims, dims));
  const auto from_a = places(dims, repeated_steps(a.dims, dims)), from_b = places(dims, repeated_steps(b.dims, dims));
  Literal result{a.type, dims};
  for (std::size_t i = 0; i < from_mask.size(); ++i) {
    const bool first = mask.whole[from_mask[i]] != 0;
    if (a.is_real())
      result.real.push_back(first ? a.real[from_a[i]] : b.real[from_b[i]]);
    else
      result.whole.push_back(first ? a.whole[from_a[i]] : b.whole[from_b[i]]);
  }
  return result;
}

Literal fold_trilu(const FoldInputs &in) {
  Literal result = in.at(0);
  if (result.dims.size() < 2) in.node.fail("input has no rows and columns");
  const std::int64_t cols = result.dims.back(), rows = result.dims[result.dims.size() - 2];
  const std::int64_t diagonal = in.has(1) && in.at(1).size() == 1 && !in.at(1).is_real() ? in.at(1).whole[0] : 0;
  const bool upper = in.node.integer("upper", 1) != 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t row = at / cols % rows, col = at % cols;
    const bool kept = upper ? col - row >= diagonal : col - row <= diagonal;
    if (!kept && result.is_real()) result.real[i] = 0;
    if (!kept && !result.is_real()) result.whole[i] = 0;
  }
  return result;
}

} // namespace

Literal fill_of(const NodeView &node) {
  Literal value{DataType::kFloat, {}, {}, {0}};
  if (!node.has_attribute("value")) return value;
  const auto *const blob = std::get_if<Blob>(&node.node().attributes.at("value"));
  if (blob == nullptr || blob->external || blob->elements() != 1) node.fail("attribute 'value' is no single number");
  value = literal_of(*blob);
  value.dims = {};
  return value;
}

const std::vector<NamedFolder> &move_folders() {
  static const std::vector<NamedFolder> all = {
      {"Identity", fold_identity},
      {"Reshape", fold_reshape},
      {"Flatten", fold_flatten},
      {"Unsqueeze", fold_unsqueeze},
      {"Squeeze", fold_squeeze},
      {"Transpose", fold_transpose},
      {"Slice", fold_slice},
      {"Gather", fold_gather},
      {"Concat", fold_concat},
      {"Expand", fold_expand},
      {"Tile", fold_tile},
      {"ConstantOfShape", fold_constant_of_shape},
      {"ConstantFill", fold_constant_fill},
      {"Range", fold_range},
      {"Where", fold_where},
      {"Trilu", fold_trilu},
  };
  return all;
}

} // namespace gradweave::graph::onnx
