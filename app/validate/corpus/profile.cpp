#include "app/validate/corpus/profile.hpp"

#include "app/validate/corpus/parts/marks.hpp"
#include "app/validate/corpus/random_stream.hpp"
#include "app/validate/corpus/timing_stream.hpp"
#include "base/random/dice.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

namespace gradweave::corpus {
namespace {

constexpr std::array<Profile, 3> kProfiles{Profile::kData, Profile::kTiming, Profile::kBoth};

/// Whole cycles that the memory needs for one access.
std::uint64_t cycles_of_an_access(const Machine &config) {
  const std::uint64_t bytes = config.memory.access_bytes != 0 ? config.memory.access_bytes : config.bus_bytes;
  return bytes * config.memory.bytes_den / config.memory.bytes_num;
}

std::uint32_t register_value(std::uint64_t cycles) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(cycles, std::numeric_limits<std::uint32_t>::max()));
}

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

DrawnStream make_stream(const Machine &config, Profile profile, std::uint64_t seed, std::uint32_t commands) {
  if (profile == Profile::kBoth) profile = seed % 2 == 0 ? Profile::kData : Profile::kTiming;
  if (profile == Profile::kData) {
    RandomStreamOptions options;
    options.seed = seed;
    options.commands = commands;
    RandomStream stream = make_random_stream(config, options);
    add_marks(stream.commands, seed);
    return {profile, false, std::move(stream.commands)};
  }
  TimingStreamOptions options;
  options.seed = seed;
  options.commands = Dice(seed).between(1, 2 * commands);
  options.dram_bytes = std::min<std::uint64_t>(1U << 20U, config.memory.size_bytes / 2);
  options.share_of_overflows = 0.002;
  TimingStream stream = make_timing_stream(config, options);
  add_marks(stream.commands, seed);
  return {profile, stream.broken, std::move(stream.commands)};
}

bool draw_ring(std::uint64_t seed) {
  constexpr std::uint64_t kSalt = 0x72696e67; // apart from what else the seed decides
  return Dice(seed ^ kSalt).chance(0.25);
}

DrawnWatchdog draw_watchdog(const Machine &config, std::uint64_t seed) {
  const std::uint64_t latency = config.memory.latency_cycles;
  const std::uint64_t pause = latency + cycles_of_an_access(config); // until a lone beat is there
  const std::uint64_t shortest = config.rows + 4;                    // that the model can follow
  const std::uint64_t enough = timing::longest_silence(config) + 1;
  Dice dice(seed);
  // Where the memory answers at once, the array's own silences can be the longest.
  if (pause <= 1 && dice.chance(0.2)) return {register_value(shortest + dice.between(0, 3)), true};
  switch (dice.below(10)) {
  case 0:
    return {timing::usual_watchdog(config), false};
  case 1:
    return {register_value(shortest + pause + dice.between(0, 16)), true};
  default:
    return {register_value(std::max(4 * latency + 3000, enough)), false};
  }
}

std::uint32_t draw_stream_offset(std::uint64_t seed) {
  Dice dice(seed + (std::uint64_t{1} << 32U)); // apart from what else the seed decides
  return dice.chance(0.5) ? 0 : static_cast<std::uint32_t>(isa::kCommandBytes * dice.below(4096 / isa::kCommandBytes));
}

} // namespace gradweave::corpus
