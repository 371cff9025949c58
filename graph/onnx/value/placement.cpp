// Values as tensors.
#include "graph/onnx/value/value.hpp"

#include "graph/onnx/fold/fold.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace gradweave::graph::onnx {
namespace {

constexpr std::int64_t kLargestConstant = 1U << 16U; ///< more real numbers are kept as frozen parameters are

Dims flat(const std::vector<Dims> &cuts) {
  Dims all;
  for (const Dims &cut : cuts)
    all.insert(all.end(), cut.begin(), cut.end());
  return all;
}

/// Of real numbers of the file, which a layer may read as its weights.
bool is_learned(const Value &value, const std::string &initial) {
  return !value.known() || (value.learnable && !initial.empty());
}

/// No dimension cut.
Arrangement in_this_order(const Value &value, const Order &order, Dims dims) {
  Arrangement arrangement{{}, order, std::move(dims)};
  for (const std::int64_t dim : value.dims)
    arrangement.cuts.push_back({dim});
  return arrangement;
}

/// The same of a blob's own dimensions, whose value may have them turned.
Arrangement of_file(const Value &value, const Arrangement &arrangement) {
  Arrangement result{std::vector<Dims>(value.rank()), {}, arrangement.dims};
  // Dimension i of the file is the value's place_in(order, i).
  std::vector<std::size_t> first(value.rank());
  std::size_t at = 0;
  for (std::size_t i = 0; i < value.rank(); ++i) {
    const std::size_t own = place_in(value.order, i);
    result.cuts[i] = arrangement.cuts[own];
    first[own] = at;
    at += result.cuts[i].size();
  }
  Order parts; // of the value's cut dimensions, where the file has them
  for (std::size_t own = 0; own < value.rank(); ++own)
    for (std::size_t c = 0; c < arrangement.cuts[own].size(); ++c)
      parts.push_back(first[own] + c);
  for (const std::size_t part : arrangement.order)
    result.order.push_back(parts[part]);
  return result;
}

} // namespace

std::vector<double> Placement::elements(const Value &value) const {
  const Literal &literal = *value.literal;
  std::vector<double> result;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (!literal.is_real() && (literal.whole[i] < INT32_MIN || literal.whole[i] > INT32_MAX))
      build_.fail(fmt::format("'{}' has {}, which is no 32-bit number", value.name, literal.whole[i]));
    result.push_back(literal.number(i));
  }
  return result;
}

Value Placement::with_blob(const Value &value) {
  if (value.blob != nullptr || !value.known() || !value.literal->is_real()) return value;
  Value result = value;
  result.order = plain_order(value.rank());
  const auto [made, fresh] = made_.try_emplace(value.name);
  if (fresh) made->second = blob_of(value.name, *value.literal);
  result.blob = &made->second;
  return result;
}

TensorId Placement::constant(const Value &value, const Dims &dims, std::vector<double> elements) {
  const Shape shape = shape_of(build_, value.name, dims);
  if (std::all_of(elements.begin(), elements.end(), [&](double e) { return e == elements[0]; })) elements.resize(1);
  return build_.constant(build_.fresh_tensor(value.name), shape, std::move(elements),
                         value.kind == Kind::kReal ? ElementType::kFp32 : ElementType::kInt32);
}

TensorId Placement::reshape(TensorId tensor, const Dims &dims, const std::string &name) {
  if (numbers(build_.shape(tensor)) == dims) return tensor;
  return build_.add("Reshape", {tensor}, {{"shape", dims}}, build_.fresh(name));
}

TensorId Placement::turned(TensorId tensor, const Order &from, const Order &to) {
  std::vector<std::int64_t> perm;
  for (const std::size_t axis : to)
    perm.push_back(static_cast<std::int64_t>(place_in(from, axis)));
  const auto [it, fresh] = turned_.try_emplace({tensor, perm}, kNone);
  if (!fresh) return it->second;
  it->second =
      build_.add("Transpose", {tensor}, {{"perm", perm}}, build_.fresh(build_.tensor(tensor).name + ".turned"));
  return it->second;
}

TensorId Placement::in_order(const Value &value, const Order &order) {
  if (value.tensor == kNone) return arranged(value, in_this_order(value, order, ordered(value.dims, order)), {});
  TensorId tensor = value.tensor;
  if (value.channels != 0) {
    const std::int64_t pixels = value.back() / value.channels, rows = product_of(value.dims) / value.back();
    const std::string name = build_.tensor(tensor).name;
    const TensorId cut = reshape(tensor, {rows, pixels, value.channels}, name + ".image");
    tensor = reshape(turned(cut, {0, 1, 2}, {0, 2, 1}), value.dims, name + ".flat");
    return order == plain_order(value.rank()) ? tensor : turned(tensor, plain_order(value.rank()), order);
  }
  if (value.order == order) return tensor;
  if (same_elements(value.dims, value.order, order))
    return reshape(tensor, ordered(value.dims, order), build_.tensor(tensor).name + ".shaped");
  return turned(tensor, value.order, order);
}

TensorId Placement::arranged(const Value &value, const Arrangement &arrangement, const std::string &initial) {
  if (value.tensor != kNone) return rearranged(value, arrangement);
  const std::string key = fmt::format("{}|{}|{}|{}", value.name, fmt::join(flat(arrangement.cuts), ","),
                                      fmt::join(arrangement.order, ","), fmt::join(arrangement.dims, ","));
  if (const auto placed = placed_.find(key); placed != placed_.end()) return placed->second;
  const bool is_large = product_of(value.dims) > kLargestConstant;
  const bool weight = value.kind == Kind::kReal && (is_learned(value, initial) || is_large);
  TensorId tensor = kNone;
  if (!weight) {
    const Dims cut = flat(arrangement.cuts);
    const std::vector<double> theirs = elements(value);
    std::vector<double> ours;
    if (!theirs.empty())
      for (const std::size_t i : places(ordered(cut, arrangement.order), ordered(steps_of(cut), arrangement.order)))
        ours.push_back(theirs[i]);
    tensor = constant(value, arrangement.dims, std::move(ours));
  } else {
    tensor = parameter(with_blob(value), arrangement, initial);
  }
  return placed_[key] = tensor;
}

