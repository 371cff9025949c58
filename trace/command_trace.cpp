#include "trace/command_trace.hpp"

#include "sw_models/config/npu_config.hpp" // ConfigError
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace gradweave::runtime {
namespace {

constexpr std::array<std::string_view, 8> kFields{"index", "engine", "opcode", "layer",
                                                  "tile",  "issue",  "start",  "done"};
constexpr std::string_view kHeader = "index,engine,opcode,layer,tile,issue,start,done\n";
constexpr std::string_view kRemedy = "write the trace again with `gradweave simulate --times`";

std::string quoted(const std::string &text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) {
    if (c == '\r' || c == '\n') { // a row is a line, whatever a layer is called
      field += ' ';
      continue;
    }
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

std::string cycle(std::uint64_t time) { return time == timing::kNever ? std::string() : std::to_string(time); }

/// A trace as text, with the place that errors name.
class TraceReader {
public:
  explicit TraceReader(std::filesystem::path file) : file_(std::move(file)) {}

  std::vector<TracedCommand> read(std::istream &in) {
    std::string text;
    if (!next(in, text) || text + '\n' != kHeader)
      fail(fmt::format("the first line is not the header {}; name a timing trace of commands",
                       kHeader.substr(0, kHeader.size() - 1)));
    std::vector<TracedCommand> commands;
    while (next(in, text)) {
      TracedCommand command = parse(split(text));
      const std::uint64_t next_index = commands.empty() ? 0 : commands.back().index + 1;
      if (command.index != 0 && command.index != next_index)
        fail(fmt::format("index = {}, but {} has to follow, or 0 in a new stream; {}", command.index, next_index,
                         kRemedy));
      commands.push_back(std::move(command));
    }
    return commands;
  }

private:
  [[noreturn]] void fail(const std::string &problem) const {
    throw ConfigError(fmt::format("{}:{}: {}", file_.string(), line_, problem));
  }

  bool next(std::istream &in, std::string &text) {
    ++line_;
    if (!std::getline(in, text)) return false;
    if (in.eof()) fail(fmt::format("the file ends in the middle of this line; {}", kRemedy));
    return true;
  }

  using Row = std::array<std::string, kFields.size()>;

  Row split(const std::string &text) const {
    Row row;
    std::size_t count = 0;
    bool inside = false; // quotes
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c == ',' && !inside) {
        ++count;
      } else if (c == '"' && inside && at + 1 < text.size() && text[at + 1] == '"') {
        row[std::min(count, row.size() - 1)] += text[at++];
      } else if (c == '"') {
        inside = !inside;
      } else {
        row[std::min(count, row.size() - 1)] += c;
      }
    }
    if (inside) fail(fmt::format("a quote is not closed; {}", kRemedy));
    if (++count != row.size())
      fail(fmt::format("{} fields where there must be {}: {}; {}", count, row.size(),
                       kHeader.substr(0, kHeader.size() - 1), kRemedy));
    return row;
  }

  std::uint64_t number(const Row &row, std::size_t field) const {
    const std::string &text = row[field];
    std::uint64_t value = 0;
    const char *end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc() || at != end)
      fail(fmt::format("{} = '{}' is not a whole number; {}", kFields[field], text, kRemedy));
    return value;
  }

  /// The cycle in field `field`, which cannot be before `earliest`, nor happen if that did not.
  std::uint64_t time(const Row &row, std::size_t field, std::uint64_t earliest) const {
    if (row[field].empty()) return timing::kNever;
    const std::uint64_t value = number(row, field);
    if (earliest == timing::kNever)
      fail(fmt::format("{} = {}, but {} is empty; {}", kFields[field], value, kFields[field - 1], kRemedy));
    if (value < earliest)
      fail(fmt::format("{} = {} is before {} = {}; {}", kFields[field], value, kFields[field - 1], earliest, kRemedy));
    return value;
  }

  TracedCommand parse(Row row) const {
    TracedCommand command;
    command.index = number(row, 0);
    command.times.issue = time(row, 5, 0);
    command.times.start = time(row, 6, command.times.issue);
    command.times.done = time(row, 7, command.times.start);
    if (row[2].empty()) fail(fmt::format("opcode = '' is empty; {}", kRemedy));
    command.label = {std::move(row[1]), std::move(row[2]), std::move(row[3]), std::move(row[4])};
    return command;
  }

  std::filesystem::path file_;
  std::size_t line_ = 0;
};

} // namespace

std::string_view command_trace_header() { return kHeader; }

std::string command_trace_rows(const std::string &layer, const std::vector<isa::Command> &stream,
                               const std::vector<compiler::CommandInfo> &info,
                               const std::vector<timing::CommandTimes> &times) {
  if (times.size() != stream.size() || (!info.empty() && info.size() != stream.size()))
    throw std::invalid_argument(fmt::format("trace of layer '{}': {} commands, {} descriptions, {} times", layer,
                                            stream.size(), info.size(), times.size()));
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const CommandLabel label = label_command(layer, stream[i], info.empty() ? nullptr : &info[i]);
    fmt::format_to(out, "{},{},{},{},{},{},{},{}\n", i, label.engine, label.opcode, quoted(label.layer),
                   quoted(label.tile), cycle(times[i].issue), cycle(times[i].start), cycle(times[i].done));
  }
  return fmt::to_string(text);
}

std::vector<TracedCommand> read_command_trace(const std::filesystem::path &file) {
  check_user_file(file, {"command trace", kMaxBulkBytes});
  std::ifstream in(file, std::ios::binary);
  return read_command_trace(in, file);
}

std::vector<TracedCommand> read_command_trace(std::istream &in, const std::filesystem::path &file) {
  return TraceReader(file).read(in);
}

} // namespace gradweave::runtime
