// What `gradweave validate --random` runs: one seed, one stream.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::corpus {

/// kData: streams whose results do not depend on timing (random_stream.hpp). kTiming: streams that crowd the hardware,
/// some of which end in an error (timing_stream.hpp). kBoth: the first for even seeds, the second for odd ones.
enum class Profile { kData, kTiming, kBoth };
/// Throws std::invalid_argument listing the names that there are.
Profile parse_profile(std::string_view name);
std::string_view to_string(Profile profile);
/// "data, timing, ...": what parse_profile() accepts.
std::string profile_names();

/// A stream, and what is meant to happen to it.
struct DrawnStream {
  Profile kind = Profile::kData; ///< kData or kTiming
  bool broken = false;           ///< by an error that was drawn; no other stream should end by one
  std::vector<isa::Command> commands;
};

/// The stream of a seed, the same everywhere, with MARKs (parts/marks.hpp). It moves data at the bottom of device
/// memory, from address 0 on. `commands`: LOADs, STOREs and GEMMs, roughly.
DrawnStream make_stream(const Machine &config, Profile profile, std::uint64_t seed, std::uint32_t commands);

/// Whether the stream of a seed comes through a ring, fed by a host (app/validate/host) of the same seed; a quarter do.
bool draw_ring(std::uint64_t seed);

struct DrawnWatchdog {
  std::uint32_t cycles = 0;
  bool may_trip = false; ///< it was drawn so short that a pause of the memory ends the run
};

/// Watchdog for the streams of the seeds around `seed`: mostly longer than every pause of this NPU and a memory that
/// works, now and then so short that it may trip.
DrawnWatchdog draw_watchdog(const Machine &config, std::uint64_t seed);
/// Where in a 4 KB page streams begin: half the time at its start, else at any command.
std::uint32_t draw_stream_offset(std::uint64_t seed);

} // namespace gradweave::corpus
