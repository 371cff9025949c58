// What a Recorder (recorder.hpp) has written down: operations, and what they read.
#pragma once

#include "isa/vector/program.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

namespace gradweave::vector {

class Recorder;

/// A program that does not fit the machine: more registers, scalars or instructions than there are. what() says which.
class RecordingError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// What an operation may read: a constant, a tile's line, or the result of an operation; its sign may be modified.
struct RecordedValue {
  enum class Kind : std::uint8_t { kConstant, kTile, kResult };
  Recorder *recorder = nullptr; ///< null for a constant
  Kind kind = Kind::kConstant;
  std::uint32_t number = 0; ///< bits of a constant; else which tile, which result
  bool neg = false;
  bool abs = false;
};

struct RecordedOperation {
  isa::vector::Op op;
  std::vector<RecordedValue> operands;
  std::uint32_t number = 0; ///< by which it shifts, which index it gives
  unsigned section = 0;
  std::uint32_t result = 0;       ///< which value or variable it gives
  std::optional<unsigned> output; ///< instead
};

struct Recording {
  std::vector<RecordedOperation> operations;
  std::uint32_t results = 0; ///< so many values and variables there are
};

} // namespace gradweave::vector
