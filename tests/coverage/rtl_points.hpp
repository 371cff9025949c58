// Coverage points of the RTL, read from Verilator's files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gradweave::coverage {

/// A block or branch of the source; one for all instances and parameters of its module.
struct LinePoint {
  std::string file; ///< rtl/x.sv
  std::uint32_t line = 0, column = 0;
  std::string kind; ///< block, if, else, elsif, case, ...
  std::string text; ///< the source line, without space around
  std::uint64_t count = 0;
};

/// A bit of a signal of an instance.
struct TogglePoint {
  std::string file;
  std::string signal; ///< npu.u_load.u_front.addr[3]
  std::uint64_t count = 0;
};

struct RtlPoints {
  std::vector<LinePoint> lines;     ///< by file, line, column
  std::vector<TogglePoint> toggles; ///< by signal
};

/// Of several files (of several NPUs and runs), counts added. `source_root` is the directory that the names of files
/// are made relative to and source lines are read from; points of files outside it are left out, but for those in a
/// directory `generated`. Throws std::runtime_error, with file and line, for a file that cannot be read or is not
/// Verilator's.
RtlPoints read_rtl_points(const std::vector<std::string> &files, const std::string &source_root);

} // namespace gradweave::coverage
