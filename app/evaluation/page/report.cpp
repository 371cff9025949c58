#include "app/evaluation/page/report.hpp"

#include <cmath>
#include <limits>

namespace gradweave::evaluation {

double mean(const std::vector<double> &values) {
  double sum = 0;
  std::size_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

} // namespace gradweave::evaluation
