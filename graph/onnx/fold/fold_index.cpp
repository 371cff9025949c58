// What is known, taken and put by indices, cut, and dequantised.
#include "graph/onnx/fold/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradweave::graph::onnx {
namespace {

using Dims = std::vector<std::int64_t>;

/// An index of an axis, counted from its end if it is below 0.
std::int64_t checked_index(const FoldInputs &in, std::int64_t index, std::int64_t size) {
  if (index >= -size && index < size) return index < 0 ? index + size : index;
  if (in.sample && size > 0) return 0;
  in.node.fail(fmt::format("index {} is none of the {} of its dimension", index, size));
}

const Literal &indices_in(const FoldInputs &in, std::size_t i) {
  if (in.at(i).is_real()) in.node.fail("indices must be whole numbers");
  return in.at(i);
}

void put(Literal &to, std::size_t at, const Literal &from, std::size_t i) {
  if (to.is_real())
    to.real[at] = from.real[i];
  else
    to.whole[at] = from.whole[i];
}

Literal fold_split(const FoldInputs &in) {
  const Literal &x = in.at(0);
  const std::size_t axis = in.node.axis(in.node.integer("axis", 0), x.dims.size());
  const auto count = static_cast<std::int64_t>(in.node.node().outputs.size());
  Dims sizes = in.list(1, "split", {});
  if (sizes.empty()) {
    const std::int64_t size = (x.dims[axis] + count - 1) / count;
    sizes.assign(static_cast<std::size_t>(count), size);
    sizes.back() = x.dims[axis] - size * (count - 1);
  }
  if (static_cast<std::int64_t>(sizes.size()) != count ||
      std::any_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return size < 0 || size > x.dims[axis]; }) ||
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != x.dims[axis])
    in.node.fail(fmt::format("split {} does not fit {} outputs of {}", text_of(sizes), count, text_of(x.dims)));
  Dims dims = x.dims;
  dims[axis] = sizes[in.output];
  checked_elements(in.node, dims);
  const Dims steps = steps_of(x.dims);
  const auto before = sizes.begin() + static_cast<std::ptrdiff_t>(in.output);
  return taken(x, dims, places(dims, steps, std::accumulate(sizes.begin(), before, std::int64_t{0}) * steps[axis]));
}

/// Where element i of `indices` points to in a tensor of `dims`, along the axis.
std::size_t pointed_to(const FoldInputs &in, const Dims &dims, const Literal &indices, std::size_t i,
                       std::size_t axis) {
  const Dims own = steps_of(indices.dims), theirs = steps_of(dims);
  std::int64_t at = 0, rest = static_cast<std::int64_t>(i);
  for (std::size_t a = 0; a < own.size(); ++a) {
    const std::int64_t index = rest / own[a];
    rest %= own[a];
    at += (a == axis ? checked_index(in, indices.whole[i], dims[a]) : checked_index(in, index, dims[a])) * theirs[a];
  }
  return static_cast<std::size_t>(at);
}

Literal fold_gather_elements(const FoldInputs &in) {
  const Literal &x = in.at(0), &indices = indices_in(in, 1);
  const std::size_t axis = in.node.axis(in.node.integer("axis", 0), x.dims.size());
  if (indices.dims.size() != x.dims.size()) in.node.fail("data and indices differ in their number of dimensions");
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < indices.size(); ++i)
    from.push_back(pointed_to(in, x.dims, indices, i, axis));
  return taken(x, indices.dims, from);
}

Literal fold_scatter_elements(const FoldInputs &in) {
  Literal y = in.at(0);
  const Literal &indices = indices_in(in, 1), &updates = in.at(2);
  const std::size_t axis = in.node.axis(in.node.integer("axis", 0), y.dims.size());
  if (indices.dims != updates.dims || updates.is_real() != y.is_real() || indices.dims.size() != y.dims.size() ||
      in.node.text("reduction", "none") != "none")
    in.node.fail("indices and updates must be of one shape and of the data's type, and 'reduction' none");
  for (std::size_t i = 0; i < indices.size(); ++i)
    put(y, pointed_to(in, y.dims, indices, i, axis), updates, i);
  return y;
}

/// For each row of `indices` [..., depth], where the slice begins that it names, behind `batch` shared dimensions.
struct Slices {
  std::vector<std::size_t> begin;
  std::size_t size = 1;
  Dims dims; ///< of the slices, and the rows' before
};

