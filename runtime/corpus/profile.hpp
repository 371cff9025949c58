// What `gradweave validate --random` runs: one seed, one stream.
#pragma once

#include "isa/command.hpp"
#include "sw_models/npu_config.hpp"

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

/// The stream of a seed, the same everywhere. It moves data at the bottom of device memory, from address 0 on.
/// `commands`: LOADs, STOREs and GEMMs, roughly.
std::vector<isa::Command> make_stream(const NpuConfig &config, Profile profile, std::uint64_t seed,
                                      std::uint32_t commands);

/// Watchdog for the streams of the seeds around `seed`: mostly long enough for every pause of a memory that works,
/// now and then so short that such a pause ends the run.
std::uint32_t draw_watchdog(const NpuConfig &config, std::uint64_t seed);
/// Where in a 4 KB page streams begin: half the time at its start, else at any command.
std::uint32_t draw_stream_offset(std::uint64_t seed);

} // namespace gradweave::corpus
