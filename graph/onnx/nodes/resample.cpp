#include "graph/onnx/nodes/resample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace gradweave::graph::onnx {
namespace {

std::string one_of(const NodeView &node, std::string_view name, const char *fallback,
                   const std::vector<std::string> &known) {
  std::string value = node.text(name, fallback);
  if (std::find(known.begin(), known.end(), value) == known.end())
    node.fail(fmt::format("attribute '{}' = '{}'; {} are computed", name, value, fmt::join(known, ", ")));
  return value;
}

/// Where an element of the result lies among those of the input.
double coordinate(const ResizeMode &mode, double at, double size, double outputs, double scale) {
  const std::string &how = mode.coordinates;
  if (how == "asymmetric") return at / scale;
  if (how == "align_corners") return outputs == 1 ? 0 : at * (size - 1) / (size * scale - 1); // not rounded down
  if (how == "pytorch_half_pixel" && outputs == 1) return 0;
  if (how == "tf_half_pixel_for_nn") return (at + 0.5) / scale;
  if (how == "half_pixel_symmetric") {
    const double whole = outputs / (size * scale); // what the length lost in rounding, shared between both ends
    return size / 2 * (1 - whole) + (at + 0.5) / scale - 0.5;
  }
  return (at + 0.5) / scale - 0.5;
}

std::int64_t nearest(const ResizeMode &mode, double at) {
  const double below = std::floor(at);
  if (mode.rounding == "floor") return static_cast<std::int64_t>(below);
  if (mode.rounding == "ceil") return static_cast<std::int64_t>(std::ceil(at));
  const bool half_up = mode.rounding == "round_prefer_ceil";
  const double rest = at - below;
  return static_cast<std::int64_t>(rest > 0.5 || (rest == 0.5 && half_up) ? below + 1 : below);
}

double filtered(const ResizeMode &mode, double away) {
  const double x = std::fabs(away), a = mode.cubic;
  if (mode.filter == ResizeMode::Filter::kLinear) return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Shares of the elements around a place, which sum to 1. Beyond the ends lie copies of the last ones, or nothing.
std::vector<Share> interpolated(const ResizeMode &mode, double at, std::int64_t size, double scale) {
  const double reach = mode.filter == ResizeMode::Filter::kLinear ? 1 : 2;
  const double shrink = mode.antialias ? std::min(1.0, scale) : 1; // a wider filter where the result is smaller
  std::map<std::int64_t, double> weights;
  double sum = 0;
  const auto first = static_cast<std::int64_t>(std::ceil(at - reach / shrink));
  for (std::int64_t i = first; static_cast<double>(i) <= at + reach / shrink; ++i) {
    const double weight = filtered(mode, (static_cast<double>(i) - at) * shrink);
    if (weight == 0 || (mode.excludes_outside && (i < 0 || i >= size))) continue;
    weights[std::clamp<std::int64_t>(i, 0, size - 1)] += weight;
    sum += weight;
  }
  std::vector<Share> shares;
  for (const auto &[from, weight] : weights)
    shares.push_back({from, weight / sum});
  return shares;
}

} // namespace

ResizeMode::ResizeMode(const NodeView &node) {
  const std::string name = one_of(node, "mode", "nearest", {"nearest", "linear", "bilinear", "cubic"});
  filter = name == "nearest" ? Filter::kNearest : name == "cubic" ? Filter::kCubic : Filter::kLinear;
  if (node.is("Upsample") || node.opset() < 11) {
    coordinates = "asymmetric";
    rounding = "floor";
  } else {
    coordinates = one_of(node, "coordinate_transformation_mode", "half_pixel",
                         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                          "tf_half_pixel_for_nn"});
    rounding = one_of(node, "nearest_mode", "round_prefer_floor",
                      {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  }
  cubic = node.real("cubic_coeff_a", -0.75);
  antialias = node.integer("antialias", 0) != 0;
  excludes_outside = node.integer("exclude_outside", 0) != 0;
}

std::vector<std::vector<Share>> shares_along(const ResizeMode &mode, std::int64_t size, std::int64_t outputs,
                                             double scale) {
  std::vector<std::vector<Share>> all;
  for (std::int64_t o = 0; o < outputs; ++o) {
    const double at =
        coordinate(mode, static_cast<double>(o), static_cast<double>(size), static_cast<double>(outputs), scale);
    if (mode.filter == ResizeMode::Filter::kNearest)
      all.push_back({{std::clamp<std::int64_t>(nearest(mode, at), 0, size - 1), 1}});
    else
      all.push_back(interpolated(mode, at, size, scale));
  }
  return all;
}

} // namespace gradweave::graph::onnx