TensorId Placement::parameter(const Value &value, const Arrangement &arrangement, const std::string &initial) {
  if (const auto found = parameters_.find(value.blob->name); found != parameters_.end()) {
    // Another reader has it in another arrangement: back to that of the file, and from there.
    const Origin &origin = *build_.tensor(found->second).origin;
    Order back(origin.order.size()), order(origin.order.begin(), origin.order.end());
    for (std::size_t i = 0; i < order.size(); ++i)
      back[order[i]] = i;
    Value whole = value;
    const TensorId cut = reshape(found->second, ordered(numbers(origin.cut), order), value.blob->name + ".cut");
    whole.tensor = reshape(order == plain_order(order.size()) ? cut : turned(cut, order, plain_order(order.size())),
                           value.blob->dims, value.blob->name + ".file");
    return rearranged(whole, arrangement);
  }
  const Arrangement own = of_file(value, arrangement);
  auto origin = std::make_shared<Origin>();
  origin->shape = shape_of(build_, value.name, value.blob->dims);
  origin->cut = shape_of(build_, value.name, flat(own.cuts));
  origin->order.assign(own.order.begin(), own.order.end());
  if (values_ && !value.blob->bytes.empty()) {
    origin->values = floats_of(*value.blob);
    if (own.order != plain_order(own.order.size())) origin->values = from_file(*origin, origin->values);
  }
  const std::string fresh = value.blob->fill               ? fmt::format("constant:{}", *value.blob->fill)
                            : !initial.empty()             ? initial
                            : arrangement.dims.size() >= 2 ? "lecun"
                                                           : "zeros";
  const TensorId tensor =
      build_.parameter(build_.fresh_tensor(value.blob->name), shape_of(build_, value.name, arrangement.dims), fresh,
                       value.frozen || !is_learned(value, initial));
  build_.set_origin(tensor, origin);
  return parameters_[value.blob->name] = tensor;
}

TensorId Placement::rearranged(const Value &value, const Arrangement &arrangement) {
  const std::string name = build_.tensor(value.tensor).name;
  const Dims cut = flat(arrangement.cuts);
  const TensorId tensor = reshape(in_order(value, plain_order(value.rank())), cut, name + ".cut");
  const Order order = plain_order(cut.size());
  return reshape(arrangement.order == order ? tensor : turned(tensor, order, arrangement.order), arrangement.dims,
                 name + ".arranged");
}

Value Placement::part(const Value &value, std::size_t at) {
  if (value.dims[0] == 1) return value;
  Value result = value;
  result.name = fmt::format("{}.{}", value.name, at);
  result.dims[0] = 1;
  const Value whole = with_blob(value);
  if (whole.blob == nullptr || whole.order != plain_order(value.rank())) {
    const auto begin = static_cast<std::int64_t>(at);
    result.tensor =
        build_.add("Slice", {plain(value)}, {{"starts", Dims{begin}}, {"ends", Dims{begin + 1}}, {"axes", Dims{0}}},
                   build_.fresh(result.name));
    result.order = plain_order(value.rank());
    result.blob = nullptr;
    return result;
  }
  Blob part{result.name, whole.blob->type, result.dims, {}, whole.blob->external, whole.blob->fill};
  const std::size_t bytes = whole.blob->bytes.size() / static_cast<std::size_t>(value.dims[0]);
  part.bytes = whole.blob->bytes.substr(at * bytes, bytes);
  result.literal = nullptr;
  result.blob = &parts_.try_emplace(result.name, std::move(part)).first->second;
  return result;
}

TensorId Placement::state(const Value &given, const std::string &initial) {
  const Value value = with_blob(given);
  if (value.blob == nullptr)
    build_.fail(
        fmt::format("'{}' depends on the data: running averages live on, and must be known from the file", value.name));
  if (const auto found = states_.find(value.blob->name); found != states_.end()) return found->second;
  const Shape shape = shape_of(build_, value.name, value.dims);
  auto origin = std::make_shared<Origin>(Origin{shape, shape, {0}});
  if (values_ && !value.blob->bytes.empty()) origin->values = floats_of(*value.blob);
  const std::string fresh = value.blob->fill ? fmt::format("constant:{}", *value.blob->fill) : initial;
  const TensorId tensor = build_.state(build_.fresh_tensor(value.blob->name), shape, fresh);
  build_.set_origin(tensor, origin);
  return states_[value.blob->name] = tensor;
}

TensorId Placement::beside(const Value &value, const Order &order) {
  const std::size_t lacking = order.size() - value.rank();
  Order own;
  for (const std::size_t axis : order)
    if (axis >= lacking) own.push_back(axis - lacking);
  // Dimensions of 1 that stand before all others are left out; those that are lacking are 1 wherever they stand.
  Dims dims;
  for (const std::size_t axis : order)
    if (const std::int64_t dim = axis < lacking ? 1 : value.dims[axis - lacking]; dim != 1 || !dims.empty())
      dims.push_back(dim);
  if (value.tensor == kNone) return arranged(value, in_this_order(value, own, dims), {});
  const TensorId tensor = in_order(value, own);
  return value.rank() == order.size() ? tensor : reshape(tensor, dims, build_.tensor(tensor).name + ".beside");
}

} // namespace gradweave::graph::onnx
