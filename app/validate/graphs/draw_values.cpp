#include "app/validate/graphs/draw_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

namespace gradweave::graphs {
namespace {

using graph::Attribute;
using graph::AttributeKind;
using graph::AttributeSpec;
using graph::Shape;
using graph::Takes;

using Numbers = std::vector<std::int64_t>;

constexpr std::array<std::uint32_t, 16> kLengths = {1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17};

/// Some are so long that tensors have to be cut.
std::uint32_t draw_length(Choices &choices) {
  constexpr std::array<std::uint32_t, 8> kLong = {24, 31, 33, 50, 64, 101, 150, 260};
  return choices.percent(8) ? choices.pick(kLong) : choices.pick(kLengths);
}

std::uint32_t draw_side(Choices &choices) {
  return choices.percent(88) ? choices.between(1, 9) : choices.between(10, 24);
}

Numbers numbers_of(const Shape &shape) { return {shape.dims().begin(), shape.dims().end()}; }

Numbers draw_pair(Choices &choices, std::uint32_t low, std::uint32_t high) {
  return {choices.between(low, high), choices.between(low, high)};
}

/// Of a window over an image [images, rows, columns, channels]; along a side that has room for it, a wide one.
Numbers draw_window(Choices &choices, const Shape &first) {
  Numbers window = draw_pair(choices, 1, 4);
  if (first.rank() != 4) return window;
  for (std::size_t axis = 0; axis < 2; ++axis)
    if (first[1 + axis] >= 10) window[axis] = 4 * window[axis] - 3;
  return window;
}

/// The same both ways, mostly.
Numbers draw_steps(Choices &choices, std::uint32_t usual) {
  const std::uint32_t both = choices.percent(usual) ? 1 : choices.between(1, 3);
  return choices.percent(75) ? Numbers{both, both} : draw_pair(choices, 1, 3);
}

/// Mostly of a window over an image; else of each axis.
Numbers draw_pads(Choices &choices, const Shape &first) {
  Numbers pads(choices.percent(50) ? 4 : 2 * first.rank());
  for (std::int64_t &pad : pads)
    pad = choices.percent(50) ? 0 : choices.between(1, 3);
  return pads;
}

Numbers draw_axes(Choices &choices, const Shape &first) {
  Numbers axes(first.rank());
  std::iota(axes.begin(), axes.end(), 0);
  choices.shuffle(axes);
  if (!axes.empty()) axes.resize(choices.between(1, static_cast<std::uint32_t>(axes.size())));
  std::sort(axes.begin(), axes.end());
  if (choices.percent(30))
    for (std::int64_t &axis : axes)
      axis -= static_cast<std::int64_t>(first.rank());
  return axes;
}

Numbers draw_permutation(Choices &choices, const Shape &first) {
  Numbers axes(first.rank());
  std::iota(axes.begin(), axes.end(), 0);
  choices.shuffle(axes);
  if (!axes.empty() && choices.percent(40)) // rows stay whole
    std::iter_swap(std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axes.size()) - 1), axes.end() - 1);
  return axes;
}

/// The elements in other dimensions: neighbours merged, dimensions split, ones put in.
Numbers draw_regrouped(Choices &choices, const Shape &first) {
  Numbers dims;
  for (const std::uint32_t dim : first.dims()) {
    const auto before = static_cast<std::int64_t>(dim);
    if (!dims.empty() && choices.percent(40)) {
      dims.back() *= before;
      continue;
    }
    const std::int64_t factor = choices.between(2, 4);
    if (choices.percent(25) && before % factor == 0) {
      dims.push_back(factor);
      dims.push_back(before / factor);
    } else {
      dims.push_back(before);
    }
    if (choices.percent(10)) dims.push_back(1);
  }
  if (!dims.empty() && choices.percent(20)) dims[choices.below(dims.size())] = -1;
  return dims;
}

/// What the first shape broadcasts to, or is summed to.
Numbers draw_broadcast(Choices &choices, const Shape &first) {
  Numbers dims = numbers_of(first);
  const bool grow = choices.percent(50);
  for (std::int64_t &dim : dims)
    if (grow && dim == 1)
      dim = choices.between(1, 5);
    else if (!grow && choices.percent(40))
      dim = 1;
  if (grow && choices.percent(30)) dims.insert(dims.begin(), choices.between(1, 4));
  if (!grow && !dims.empty() && choices.percent(30)) dims.erase(dims.begin());
  return dims;
}

Numbers draw_dimensions(Choices &choices, const Shape &first) {
  return choices.percent(50) ? draw_regrouped(choices, first) : draw_broadcast(choices, first);
}

