// A small sweep whose results are made up.
#pragma once

#include "app/sweep/run.hpp"
#include "app/sweep/store.hpp"

#include <string>
#include <vector>

namespace gradweave::sweep::test {

inline const Identity kIdentity{"study 1", "A study", "tool 1"};

/// Points "npu.rows=0", ... with keys k0, ...
inline std::vector<KeyedPoint> example_points(std::size_t count) {
  std::vector<KeyedPoint> points;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back({"k" + std::to_string(i), {{"model", "mlp"}, {"npu.rows", std::to_string(i)}}});
  return points;
}

inline Result example_result(std::size_t i) {
  Result result;
  result["cycles"] = static_cast<double>(1000 + i);
  result["milliseconds"] = 0.1 * static_cast<double>(i);
  result["pes"] = static_cast<double>(100 - i);
  return result;
}

inline std::vector<Work> example_work(std::size_t count) {
  std::vector<Work> work;
  for (std::size_t i = 0; i < count; ++i)
    work.push_back({"k" + std::to_string(i), "point " + std::to_string(i), 0.1, [i] { return example_result(i); }});
  return work;
}

} // namespace gradweave::sweep::test
