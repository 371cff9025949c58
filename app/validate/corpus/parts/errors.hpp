// Puts errors into streams that have none: what the hardware reports, and when, is part of its timing.
#pragma once

#include "base/random/dice.hpp"
#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::corpus {

/// Makes one command illegal (every error code of dispatch has its turn), or lets one wait for `never_posted`, so that
/// the watchdog ends the run; now and then both.
void break_stream(std::vector<isa::Command> &stream, const Machine &config, std::uint8_t never_posted, Dice &dice);

/// Appends SYNCs, on all engines in random order, whose posts raise semaphore 0 above 65535.
void overflow_a_semaphore(std::vector<isa::Decoded> &stream, const NpuConfig &npu, Dice &dice);

} // namespace gradweave::corpus
