// The timing trace of commands: a CSV file, the same for the RTL and the timing model.
//
//   index,engine,opcode,layer,tile,issue,start,done
//   0,load,LOAD,ffn1,"dY[0:45,0:45]",12,13,208
//
// A row for each command, in stream order; `index` counts from 0 in every stream. Times are cycles of that stream's run
// (sw_models/timing/engines/command_times.hpp), empty if it did not happen. Engine and opcode as in command_label.hpp.
// Fields with a comma or a quote stand in double quotes, a quote inside is doubled (RFC 4180, without line breaks in
// fields).
#pragma once

#include "compiler/compiler.hpp"
#include "isa/command.hpp"
#include "sw_models/timing/engines/command_times.hpp"
#include "trace/command_label.hpp"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::runtime {

/// The first line of a trace, with its line break.
std::string_view command_trace_header();

/// The rows of one stream. `info` has an entry for each command, or is empty if nothing is known of them. `times` has
/// an entry for each command; throws std::invalid_argument if their numbers differ.
std::string command_trace_rows(const std::string &layer, const std::vector<isa::Command> &stream,
                               const std::vector<compiler::CommandInfo> &info,
                               const std::vector<timing::CommandTimes> &times);

struct TracedCommand {
  std::uint64_t index = 0; ///< in its stream
  CommandLabel label;
  timing::CommandTimes times;
};

/// Reads a trace. Throws ConfigError naming file, line, field, value and remedy: also if indices have a gap, times are
/// out of order (issue, start, done), or a file ends in the middle of a line.
std::vector<TracedCommand> read_command_trace(const std::filesystem::path &file);
/// The same of an open file; `file` stands for it in messages.
std::vector<TracedCommand> read_command_trace(std::istream &in, const std::filesystem::path &file);

} // namespace gradweave::runtime