/// Parts of some axis.
Numbers draw_parts(Choices &choices, const Shape &first, std::size_t count) {
  std::int64_t left = first.rank() == 0 ? 1 : first[choices.below(first.rank())];
  Numbers parts;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::int64_t most = left - static_cast<std::int64_t>(count - i - 1);
    parts.push_back(most < 1 ? 1 : choices.between(1, static_cast<std::uint32_t>(most)));
    left -= parts.back();
  }
  parts.push_back(left);
  return parts;
}

/// A number for each axis.
template <typename Draw> Numbers draw_each(const Shape &first, Draw draw) {
  Numbers numbers;
  for (const std::uint32_t dim : first.dims())
    numbers.push_back(draw(dim));
  return numbers;
}

Numbers draw_numbers(Choices &choices) {
  Numbers numbers(choices.between(1, 4));
  for (std::int64_t &number : numbers)
    number = choices.below(4);
  return numbers;
}

using DrawNumbers = Numbers (*)(Choices &, const Shape &, std::size_t outputs);

/// By the names that ONNX gives them.
const std::map<std::string_view, DrawNumbers> &known_lists() {
  static const std::map<std::string_view, DrawNumbers> known = {
      {"axes", [](Choices &c, const Shape &x, std::size_t) { return draw_axes(c, x); }},
      {"perm", [](Choices &c, const Shape &x, std::size_t) { return draw_permutation(c, x); }},
      {"pads", [](Choices &c, const Shape &x, std::size_t) { return draw_pads(c, x); }},
      {"shape", [](Choices &c, const Shape &x, std::size_t) { return draw_dimensions(c, x); }},
      {"split", [](Choices &c, const Shape &x, std::size_t outputs) { return draw_parts(c, x, outputs); }},
      {"strides", [](Choices &c, const Shape &, std::size_t) { return draw_steps(c, 0); }},
      {"dilations", [](Choices &c, const Shape &, std::size_t) { return draw_steps(c, 60); }},
      {"scales", [](Choices &c, const Shape &, std::size_t) { return draw_pair(c, 1, 3); }},
      {"kernel_shape", [](Choices &c, const Shape &x, std::size_t) { return draw_window(c, x); }},
      {"output_padding", [](Choices &c, const Shape &, std::size_t) { return draw_pair(c, 0, 2); }},
      {"starts",
       [](Choices &c, const Shape &x, std::size_t) {
         return draw_each(x, [&c](std::uint32_t dim) { return c.percent(50) ? 0 : std::int64_t{c.below(dim)}; });
       }},
      {"ends",
       [](Choices &c, const Shape &x, std::size_t) {
         return draw_each(x, [&c](std::uint32_t dim) {
           return c.percent(50) ? std::int64_t{dim} : c.percent(20) && dim > 1 ? -1 : std::int64_t{c.between(1, dim)};
         });
       }},
      {"steps",
       [](Choices &c, const Shape &x, std::size_t) {
         return draw_each(x, [&c](std::uint32_t) { return std::int64_t{c.percent(60) ? 1U : c.between(2, 3)}; });
       }},
  };
  return known;
}

std::int64_t draw_integer(Choices &choices, const AttributeSpec &spec, const Shape &first) {
  const auto rank = static_cast<std::uint32_t>(first.rank());
  if (spec.name == "axis" && rank > 0) return std::int64_t{choices.below(2 * rank)} - rank;
  if (spec.name == "group" && rank > 0) {
    const std::uint32_t channels = first.back();
    const std::uint32_t group = choices.percent(40) ? channels : choices.between(1, std::min(channels, 4U));
    return channels % group == 0 ? group : 1;
  }
  return std::int64_t{choices.below(4)} - (choices.percent(20) ? 2 : 0);
}

double draw_real(Choices &choices) {
  constexpr std::array<double, 9> kReals = {0.0, 0.0625, 0.1, 0.25, 0.5, 0.9, 1.0, 2.0, -0.5};
  return choices.pick(kReals);
}