Slices slices_of(const FoldInputs &in, const Literal &x, const Literal &indices, std::size_t batch) {
  if (indices.dims.size() <= batch || x.dims.size() <= batch) in.node.fail("'batch_dims' are too many");
  const auto depth = static_cast<std::size_t>(indices.dims.back());
  if (!std::equal(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(batch), indices.dims.begin()))
    in.node.fail(fmt::format("indices {} and data {} differ in their first {} dimensions", text_of(indices.dims),
                             text_of(x.dims), batch));
  if (depth < 1 || depth + batch > x.dims.size())
    in.node.fail(fmt::format("indices {} do not fit {}", text_of(indices.dims), text_of(x.dims)));
  const Dims steps = steps_of(x.dims);
  Slices slices;
  slices.dims.assign(indices.dims.begin(), indices.dims.end() - 1);
  slices.dims.insert(slices.dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(batch + depth), x.dims.end());
  slices.size = static_cast<std::size_t>(steps[batch + depth - 1]);
  const std::size_t rows = indices.size() / depth;
  const Dims shared(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(batch));
  const auto batches = static_cast<std::size_t>(product_of(shared));
  const std::size_t per_batch = std::max<std::size_t>(1, rows / std::max<std::size_t>(1, batches));
  for (std::size_t row = 0; row < rows; ++row) {
    std::int64_t at = batch == 0 ? 0 : static_cast<std::int64_t>(row / per_batch) * steps[batch - 1];
    for (std::size_t d = 0; d < depth; ++d)
      at += checked_index(in, indices.whole[row * depth + d], x.dims[batch + d]) * steps[batch + d];
    slices.begin.push_back(static_cast<std::size_t>(at));
  }
  return slices;
}

Literal fold_gather_nd(const FoldInputs &in) {
  const Literal &x = in.at(0);
  const Slices slices = slices_of(in, x, indices_in(in, 1), static_cast<std::size_t>(in.node.integer("batch_dims", 0)));
  checked_elements(in.node, slices.dims);
  std::vector<std::size_t> from;
  for (const std::size_t begin : slices.begin)
    for (std::size_t i = 0; i < slices.size; ++i)
      from.push_back(begin + i);
  return taken(x, slices.dims, from);
}

Literal fold_scatter_nd(const FoldInputs &in) {
  Literal y = in.at(0);
  const Literal &updates = in.at(2);
  const Slices slices = slices_of(in, y, indices_in(in, 1), 0);
  if (updates.dims != slices.dims || updates.is_real() != y.is_real() || in.node.text("reduction", "none") != "none")
    in.node.fail(fmt::format("updates are {}; they must be {} of the data's type, and 'reduction' none",
                             text_of(updates.dims), text_of(slices.dims)));
  for (std::size_t s = 0; s < slices.begin.size(); ++s)
    for (std::size_t i = 0; i < slices.size; ++i)
      put(y, slices.begin[s] + i, updates, s * slices.size + i);
  return y;
}

Literal fold_one_hot(const FoldInputs &in) {
  const Literal &indices = indices_in(in, 0), &values = in.at(2);
  if (in.at(1).size() != 1 || values.size() != 2 || !(std::abs(in.at(1).number(0)) <= 1e9))
    in.node.fail("takes a single depth and two values, off and on");
  const auto depth = static_cast<std::int64_t>(in.at(1).number(0));
  const auto axis = in.node.axis(in.node.integer("axis", -1), indices.dims.size() + 1);
  Literal result{values.type, indices.dims};
  result.dims.insert(result.dims.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  checked_elements(in.node, result.dims);
  const std::int64_t inner = product_of({indices.dims.begin() + static_cast<std::ptrdiff_t>(axis), indices.dims.end()});
  const std::vector<std::size_t> off(static_cast<std::size_t>(product_of(result.dims)), 0);
  result = taken(values, result.dims, off);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::int64_t index = indices.whole[i];
    if (index < -depth || index >= depth) continue; // all off
    if (index < 0) index += depth;
    const std::int64_t at = static_cast<std::int64_t>(i);
    put(result, static_cast<std::size_t>((at / inner * depth + index) * inner + at % inner), values, 1);
  }
  return result;
}

