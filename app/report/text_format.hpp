// How numbers, layers and schedules look in tables.
#pragma once

#include "runtime/job/job.hpp"

#include <cstdint>
#include <string>

namespace gradweave::runtime {

/// 1234567 as "1.23M"; bytes and rates.
std::string human(double value);
/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);
/// 0.125 as "12.5%".
std::string percent(double fraction);
/// value / base to three places; "-" if base is 0.
std::string ratio(std::uint64_t value, std::uint64_t base);
/// "4 cores of ", nothing for one core.
std::string cores(const NpuConfig &npu);
/// "MxKxN", with groups "MxKxN x32".
std::string shape(const compiler::Layer &layer);
/// The schedule, with what it resolved to: "rearrange>dx_major".
std::string schedule_name(const JobResult &job);

} // namespace gradweave::runtime
