// Workloads by hand and at random.
#pragma once

#include "sw_models/partitioned/pipeline.hpp"

#include <random>
#include <stdexcept>
#include <string>

namespace gradweave::partitioned {

/// What rounding of sums of whole cycles stays far below.
inline constexpr double kClose = 1e-9;

/// Two layers; what tests compute by hand.
inline Workload two_layers() { return {{{10, 0, 4}, {20, 30, 8}}, {{5, 0, 2}, {6, 9, 3}}, {100, 50}, {7, 3, 2}}; }

/// One to twelve layers of whole cycles.
inline Workload random_workload(std::mt19937 &random) {
  const auto draw = [&random](int from, int to) { return 1.0 * std::uniform_int_distribution<>(from, to)(random); };
  Workload workload;
  workload.maps = {draw(1, 100)};
  const int layers = std::uniform_int_distribution<>(1, 12)(random);
  for (int i = 0; i < layers; ++i) {
    workload.storage.push_back({draw(1, 1000), i == 0 ? 0 : draw(1, 1000), draw(1, 1000)});
    workload.host.push_back({draw(1, 300), i == 0 ? 0 : draw(1, 300), draw(1, 300)});
    workload.weights.push_back(draw(1, 100));
    workload.maps.push_back(draw(1, 100));
  }
  return workload;
}

/// Links that take no time.
inline Links free_links() {
  Links links;
  links.device_rate = links.root_rate = links.flash_rate = 1e18;
  links.latency = links.flash_latency = 0;
  return links;
}

/// What is said of a bad argument.
template <typename Call> std::string problem_of(const Call &call) {
  try {
    call();
  } catch (const std::invalid_argument &error) {
    return error.what();
  }
  return "accepted";
}

} // namespace gradweave::partitioned
