// Where the choices of a random graph come from: a seed, or the bytes of a fuzzer's input.
#pragma once

#include "base/random/dice.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gradweave::graphs {

/// A sequence of choices. From bytes, what lies behind the end is 0: who tries again and again must stop by itself.
class Choices {
public:
  explicit Choices(std::uint64_t seed) : rng_(seed) {}
  Choices(const std::uint8_t *data, std::size_t size) : at_(data), end_(data + size) {}

  /// 0 to `count` - 1; `count` is 1 to 65536.
  std::uint32_t below(std::size_t count) {
    if (rng_) return static_cast<std::uint32_t>(rng_->below(count));
    std::uint32_t value = byte();
    if (count > 256) value = value << 8U | byte();
    return static_cast<std::uint32_t>(value % count);
  }
  /// Both ends included.
  std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(std::size_t{high} - low + 1); }
  bool percent(std::uint32_t share) { return below(100) < share; }
  template <typename Container> auto &pick(Container &from) { return from[below(from.size())]; }
  template <typename Container> void shuffle(Container &c) {
    for (std::size_t i = c.size(); i > 1; --i)
      std::swap(c[i - 1], c[below(i)]);
  }

private:
  std::uint32_t byte() { return at_ == end_ ? 0U : *at_++; }

  std::optional<Dice> rng_;
  const std::uint8_t *at_ = nullptr, *end_ = nullptr;
};

} // namespace gradweave::graphs
