// The jobs of gradweave weave, as its command line names them.
#pragma once

#include "compiler/weave/job_set.hpp"
#include "sw_models/config/machine.hpp"

#include <string>
#include <vector>

namespace gradweave::cli {

/// Copies of a job at most.
inline constexpr std::uint32_t kMostCopies = 64;

/// A text MODEL[,NAME=VALUE...]:BATCH:PASS[:COPIES] as jobs: so many of the network with these variables and samples
/// under that pass, called as the text without copies, and "#2" and so on from the second on. `images`: convolutions
/// read images where they can (--convolution). Throws std::invalid_argument that names the text, the field and what it
/// may be, ConfigError for the network's file.
std::vector<compiler::WeaveJob> parse_job(const std::string &text, const Machine &npu, bool images);
/// The jobs of several such texts; a text that comes again goes on counting.
std::vector<compiler::WeaveJob> parse_jobs(const std::vector<std::string> &texts, const Machine &npu, bool images);

} // namespace gradweave::cli
