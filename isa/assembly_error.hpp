// What is thrown for text or files that are no commands.
#pragma once

#include <stdexcept>

namespace gradweave::isa {

/// what() is "NAME:LINE:COLUMN: problem; remedy", or "NAME: problem; remedy" for binary files.
class AssemblyError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace gradweave::isa
