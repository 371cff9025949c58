// The numbers behind access_probe.sv, in the library of the test NPU.
#include <array>
#include <cstddef>
#include <cstdint>

namespace {

/// As access_probe_pkg has them, then bursts.
constexpr std::size_t kKinds = 11, kDirections = 2;
std::array<std::uint64_t, kKinds + kDirections> counts{};
std::uint64_t access_bytes = 1;

} // namespace

extern "C" {

/// Called by the RTL.
void gradweave_count_access(int what, int amount) {
  counts.at(static_cast<std::size_t>(what)) += static_cast<std::uint64_t>(amount);
}

/// A burst whose wanted bytes are [first, last], from its aligned address on.
void gradweave_count_burst(int write, int first, int last) {
  const std::uint64_t accesses =
      static_cast<std::uint64_t>(last) / access_bytes - static_cast<std::uint64_t>(first) / access_bytes + 1;
  counts.at(kKinds + static_cast<std::size_t>(write)) += accesses * access_bytes;
}

/// Begins anew; the DRAM has accesses of so many bytes. Returns where the numbers will be: those of access_probe_pkg,
/// then bytes of DRAM reads and writes.
__attribute__((visibility("default"))) const std::uint64_t *gradweave_begin_access_counts(std::uint64_t bytes) {
  access_bytes = bytes;
  counts = {};
  return counts.data();
}
}