Literal fold_non_zero(const FoldInputs &in) {
  const Literal &x = in.at(0);
  const Dims steps = steps_of(x.dims);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x.number(i) != 0) found.push_back(i);
  Literal result{DataType::kInt64, {static_cast<std::int64_t>(x.dims.size()), static_cast<std::int64_t>(found.size())}};
  for (std::size_t axis = 0; axis < x.dims.size(); ++axis)
    for (const std::size_t i : found)
      result.whole.push_back(static_cast<std::int64_t>(i) / steps[axis] % x.dims[axis]);
  return result;
}

Literal fold_pad(const FoldInputs &in) {
  const Literal &x = in.at(0);
  const std::size_t rank = x.dims.size();
  const Dims pads = in.list(1, "pads", {});
  if (pads.size() != 2 * rank || in.has(3) || in.node.text("mode", "constant") != "constant" ||
      std::any_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad < 0 || pad > INT32_MAX; }))
    in.node.fail("of what is known only 'constant' pads of all dimensions are computed, none below 0");
  Literal result{x.type, x.dims};
  for (std::size_t i = 0; i < rank; ++i)
    result.dims[i] += pads[i] + pads[i + rank];
  const auto count = static_cast<std::size_t>(checked_elements(in.node, result.dims));
  if (x.is_real())
    result.real.assign(count, in.has(2) ? in.at(2).number(0) : in.node.real("value", 0));
  else
    result.whole.assign(count, in.has(2) ? static_cast<std::int64_t>(in.at(2).number(0)) : 0);
  const Dims steps = steps_of(result.dims);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < rank; ++i)
    first += pads[i] * steps[i];
  const std::vector<std::size_t> to = places(x.dims, steps, first);
  for (std::size_t i = 0; i < to.size(); ++i)
    put(result, to[i], x, i);
  return result;
}

/// (x - zero point) scale, by tensor, by slice of an axis, or by block of it.
Literal fold_dequantize(const FoldInputs &in) {
  const Literal &x = in.at(0), &scale = in.at(1);
  if (x.is_real() || !scale.is_real()) in.node.fail("takes whole numbers and a real scale");
  if (in.has(2) && in.at(2).size() != scale.size()) in.node.fail("scale and zero point are not of one shape");
  std::int64_t inner = product_of(x.dims), along = 1, block = 1;
  if (scale.size() != 1) {
    const std::size_t axis = in.node.axis(in.node.integer("axis", 1), x.dims.size());
    along = std::max<std::int64_t>(1, x.dims[axis]);
    inner = product_of({x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end()});
    block = std::max<std::int64_t>(1, in.node.integer("block_size", 0));
    const bool blocked = in.node.integer("block_size", 0) > 0;
    const std::int64_t blocks = (along + block - 1) / block;
    const auto wanted = blocked ? product_of(x.dims) / along * blocks : along;
    if (static_cast<std::int64_t>(scale.size()) != wanted)
      in.node.fail(fmt::format("scale {} does not fit axis {} of {}", text_of(scale.dims), axis, text_of(x.dims)));
  }
  const bool blocked = in.node.integer("block_size", 0) > 0 && scale.size() != 1;
  Literal y{scale.type, x.dims};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    std::int64_t which = scale.size() == 1 ? 0 : at / inner % along / block;
    if (blocked) which = (at / inner / along * ((along + block - 1) / block) + which) * inner + at % inner;
    const auto s = static_cast<std::size_t>(which);
    const double zero = in.has(2) ? in.at(2).number(s) : 0;
    y.real.push_back(rounded_to(y.type, (x.number(i) - zero) * scale.real[s]));
  }
  return y;
}

} // namespace

const std::vector<NamedFolder> &index_folders() {
  static const std::vector<NamedFolder> all = {
      {"DequantizeLinear", fold_dequantize},
      {"GatherElements", fold_gather_elements},
      {"GatherND", fold_gather_nd},
      {"NonZero", fold_non_zero},
      {"OneHot", fold_one_hot},
      {"Pad", fold_pad},
      {"Scatter", fold_scatter_elements},
      {"ScatterElements", fold_scatter_elements},
      {"ScatterND", fold_scatter_nd},
      {"Split", fold_split},
  };
  return all;
}

} // namespace gradweave::graph::onnx
