// What the compiler throws.
#pragma once

#include <stdexcept>

namespace gradweave::compiler {

class CompileError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A check that the compiler makes of its own work failed: the compiler is at fault, not its input.
class CompilerDefect : public CompileError {
public:
  using CompileError::CompileError;
};

} // namespace gradweave::compiler
