// How the time of measurements grows with their size.
#pragma once

#include "bench/section.hpp"

#include <cmath>
#include <string_view>
#include <vector>

namespace gradweave::bench {

/// Those measured for a series; they name it as `series`.
inline std::vector<const Json *> points_of(const std::vector<Json> &measured, std::string_view series) {
  std::vector<const Json *> points;
  for (const Json &m : measured)
    if (m["series"] == series) points.push_back(&m);
  return points;
}

/// `seconds` grow as `key` to this power: the slope of the straight line through the logarithms of two points or more.
inline double exponent(const std::vector<const Json *> &points, const char *key) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const Json *point : points) {
    const double lx = std::log(point->at(key).get<double>()), ly = std::log(point->at("seconds").get<double>());
    x += lx;
    y += ly;
    xx += lx * lx;
    xy += lx * ly;
  }
  const auto n = static_cast<double>(points.size());
  return (n * xy - x * y) / (n * xx - x * x);
}

} // namespace gradweave::bench
