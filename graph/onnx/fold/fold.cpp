#include "graph/onnx/fold/fold.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {

const Literal &FoldInputs::at(std::size_t i) const {
  if (!has(i)) node.fail(fmt::format("input {} is missing", i));
  return *literals[i];
}

std::vector<std::int64_t> FoldInputs::list(std::size_t input, std::string_view attribute,
                                           const std::vector<std::int64_t> &fallback) const {
  if (!has(input)) return node.integers(attribute, fallback);
  if (at(input).is_real()) node.fail(fmt::format("input {} must hold whole numbers", input));
  return at(input).whole;
}

Folder find_folder(std::string_view type) {
  for (const auto *const folders : {&arithmetic_folders(), &index_folders(), &move_folders(), &reduction_folders()})
    for (const NamedFolder &folder : *folders)
      if (folder.type == type) return folder.fold;
  return nullptr;
}

std::int64_t checked_elements(const NodeView &node, const std::vector<std::int64_t> &dims) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0) node.fail(fmt::format("the result {} has a dimension below 0", text_of(dims)));
    if (dim > 0 && elements > node.most() / dim)
      node.fail(fmt::format("the constant {} has more than {} elements", text_of(dims), node.most()));
    elements *= dim;
  }
  return elements;
}

Literal taken(const Literal &x, std::vector<std::int64_t> dims, const std::vector<std::size_t> &from) {
  Literal result{x.type, std::move(dims)};
  for (const std::size_t i : from)
    if (x.is_real())
      result.real.push_back(x.real[i]);
    else
      result.whole.push_back(x.whole[i]);
  return result;
}

std::vector<std::int64_t> steps_of(const std::vector<std::int64_t> &dims) {
  std::vector<std::int64_t> steps(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;)
    steps[i - 1] = steps[i] * dims[i];
  return steps;
}

std::vector<std::size_t> places(const std::vector<std::int64_t> &dims, const std::vector<std::int64_t> &steps,
                                std::int64_t first) {
  std::vector<std::size_t> from;
  const std::int64_t count = product_of(dims);
  from.reserve(static_cast<std::size_t>(count));
  std::vector<std::int64_t> index(dims.size());
  std::int64_t at = first;
  for (std::int64_t i = 0; i < count; ++i) {
    from.push_back(static_cast<std::size_t>(at));
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      at += steps[axis];
      if (++index[axis] < dims[axis]) break;
      at -= steps[axis] * dims[axis];
      index[axis] = 0;
    }
  }
  return from;
}

std::vector<std::int64_t> repeated_steps(const std::vector<std::int64_t> &dims, const std::vector<std::int64_t> &to) {
  const std::vector<std::int64_t> own = steps_of(dims);
  std::vector<std::int64_t> steps(to.size(), 0);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1) steps[to.size() - dims.size() + i] = own[i];
  return steps;
}

std::vector<std::int64_t> reshaped(const NodeView &node, const std::vector<std::int64_t> &dims,
                                   const std::vector<std::int64_t> &asked, bool zero_is_zero) {
  std::vector<std::int64_t> result = asked;
  const auto refuse = [&] { node.fail(fmt::format("{} cannot be reshaped to {}", text_of(dims), text_of(asked))); };
  std::int64_t known = 1;
  std::size_t open = asked.size();
  const std::int64_t elements = product_of(dims);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i] == 0 && !zero_is_zero) {
      if (i >= dims.size()) refuse();
      result[i] = dims[i];
    }
    if (result[i] < -1 || (result[i] == -1 && open != asked.size())) refuse();
    if (result[i] == -1)
      open = i;
    else if (result[i] != 0 && known > elements / result[i] && elements != 0)
      refuse();
    else
      known *= result[i];
  }
  if (open != asked.size()) {
    if (known == 0 || elements % known != 0) refuse();
    result[open] = elements / known;
    known *= result[open];
  }
  if (known != elements) refuse();
  return result;
}

namespace {

/// The slice of an axis of `size`, as ONNX clamps it.
SliceAxis slice_axis(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto from_end = [size](std::int64_t index) {
    return index < 0 ? std::max<std::int64_t>(index, -size - 1) + size : std::min(index, size);
  };
  SliceAxis result{0, step, 0};
  if (step > 0) {
    result.start = std::clamp<std::int64_t>(from_end(start), 0, size);
    const std::int64_t stop = std::clamp<std::int64_t>(from_end(end), 0, size);
    result.count = stop > result.start ? (stop - result.start - 1) / step + 1 : 0;
  } else {
    result.start = std::clamp<std::int64_t>(from_end(start), -1, size - 1);
    // -1 as an end means the last element; what lies before the first one is written as a large negative number.
    const std::int64_t stop = std::clamp<std::int64_t>(from_end(end), -1, size - 1);
    result.count = result.start > stop ? (result.start - stop - 1) / -step + 1 : 0;
  }
  if (result.count <= 1) result.step = 1;
  return result;
}

} // namespace

std::vector<SliceAxis> sliced(const NodeView &node, const std::vector<std::int64_t> &dims,
                              const std::vector<std::int64_t> &starts, const std::vector<std::int64_t> &ends,
                              const std::vector<std::int64_t> &axes, const std::vector<std::int64_t> &steps) {
  std::vector<SliceAxis> all;
  for (const std::int64_t dim : dims)
    all.push_back({0, 1, dim});
  if (ends.size() != starts.size() || (!axes.empty() && axes.size() != starts.size()) ||
      (!steps.empty() && steps.size() != starts.size()) || starts.size() > dims.size())
    node.fail("starts, ends, axes and steps are not of one length, or are more than the dimensions");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t at = node.axis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], dims.size(), "axes:");
    const std::int64_t step = steps.empty() ? 1 : steps[i];
    if (step == 0 || step == INT64_MIN) node.fail(fmt::format("steps has {}", step));
    all[at] = slice_axis(dims[at], starts[i], ends[i], step);
  }
  return all;
}

std::vector<std::int64_t> unsqueezed(const NodeView &node, const std::vector<std::int64_t> &dims,
                                     const std::vector<std::int64_t> &axes) {
  const std::vector<std::size_t> at = node.axes(axes, dims.size() + axes.size());
  std::vector<std::int64_t> result = dims;
  for (const std::size_t axis : at)
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return result;
}

std::vector<std::size_t> squeezed_axes(const NodeView &node, const std::vector<std::int64_t> &dims,
                                       const std::vector<std::int64_t> &axes) {
  std::vector<std::size_t> at = node.axes(axes, dims.size());
  if (axes.empty())
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (dims[i] == 1) at.push_back(i);
  for (const std::size_t axis : at)
    if (dims[axis] != 1) node.fail(fmt::format("axis {} of {} is not 1 and cannot be squeezed", axis, text_of(dims)));
  return at;
}

} // namespace gradweave::graph::onnx
