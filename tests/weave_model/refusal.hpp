// What a call says when it refuses.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace gradweave::weave_model {

/// The message of the std::invalid_argument that the call throws; empty: none.
inline std::string refusal(const std::function<void()> &call) {
  try {
    call();
  } catch (const std::invalid_argument &error) {
    return error.what();
  }
  return "";
}

} // namespace gradweave::weave_model
