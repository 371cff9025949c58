#include "sw_models/config/memory_config.hpp"

#include "sw_models/config/npu_config.hpp"
#include "sw_models/config/toml_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

namespace gradweave {
namespace {

constexpr std::uint64_t kMaxFraction = 1'000'000; // keeps DRAM time in ticks far below 2^64

struct Fraction {
  std::uint64_t num = 0, den = 1;
  void reduce() {
    const std::uint64_t g = std::gcd(num, den);
    num /= g;
    den /= g;
  }
};

/// The decimal number that a user wrote: the shortest decimal that reads as the same double. Values from 0.001 to
/// 100000 have neither an exponent nor more than 20 digits.
Fraction from_decimal(double value) {
  const std::string text = fmt::format("{}", value);
  Fraction f;
  bool after_point = false;
  for (char c : text) {
    if (c == '.') {
      after_point = true;
    } else {
      f.num = f.num * 10 + static_cast<std::uint64_t>(c - '0');
      if (after_point) f.den *= 10;
    }
  }
  f.reduce();
  return f;
}

/// bandwidth / clock, exactly; {0, 1} if that takes too large numbers.
Fraction bytes_per_cycle(double bandwidth_gb_s, double clock_ghz) {
  const Fraction b = from_decimal(bandwidth_gb_s);
  const Fraction c = from_decimal(clock_ghz);
  const std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
  if (b.num == 0 || c.num == 0 || std::max({b.num, b.den, c.num, c.den}) > limit) return {0, 1};
  Fraction f{b.num * c.den, b.den * c.num};
  f.reduce();
  if (f.num > kMaxFraction || f.den > kMaxFraction) return {0, 1};
  return f;
}

} // namespace

const std::vector<MemoryKey> &memory_keys() {
  static const std::vector<MemoryKey> keys{
      {"latency_cycles", &MemoryConfig::latency_cycles, 0, 100'000, 100},
      {"turnaround_cycles", &MemoryConfig::turnaround_cycles, 0, 10'000, 8},
      {"batch_bytes", &MemoryConfig::batch_bytes, 1, 1U << 30U, 8192},
      {"refresh_cycles", &MemoryConfig::refresh_cycles, 0, 10'000, 0, true},
      {"refresh_interval_cycles", &MemoryConfig::refresh_interval_cycles, 1, 10'000'000, 3900, true}};
  return keys;
}

MemoryConfig read_memory_config(TomlSection &s, const NpuConfig &npu) {
  MemoryConfig d;
  d.size_bytes = s.integer("size_bytes", 4096, std::uint64_t{1} << 40U, "1073741824");
  d.bandwidth_gb_s = s.number("bandwidth_gb_s", 0.001, 100'000, "22");
  for (const MemoryKey &key : memory_keys())
    d.*key.field = key.optional ? s.integer32_or(key.name, key.least, key.most, key.usual)
                                : s.integer32(key.name, key.least, key.most, std::to_string(key.usual));
  d.access_bytes = s.integer32_or("access_bytes", 4, npu.bus_bytes, npu.bus_bytes);
  s.reject_unknown_keys();

  if (d.size_bytes % 4096 != 0)
    s.refuse("size_bytes", fmt::format("size_bytes = {} is not a multiple of 4096", d.size_bytes));
  const Fraction f = bytes_per_cycle(d.bandwidth_gb_s, npu.clock_ghz);
  if (f.num == 0)
    s.refuse("bandwidth_gb_s",
             fmt::format("bandwidth_gb_s = {} at clock_ghz = {} is no fraction of numbers up to {}; use fewer digits",
                         d.bandwidth_gb_s, npu.clock_ghz, kMaxFraction));
  if ((d.access_bytes & (d.access_bytes - 1)) != 0)
    s.refuse("access_bytes", fmt::format("access_bytes = {} is not a power of two; use 4 to {}, the bus_bytes",
                                         d.access_bytes, npu.bus_bytes));
  d.bytes_num = f.num;
  d.bytes_den = f.den;
  return d;
}

Fingerprint fingerprint(const MemoryConfig &memory) {
  const auto &[size, bandwidth, latency, turnaround, batch, refresh, refresh_interval, access, bytes_num, bytes_den] =
      memory; // the bandwidth counts as bytes a cycle
  return Fingerprint().add(size, latency, turnaround, batch, refresh, refresh_interval, access, bytes_num, bytes_den);
}

} // namespace gradweave
