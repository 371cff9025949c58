// Who is at a point: processes, told apart from those that had the same number before.
#pragma once

#include <string>

namespace gradweave::sweep {

/// This process.
std::string this_owner();
/// Whether the process is there. One of another machine, or of a time before this machine was started, is not.
bool lives(const std::string &owner);

} // namespace gradweave::sweep
