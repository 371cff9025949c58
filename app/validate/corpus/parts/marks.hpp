// MARKs in a random stream that had none.
#pragma once

#include "isa/command.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::corpus {

/// Some of the store engine's SYNCs become MARKs, with their waits and posts, and MARKs that wait for nothing come
/// between; by the dice of `seed`, in two thirds of the streams. At most kMostMarks, which is what the log holds:
/// nobody takes one from the log of a stream that was submitted whole. Results and ends of a stream stay what they
/// were.
void add_marks(std::vector<isa::Command> &stream, std::uint64_t seed);

inline constexpr std::uint32_t kMostMarks = 16;

} // namespace gradweave::corpus