/// One of the texts in quotes that the summary names.
std::optional<Attribute> draw_text(Choices &choices, std::string_view summary) {
  std::vector<std::string> texts;
  for (std::size_t at = summary.find('"'); at != std::string_view::npos; at = summary.find('"', at)) {
    const std::size_t end = summary.find('"', at + 1);
    if (end == std::string_view::npos) break;
    texts.emplace_back(summary.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  if (texts.empty()) return std::nullopt;
  return choices.pick(texts);
}

Shape draw_weights(Choices &choices, const Shape &first) {
  const std::uint32_t channels = first.back();
  if (first.rank() != 4 || choices.percent(30)) return {channels, draw_length(choices)};
  std::uint32_t groups = 1;
  if (choices.percent(40)) groups = choices.percent(50) ? channels : choices.between(1, std::min(channels, 4U));
  if (channels % groups != 0) groups = 1;
  const std::uint32_t in = channels / groups, out = choices.between(1, 6);
  const bool transposed = choices.percent(25);
  return {groups, choices.between(1, 4), choices.between(1, 4), transposed ? out : in, transposed ? in : out};
}

/// [..., k, n] for a first matrix [..., m, k]; sometimes either lies transposed.
Shape draw_matrices(Choices &choices, const Shape &first) {
  if (first.rank() < 2) return first;
  std::vector<std::uint32_t> dims = first.dims();
  const std::size_t rank = dims.size();
  const std::uint32_t inner = choices.percent(75) ? dims[rank - 1] : dims[rank - 2];
  dims[rank - 2] = inner;
  dims[rank - 1] = choices.percent(30) ? first[rank - 2] : draw_length(choices);
  if (choices.percent(40)) std::swap(dims[rank - 2], dims[rank - 1]);
  return Shape(dims);
}

/// Ones in the place of some dimensions, leading ones left out.
Shape draw_broadcast_part(Choices &choices, const Shape &first) {
  std::vector<std::uint32_t> dims = first.dims();
  for (std::uint32_t &dim : dims)
    if (choices.percent(50)) dim = dim == 1 ? choices.between(1, 4) : 1;
  dims.erase(dims.begin(), dims.begin() + (choices.percent(40) ? choices.below(dims.size()) : 0));
  return Shape(dims);
}

Shape draw_other_length(Choices &choices, const Shape &first) {
  std::vector<std::uint32_t> dims = first.dims();
  choices.pick(dims) = draw_length(choices);
  return Shape(dims);
}

/// A label a row, indices of one or two dimensions, a key of two numbers, or as the first.
Shape draw_numbers_shape(Choices &choices, const Shape &first) {
  switch (choices.below(4)) {
  case 0:
    return Shape(std::vector<std::uint32_t>(first.dims().begin(), first.dims().end() - 1));
  case 1:
    return {2};
  case 2:
    return choices.percent(50) ? Shape{draw_length(choices)} : Shape{choices.between(1, 4), draw_length(choices)};
  default:
    return first;
  }
}

} // namespace

Shape draw_shape(Choices &choices) {
  if (choices.percent(45)) {
    const std::uint32_t height = draw_side(choices);
    const std::uint32_t width = choices.percent(40) ? height : draw_side(choices);
    return {choices.between(1, 3), height, width, choices.percent(25) ? 1U : choices.between(1, 9)};
  }
  std::vector<std::uint32_t> dims(choices.percent(60) ? 2U : choices.between(1, 5));
  for (std::uint32_t &dim : dims)
    dim = dims.size() > 3 ? choices.between(1, 5) : draw_length(choices);
  if (choices.percent(6)) dims.back() = choices.between(200, 900); // no small scratchpad holds a row of each operand
  return Shape(dims);
}

Shape draw_large_image(Choices &choices, std::size_t elements) {
  constexpr std::array<std::uint32_t, 6> kChannels = {2, 2, 2, 2, 4, 9};
  const std::uint32_t batch = choices.between(1, 2), channels = choices.pick(kChannels);
  const auto side = static_cast<std::uint32_t>(std::sqrt(elements / (batch * channels)));
  return {batch, choices.between(side * 3 / 4, side), choices.between(side * 3 / 4, side), channels};
}

Shape draw_shape_beside(Choices &choices, Takes takes, const Shape &first) {
  if (first.rank() == 0) return choices.percent(80) ? first : Shape{draw_length(choices)};
  if (choices.percent(10)) return choices.percent(50) ? draw_shape(choices) : draw_other_length(choices, first);
  switch (takes) {
  case Takes::kOperand:
    return choices.percent(65) ? draw_weights(choices, first) : draw_matrices(choices, first);
  case Takes::kFp32:
    return choices.percent(85) ? Shape{first.back()} : draw_broadcast_part(choices, first);
  case Takes::kIndex:
    return draw_numbers_shape(choices, first);
  default:
    break;
  }
  if (choices.percent(40)) return first;
  return choices.percent(60) ? draw_broadcast_part(choices, first) : Shape{first.back()};
}

std::optional<Attribute> draw_attribute(Choices &choices, const AttributeSpec &spec, const Shape &first,
                                        std::size_t outputs) {
  if (spec.own || (spec.fallback && choices.percent(40))) return std::nullopt;
  switch (spec.kind) {
  case AttributeKind::kInteger:
    return draw_integer(choices, spec, first);
  case AttributeKind::kReal:
    return draw_real(choices);
  case AttributeKind::kText:
    return draw_text(choices, spec.summary);
  case AttributeKind::kIntegers:
    break;
  }
  const auto known = known_lists().find(spec.name);
  return known == known_lists().end() ? draw_numbers(choices) : known->second(choices, first, outputs);
}

} // namespace gradweave::graphs
