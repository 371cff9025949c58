#include "runtime/corpus/profile.hpp"

#include "runtime/corpus/dice.hpp"
#include "runtime/corpus/random_stream.hpp"
#include "runtime/corpus/timing_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace gradweave::corpus {
namespace {

constexpr std::array<Profile, 3> kProfiles{Profile::kData, Profile::kTiming, Profile::kBoth};

} // namespace

Profile parse_profile(std::string_view name) {
  for (const Profile profile : kProfiles)
    if (name == to_string(profile)) return profile;
  throw std::invalid_argument(fmt::format("unknown profile '{}'; use one of: {}", name, profile_names()));
}

std::string profile_names() {
  std::string names;
  for (const Profile profile : kProfiles)
    names += (names.empty() ? "" : ", ") + std::string(to_string(profile));
  return names;
}

std::string_view to_string(Profile profile) {
  switch (profile) {
  case Profile::kData:
    return "data";
  case Profile::kTiming:
    return "timing";
  case Profile::kBoth:
    return "both";
  }
  return "?";
}

std::vector<isa::Command> make_stream(const NpuConfig &config, Profile profile, std::uint64_t seed,
                                      std::uint32_t commands) {
  if (profile == Profile::kBoth) profile = seed % 2 == 0 ? Profile::kData : Profile::kTiming;
  if (profile == Profile::kData) {
    RandomStreamOptions options;
    options.seed = seed;
    options.commands = commands;
    return make_random_stream(config, options).commands;
  }
  TimingStreamOptions options;
  options.seed = seed;
  options.commands = Dice(seed).between(1, 2 * commands);
  options.dram_bytes = std::min<std::uint64_t>(1U << 20U, config.dram.size_bytes / 2);
  options.share_of_overflows = 0.002;
  return make_timing_stream(config, options);
}

std::uint32_t draw_watchdog(const NpuConfig &config, std::uint64_t seed) {
  const std::uint32_t latency = config.dram.latency_cycles;
  const std::uint32_t shortest = config.rows + 4; // that the model can follow
  Dice dice(seed);
  // Where the memory answers at once, the array's own silences can be the longest.
  if (latency <= 1 && dice.chance(0.2)) return shortest + dice.between(0, 3);
  switch (dice.below(10)) {
  case 0:
    return 65536; // as after reset
  case 1:
    return shortest + latency + dice.between(0, 16);
  default:
    return 4 * latency + 3000;
  }
}

std::uint32_t draw_stream_offset(std::uint64_t seed) {
  Dice dice(seed + (std::uint64_t{1} << 32U)); // apart from what else the seed decides
  return dice.chance(0.5) ? 0 : static_cast<std::uint32_t>(isa::kCommandBytes * dice.below(4096 / isa::kCommandBytes));
}

} // namespace gradweave::corpus
