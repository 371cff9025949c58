#include "app/sweep/checksum.hpp"

#include "base/key/fingerprint.hpp"

namespace gradweave::sweep {

std::string checksum_of(const Identity &identity, std::size_t points) {
  const auto &[study, title, tool] = identity;
  return Fingerprint().add(study, title, tool, points).hex();
}

std::string checksum_of(std::size_t number, const KeyedPoint &point) {
  Fingerprint sum;
  sum.add(number, point.key);
  for (const auto &[name, value] : point.point)
    sum.add(name, value);
  return sum.hex();
}

std::string checksum_of(const std::string &key, const Result &result) {
  const auto &[outcome, problem, values, seconds] = result;
  Fingerprint sum;
  sum.add(key, to_string(outcome), problem, seconds);
  if (outcome == Outcome::kOk)
    for (const double value : values)
      sum.add(value);
  return sum.hex();
}

} // namespace gradweave::sweep
