#include "graph/onnx/nodes/reshape.hpp"

#include <algorithm>

namespace gradweave::graph::onnx {
namespace {

/// Dimensions before and behind that are products of one another: [begin, end) of each.
struct Group {
  std::size_t old_begin, old_end, new_begin, new_end;
};

std::vector<Group> groups_of(const Dims &before, const Dims &behind) {
  std::vector<Group> groups;
  std::size_t i = 0, j = 0;
  while (i < before.size() || j < behind.size()) {
    Group group{i, i, j, j};
    std::int64_t a = 1, b = 1;
    do {
      if ((a <= b && i < before.size()) || j == behind.size())
        a *= before[i++];
      else
        b *= behind[j++];
    } while (a != b && (i < before.size() || j < behind.size()));
    // What is 1 goes with its neighbour.
    if (i < before.size() && j == behind.size()) i = before.size();
    if (j < behind.size() && i == before.size()) j = behind.size();
    group.old_end = i;
    group.new_end = j;
    groups.push_back(group);
  }
  return groups;
}

/// Groups in the order in which the tensor has their first long dimension, or of 1s the first one.
std::vector<Group> as_stored(std::vector<Group> groups, const Value &x) {
  const auto first = [&x](const Group &group) {
    std::size_t place = x.rank(), of_ones = x.rank();
    for (std::size_t axis = group.old_begin; axis < group.old_end; ++axis) {
      std::size_t &first_place = x.dims[axis] != 1 ? place : of_ones;
      first_place = std::min(first_place, place_in(x.order, axis));
    }
    return place != x.rank() ? place : of_ones;
  };
  std::sort(groups.begin(), groups.end(), [&](const Group &a, const Group &b) {
    return std::pair(first(a), a.new_begin) < std::pair(first(b), b.new_begin);
  });
  return groups;
}

bool flattens_image(const Value &x, const Dims &dims) {
  return x.rank() > 2 && x.order == image_order(x.rank()) && dims.size() == 2 && dims[0] == x.dims[0] &&
         x.dims[1] > 1 && dims[1] != x.dims[1];
}

TensorId reshape_op(NodeImport &node, TensorId tensor, const Dims &stored, bool last) {
  if (numbers(node.build.shape(tensor)) == stored) return tensor;
  const Attributes attributes{{"shape", stored}};
  return last ? node.last("Reshape", {tensor}, attributes) : node.step("Reshape", {tensor}, attributes);
}

} // namespace

Value reshaped_value(NodeImport &node, const Value &x, const Dims &dims, bool last) {
  if (dims == x.dims) return x;
  Value result;
  result.kind = x.kind;
  result.dims = dims;
  shape_of(node.build, x.name, dims); // no dimension of 0
  if (x.tensor == kNone || x.channels != 0) {
    result.tensor = reshape_op(node, node.place.plain(x), dims, last);
    result.order = plain_order(dims.size());
    return result;
  }
  if (flattens_image(x, dims)) {
    result.tensor = reshape_op(node, x.tensor, dims, last);
    result.order = {0, 1};
    result.channels = x.dims[1];
    return result;
  }
  Order regrouped, order;
  for (const Group &group : as_stored(groups_of(x.dims, dims), x)) {
    for (std::size_t axis = group.old_begin; axis < group.old_end; ++axis)
      regrouped.push_back(axis);
    for (std::size_t axis = group.new_begin; axis < group.new_end; ++axis)
      order.push_back(axis);
  }
  const bool lies = same_elements(x.dims, x.order, regrouped);
  result.tensor = reshape_op(node, lies ? x.tensor : node.place.in_order(x, regrouped), ordered(dims, order), last);
  result.order = order;
  return result;
}

} // namespace gradweave::graph::onnx
