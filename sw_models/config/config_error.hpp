// What is wrong with a user's file.
#pragma once

#include <stdexcept>

namespace gradweave {

/// A user's file is wrong. what() is "FILE:LINE: problem; remedy" (the line is left out where there is none).
class ConfigError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace gradweave
