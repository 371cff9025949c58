// Turns ordering needs into semaphore waits and posts, in varied but always sufficient ways.
#pragma once

#include "app/validate/corpus/parts/hazards.hpp"
#include "base/random/dice.hpp"
#include "isa/command.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::corpus {

/// The commands with waits and posts such that every need is met whatever the timing, and SYNC commands strewn in.
///
/// Each pair (producing engine, waiting engine) owns some semaphores, so a token has one meaning: since engines
/// complete in order, taking all tokens that commands up to i posted on a semaphore proves that command i has
/// completed. Tokens are posted by commands that somebody waits for, and by some others, twice now and then; waits then
/// have counts above one. Some waits move to a SYNC before, some posts to a SYNC behind their command, and all those do
/// for which a command has no room. `needs[i]` belongs to `commands[i]`; the commands' own waits and posts must be
/// empty. `engines`: places of those that the commands use, ascending; there must be semaphores_needed() semaphores.
std::vector<isa::Decoded> synchronise(const std::vector<isa::Decoded> &commands, const std::vector<Needs> &needs,
                                      const std::vector<std::uint8_t> &engines, const NpuConfig &npu, Dice &dice);

/// One for each pair of engines that may wait for one another; only cores wait for themselves.
std::uint32_t semaphores_needed(const std::vector<std::uint8_t> &engines, const NpuConfig &npu);

} // namespace gradweave::corpus
