#include "tests/trace/wave/bundles.hpp"

#include "sw_models/config/npu_config.hpp"
#include "sw_models/config/user_file.hpp"
#include "trace/fst/fst_writer.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <sstream>

namespace gradweave::wave {
namespace {

bool read_part(const std::string &line, Part &part) {
  std::istringstream words(line);
  std::uint32_t msb = 0;
  char colon = 0;
  std::string more;
  if (!(words >> part.name >> part.bundle >> msb >> colon >> part.lsb >> part.stride) || words >> more) return false;
  part.width = msb + 1 - part.lsb;
  return colon == ':' && msb >= part.lsb && msb < part.stride;
}

} // namespace

std::vector<Part> read_bundles(const std::string &file) {
  std::istringstream in(read_user_text(file, {"list of bundles", kMaxTextBytes}));
  std::vector<Part> parts;
  std::string line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    const std::string text = line.substr(0, line.find('#'));
    if (text.find_first_not_of(" \t") == std::string::npos) continue;
    Part part;
    if (!read_part(text, part))
      throw ConfigError(fmt::format("{}:{}: '{}' is no part; write 'PART BUNDLE MSB:LSB STRIDE', with MSB below STRIDE",
                                    file, number, line));
    parts.push_back(part);
  }
  return parts;
}

ChangeList part_of(const ChangeList &bundle, const Part &part) {
  ChangeList list;
  for (std::size_t i = 0; i < bundle.size(); ++i) {
    const std::string_view value = bundle.value(i);
    std::string bits;
    for (std::size_t copy = 0; copy < value.size(); copy += part.stride)
      bits += value.substr(copy + part.stride - part.lsb - part.width, part.width);
    list.append(bundle.time(i), bits);
  }
  return list;
}

void write_held(const FstFile &run, const SignalFilter &filter, const std::vector<Part> &parts,
                const std::string &file) {
  std::multimap<std::string, const Part *> parts_of;
  for (const Part &part : parts)
    if (filter.takes(part.name)) parts_of.emplace(part.bundle, &part);
  std::map<std::uint32_t, std::size_t> place;
  std::vector<std::uint32_t> handles;
  for (const Signal &signal : run.signals())
    if ((filter.takes(signal.name) || parts_of.count(signal.name) != 0) &&
        place.emplace(signal.handle, handles.size()).second)
      handles.push_back(signal.handle);
  const std::vector<ChangeList> lists = run.load(handles);

  std::deque<ChangeList> cut;
  std::vector<WrittenSignal> written;
  for (const Signal &signal : run.signals()) {
    if (filter.takes(signal.name)) written.push_back({signal, &lists[place.at(signal.handle)]});
    const auto [first, last] = parts_of.equal_range(signal.name);
    for (auto entry = first; entry != last; ++entry) {
      const Part &part = *entry->second;
      if (signal.kind != SignalKind::kBits || signal.width % part.stride != 0)
        throw ConfigError(fmt::format("{}: {} has {} bits, which are no bundles of {} as {} is a part of", run.file(),
                                      signal.name, signal.width, part.stride, part.name));
      const std::uint32_t width = signal.width / part.stride * part.width;
      cut.push_back(part_of(lists[place.at(signal.handle)], part));
      written.push_back({{part.name, fmt::format("[{}:0]", width - 1), SignalKind::kBits, width, 0}, &cut.back()});
    }
  }
  write_fst(file, written, {run.timescale(), run.end_time()});
}

} // namespace gradweave::wave
