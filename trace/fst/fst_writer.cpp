#include "trace/fst/fst_writer.hpp"

#include "sw_models/config/npu_config.hpp"

#include <fmt/format.h>
#include <fstapi.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <queue>
#include <stdexcept>
#include <tuple>

namespace gradweave::wave {
namespace {

using Writer = std::unique_ptr<void, void (*)(void *)>;

std::vector<std::string> scopes_of(const std::string &name) {
  std::vector<std::string> scopes;
  std::size_t begin = 0;
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', begin)) {
    scopes.push_back(name.substr(begin, dot - begin));
    begin = dot + 1;
  }
  return scopes;
}

/// Leaves and enters scopes so that those of the next variable are open.
void move_to(void *writer, std::vector<std::string> &open, const std::vector<std::string> &wanted) {
  std::size_t common = 0;
  while (common < open.size() && common < wanted.size() && open[common] == wanted[common])
    ++common;
  for (; open.size() > common; open.pop_back())
    fstWriterSetUpscope(writer);
  for (; open.size() < wanted.size(); open.push_back(wanted[open.size()]))
    fstWriterSetScope(writer, FST_ST_VCD_MODULE, wanted[open.size()].c_str(), nullptr);
}

fstVarType type_of(SignalKind kind) {
  if (kind == SignalKind::kReal) return FST_VT_VCD_REAL;
  return kind == SignalKind::kString ? FST_VT_GEN_STRING : FST_VT_VCD_WIRE;
}

std::uint32_t length_of(const Signal &signal) {
  if (signal.kind == SignalKind::kReal) return sizeof(double);
  return signal.kind == SignalKind::kString ? 0 : signal.width;
}

void emit(void *writer, fstHandle handle, SignalKind kind, std::string_view value) {
  if (kind == SignalKind::kString)
    fstWriterEmitVariableLengthValueChange(writer, handle, value.data(), static_cast<std::uint32_t>(value.size()));
  else
    fstWriterEmitValueChange(writer, handle, std::string(value).data());
}

} // namespace

void write_fst(const std::string &file, const std::vector<WrittenSignal> &signals, const WriterOptions &options) {
  if (!std::ofstream(file)) throw std::runtime_error(fmt::format("{}: cannot be written", file));
  const Writer writer(fstWriterCreate(file.c_str(), 1), fstWriterClose);
  if (!writer) throw std::runtime_error(fmt::format("{}: cannot be written", file));
  fstWriterSetPackType(writer.get(), FST_WR_PT_ZLIB);
  fstWriterSetTimescale(writer.get(), options.timescale);
  fstWriterSetVersion(writer.get(), options.version.c_str());
  fstWriterSetDate(writer.get(), "Thu Jan  1 00:00:00 1970\n");

  std::vector<fstHandle> handles;
  std::map<const ChangeList *, fstHandle> known; // signals that share their changes are aliases
  std::vector<std::string> open;
  for (const WrittenSignal &s : signals) {
    const std::vector<std::string> scopes = scopes_of(s.signal.name);
    move_to(writer.get(), open, scopes);
    std::string name = s.signal.name.substr(s.signal.name.rfind('.') + 1);
    if (!s.signal.range.empty()) name += " " + s.signal.range;
    const auto alias = known.find(s.changes);
    handles.push_back(fstWriterCreateVar(writer.get(), type_of(s.signal.kind), FST_VD_IMPLICIT, length_of(s.signal),
                                         name.c_str(), alias == known.end() ? 0 : alias->second));
    known.emplace(s.changes, handles.back());
  }
  move_to(writer.get(), open, {});

  // The next change of each signal, the earliest first.
  using Next = std::tuple<std::uint64_t, std::size_t, std::size_t>; // time, signal, change
  std::priority_queue<Next, std::vector<Next>, std::greater<>> pending;
  std::map<const ChangeList *, bool> queued;
  for (std::size_t i = 0; i < signals.size(); ++i)
    if (!signals[i].changes->empty() && queued.emplace(signals[i].changes, true).second)
      pending.emplace(signals[i].changes->time(0), i, 0);
  std::uint64_t now = ~std::uint64_t{0};
  while (!pending.empty()) {
    const auto [time, i, change] = pending.top();
    pending.pop();
    if (time != now) fstWriterEmitTimeChange(writer.get(), now = time);
    const ChangeList &list = *signals[i].changes;
    emit(writer.get(), handles[i], signals[i].signal.kind, list.value(change));
    if (change + 1 < list.size()) pending.emplace(list.time(change + 1), i, change + 1);
  }
  if (options.end_time != now) fstWriterEmitTimeChange(writer.get(), options.end_time);
}

void copy_signals(const FstFile &source, const std::vector<std::string> &take, const std::string &file) {
  std::map<std::string, const Signal *> known;
  for (const Signal &signal : source.signals())
    known.emplace(signal.name, &signal);
  std::map<std::uint32_t, std::size_t> place;
  std::vector<std::uint32_t> handles;
  for (const std::string &name : take) {
    const auto found = known.find(name);
    if (found == known.end()) throw ConfigError(fmt::format("{}: has no signal {}", source.file(), name));
    if (place.emplace(found->second->handle, handles.size()).second) handles.push_back(found->second->handle);
  }
  const std::vector<ChangeList> lists = source.load(handles);
  std::vector<WrittenSignal> signals;
  for (const std::string &name : take) {
    const Signal &signal = *known.at(name);
    signals.push_back({signal, &lists[place.at(signal.handle)]});
  }
  write_fst(file, signals, {source.timescale(), source.end_time()});
}

} // namespace gradweave::wave
