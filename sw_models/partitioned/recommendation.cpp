#include "sw_models/partitioned/recommendation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gradweave::partitioned {
namespace {

void check(const Recommendation &p, std::uint32_t dimension) {
  if (dimension == 0 || p.batch == 0 || p.vectors == 0)
    throw std::invalid_argument(
        fmt::format("{} requests of {} vectors of dimension {}; each must be above 0", p.batch, p.vectors, dimension));
  const auto needs = [](bool holds, const char *name, double value) {
    if (!holds || !std::isfinite(value))
      throw std::invalid_argument(fmt::format("{} of {}; see recommendation.hpp for what it may be", name, value));
  };
  needs(p.word_bytes > 0, "a word of bytes", p.word_bytes);
  needs(p.link_rate > 0, "a link bandwidth", p.link_rate);
  needs(p.storage_rate > 0, "a storage bandwidth", p.storage_rate);
  needs(p.block_bytes >= 0, "a block of bytes", p.block_bytes);
  needs(p.fixed_seconds >= 0, "a fixed time", p.fixed_seconds);
  needs(p.host_reduce_rate >= 0, "a rate of the host's sums", p.host_reduce_rate);
  needs(p.device_reduce_rate >= 0, "a rate of the device's sums", p.device_reduce_rate);
}

} // namespace

RecommendationTimes recommendation_times(const Recommendation &p, std::uint32_t dimension, bool near_storage) {
  check(p, dimension);
  const double vector = dimension * p.word_bytes, sums = p.batch * vector, rows = sums * p.vectors;
  const double blocks =
      p.block_bytes > 0 ? std::ceil(vector / p.block_bytes) * p.block_bytes * p.batch * p.vectors : rows;
  const double reduce_rate = near_storage ? p.device_reduce_rate : p.host_reduce_rate;
  RecommendationTimes times;
  times.read = times.write = blocks / p.storage_rate;
  times.up = times.down = (near_storage ? sums : rows) / p.link_rate;
  times.reduce = reduce_rate > 0 ? rows / reduce_rate : 0;
  times.fixed = p.fixed_seconds;
  return times;
}

double recommendation_saving(const Recommendation &p, std::uint32_t dimension) {
  return 100 *
         (1 - recommendation_times(p, dimension, true).total() / recommendation_times(p, dimension, false).total());
}

} // namespace gradweave::partitioned
