// What turning jobs into commands throws.
#pragma once

#include <stdexcept>

namespace gradweave::compiler {

/// Jobs that the NPU cannot run: what() says which, what does not fit, how large it is, and what to do.
class JobCommandsError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace gradweave::compiler
