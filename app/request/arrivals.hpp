// When which job is asked for, as gradweave serve has it.
#pragma once

#include "runtime/run/server.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gradweave::cli {

/// Requests that may be served in one run.
inline constexpr std::uint64_t kMostRequests = 1'000'000;

/// The arrivals of a text, `name` in messages: a line "CYCLE,JOB" each, JOB a job's name, or its number from 0; empty
/// lines and those that begin with # are passed over. Throws InputError that names `name`, line, field, value and
/// remedy.
std::vector<runtime::Arrival> parse_arrivals(const std::string &text, const std::string &name,
                                             const std::vector<std::string> &jobs);
/// Those of a file.
std::vector<runtime::Arrival> read_arrivals(const std::filesystem::path &file, const std::vector<std::string> &jobs);

/// `requests` arrivals of a Poisson process from a seed: gaps of `mean_gap` cycles (above 0) in the mean, each request
/// for any of `jobs` jobs alike.
std::vector<runtime::Arrival> draw_arrivals(std::uint64_t requests, double mean_gap, std::size_t jobs,
                                            std::uint64_t seed);

} // namespace gradweave::cli
