#include "tests/trace/wave/scenario.hpp"

#include "isa/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>

namespace gradweave::wave {
namespace {

/// One directive, taken apart word by word.
class Words {
public:
  Words(std::string place, const std::string &text) : place_(std::move(place)), in_(text) {}

  [[noreturn]] void fail(const std::string &problem) const { throw ConfigError(place_ + ": " + problem); }

  std::string word(const char *what) {
    std::string text;
    if (!(in_ >> text)) fail(fmt::format("{} is missing", what));
    return text;
  }
  bool more() { return static_cast<bool>(in_ >> std::ws) && in_.peek() != std::char_traits<char>::eof(); }
  std::string rest() {
    std::string text;
    in_ >> std::ws;
    std::getline(in_, text);
    return text;
  }
  std::uint64_t number(const std::string &text) const {
    std::size_t end = 0;
    std::uint64_t value = 0;
    try {
      value = std::stoull(text, &end, 0);
    } catch (const std::logic_error &) {
      end = 0;
    }
    if (end == 0 || end != text.size()) fail(fmt::format("'{}' is no number", text));
    return value;
  }
  std::uint64_t number_word(const char *what) { return number(word(what)); }

private:
  std::string place_;
  std::istringstream in_;
};

template <class T> T choose(Words &words, const char *what, const std::map<std::string, T> &choices) {
  const std::string text = words.word(what);
  const auto found = choices.find(text);
  if (found == choices.end()) words.fail(fmt::format("'{}' is no {}", text, what));
  return found->second;
}

BusFault read_fault(Words &words, std::uint64_t stream) {
  using Kind = BusFault::Kind;
  BusFault fault;
  fault.kind = choose<Kind>(words, "kind of fault",
                            {{"slverr", Kind::kSlvErr}, {"decerr", Kind::kDecErr}, {"hang", Kind::kHang}});
  fault.write = choose<bool>(words, "direction", {{"read", false}, {"write", true}});
  const std::string addr = words.word("address");
  fault.addr = addr.rfind("stream+", 0) == 0 ? stream + words.number(addr.substr(7)) : words.number(addr);
  fault.bytes = words.number_word("number of bytes");
  return fault;
}

isa::ErrorCode error_named(const Words &words, const std::string &name) {
  const auto found = std::find(std::begin(isa::kErrorNames), std::end(isa::kErrorNames), name);
  if (found == std::end(isa::kErrorNames)) words.fail(fmt::format("'{}' is no error code", name));
  return static_cast<isa::ErrorCode>(found - std::begin(isa::kErrorNames));
}

void obey(Scenario &s, Words &words) {
  const std::string directive = words.word("directive");
  if (directive == "npu") {
    s.npu = words.word("name of an NPU");
  } else if (directive == "about") {
    s.about = words.rest();
  } else if (directive == "layer") {
    s.layer = words.word("name of a layer");
  } else if (directive == "stall") {
    s.device.stress.stall_probability = static_cast<double>(words.number_word("percentage")) / 100;
    s.device.stress.seed = words.number_word("seed");
  } else if (directive == "watchdog") {
    s.device.watchdog_cycles = static_cast<std::uint32_t>(words.number_word("number of cycles"));
  } else if (directive == "offset") {
    s.device.stream_offset = static_cast<std::uint32_t>(words.number_word("number of bytes"));
  } else if (directive == "fault") {
    s.device.faults.push_back(read_fault(words, kDataBytes + s.device.stream_offset));
  } else if (directive == "reset") {
    s.reset_cycle = words.number_word("cycle");
  } else if (directive == "base") {
    s.base = static_cast<std::uint32_t>(words.number_word("address"));
  } else if (directive == "ring") {
    s.ring = static_cast<std::uint32_t>(words.number_word("places"));
  } else if (directive == "poll") {
    s.poll = true;
  } else if (directive == "again") {
    s.again = true;
  } else if (directive == "end") {
    s.end.error = error_named(words, words.word("error code"));
    if (words.more()) s.end.error_index = static_cast<std::uint32_t>(words.number_word("index"));
  } else {
    words.fail(fmt::format("'{}' is no directive", directive));
  }
  if (words.more()) words.fail(fmt::format("'{}' is too much", words.rest()));
}

} // namespace

Scenario read_scenario(const std::filesystem::path &file) {
  std::ifstream in(file);
  if (!in) throw ConfigError(fmt::format("{}: cannot be read", file.string()));
  Scenario s;
  s.name = file.stem().string();
  std::string text, line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    if (line.rfind("#!", 0) == 0) {
      Words words(fmt::format("{}:{}", file.string(), number), line.substr(2));
      obey(s, words);
    } else if (const std::size_t begin = line.find_first_not_of(" \t");
               begin != std::string::npos && line[begin] != '#') {
      const std::size_t comment = line.find("# "), colon = line.find(": ", comment);
      const bool told = comment != std::string::npos && colon != std::string::npos;
      s.tiles.push_back(told ? line.substr(colon + 2) : "");
    }
    text += line + "\n";
  }
  s.commands = isa::assemble(text, file.string());
  if (s.npu.empty()) throw ConfigError(fmt::format("{}: has no '#! npu NAME'", file.string()));
  if (s.commands.empty()) throw ConfigError(fmt::format("{}: has no commands", file.string()));
  return s;
}

std::vector<Scenario> read_catalog(const std::filesystem::path &directory) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(directory))
    for (const auto &entry : std::filesystem::directory_iterator(directory))
      if (entry.path().extension() == ".txt") files.push_back(entry.path());
  if (files.empty()) throw ConfigError(fmt::format("{}: has no streams (.txt)", directory.string()));
  std::sort(files.begin(), files.end());
  std::vector<Scenario> catalog;
  for (const std::filesystem::path &file : files)
    catalog.push_back(read_scenario(file));
  return catalog;
}

} // namespace gradweave::wave
