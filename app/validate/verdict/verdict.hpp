// What came out of a validation.
#pragma once

#include "isa/command.hpp"
#include "runtime/job/job.hpp"

#include <cstdint>
#include <string>

namespace gradweave::runtime {

/// What came out of one stream.
struct ValidationVerdict {
  std::string name, npu;
  std::uint64_t commands = 0, commands_differ = 0, counters = 0, counters_differ = 0;
  std::uint64_t marks = 0;                   ///< compared, of a run through a ring
  bool ring = false;                         ///< as the stream's host
  std::uint64_t vectors = 0;                 ///< VECTOR commands that the RTL ran to their end
  std::uint64_t cycles = 0;                  ///< of the RTL
  isa::ErrorCode end = isa::ErrorCode::NONE; ///< of the RTL
  Outcome outcome = Outcome::kPass;          ///< kMismatch: something differs, or the model failed
  std::string report;                        ///< what differs, or what went wrong; empty exactly if kPass
  std::string reproduce;
  std::string kind; ///< as the stream's
  bool error_drawn = false;
};

} // namespace gradweave::runtime
