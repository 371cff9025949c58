#include "trace/fst/fst_file.hpp"

#include "sw_models/config/npu_config.hpp"
#include "trace/fst/file_check.hpp"

#include <fmt/format.h>
#include <fstapi.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace gradweave::wave {
namespace {

/// "state_q [1:0]" to name and range. The index of one bit, "bus [3]", stays a part of the name: simulators that dump
/// a vector bit by bit tell its bits apart by it.
std::pair<std::string, std::string> split_range(std::string text) {
  const std::size_t space = text.rfind(' ');
  if (space == std::string::npos || space + 1 >= text.size() || text[space + 1] != '[') return {std::move(text), ""};
  std::string range = text.substr(space + 1), name = text.substr(0, space);
  if (range.find(':') != std::string::npos) return {name, range};
  return {name + range, ""};
}

/// What the reader's callbacks fill.
struct Loading {
  std::unordered_map<fstHandle, std::size_t> place; ///< in lists
  std::vector<ChangeList> lists;
  std::vector<std::size_t> bytes; ///< of a value; 0: as long as the reader says
};

void take_change(void *user, std::uint64_t time, fstHandle handle, const unsigned char *value, std::uint32_t length) {
  auto &loading = *static_cast<Loading *>(user);
  const auto found = loading.place.find(handle);
  if (found == loading.place.end()) return;
  const std::size_t fixed = loading.bytes[found->second];
  loading.lists[found->second].append(time, {reinterpret_cast<const char *>(value), fixed != 0 ? fixed : length});
}

void take_fixed(void *user, std::uint64_t time, fstHandle handle, const unsigned char *value) {
  take_change(user, time, handle, value, 0);
}

} // namespace

const char *name_of(SignalKind kind) {
  switch (kind) {
  case SignalKind::kBits:
    return "bits";
  case SignalKind::kReal:
    return "real";
  case SignalKind::kString:
    return "string";
  }
  return "";
}

FstFile::FstFile(const std::string &file) : file_(file), context_(nullptr, fstReaderClose) {
  check_fst_file(file);
  context_.reset(fstReaderOpen(file.c_str()));
  if (!context_) throw ConfigError(fmt::format("{}: the FST reader does not open this file; record it again", file));
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): a power of ten, which may be negative
  timescale_ = fstReaderGetTimescale(context_.get());
  start_time_ = fstReaderGetStartTime(context_.get());
  end_time_ = fstReaderGetEndTime(context_.get());
  read_hierarchy();
}

FstFile::~FstFile() = default;

void FstFile::read_hierarchy() {
  void *context = context_.get();
  std::vector<std::size_t> outer; // lengths of the names of the scopes around
  std::string scope;
  std::unordered_map<std::string, unsigned> seen;
  fstReaderIterateHierRewind(context);
  while (const fstHier *item = fstReaderIterateHier(context)) {
    if (item->htyp == FST_HT_SCOPE) {
      outer.push_back(scope.size());
      scope += std::string(item->u.scope.name) + ".";
    } else if (item->htyp == FST_HT_UPSCOPE) {
      if (outer.empty()) throw ConfigError(fmt::format("{}: its hierarchy closes a scope that is not open", file_));
      scope.resize(outer.back());
      outer.pop_back();
    } else if (item->htyp == FST_HT_VAR) {
      const auto &var = item->u.var;
      if (var.handle == 0 || var.handle > fstReaderGetMaxHandle(context))
        throw ConfigError(fmt::format("{}: variable {}{} has handle {} of {}; the file is damaged", file_, scope,
                                      var.name, var.handle, fstReaderGetMaxHandle(context)));
      Signal signal;
      auto [name, range] = split_range(var.name);
      signal.name = scope + name;
      signal.range = range;
      signal.handle = var.handle;
      switch (var.typ) {
      case FST_VT_VCD_REAL:
      case FST_VT_VCD_REAL_PARAMETER:
      case FST_VT_VCD_REALTIME:
      case FST_VT_SV_SHORTREAL:
        signal.kind = SignalKind::kReal;
        break;
      case FST_VT_GEN_STRING:
        signal.kind = SignalKind::kString;
        break;
      default:
        signal.width = var.length;
      }
      const unsigned count = ++seen[signal.name];
      if (count > 1) signal.name += fmt::format("#{}", count);
      signals_.push_back(std::move(signal));
    }
  }
}

std::vector<ChangeList> FstFile::load(const std::vector<std::uint32_t> &handles) const {
  void *context = context_.get();
  std::unordered_map<std::uint32_t, std::size_t> bytes;
  for (const Signal &signal : signals_)
    bytes.emplace(signal.handle, signal.kind == SignalKind::kReal ? sizeof(double) : signal.width);

  Loading loading;
  loading.lists.resize(handles.size());
  fstReaderClrFacProcessMaskAll(context);
  fstReaderIterBlocksSetNativeDoublesOnCallback(context, 1);
  for (std::size_t i = 0; i < handles.size(); ++i) {
    loading.place.emplace(handles[i], i);
    loading.bytes.push_back(bytes.at(handles[i]));
    fstReaderSetFacProcessMask(context, handles[i]);
  }
  if (!fstReaderIterBlocks2(context, take_fixed, take_change, &loading, nullptr))
    throw ConfigError(fmt::format("{}: the values cannot be read; the file is damaged, record it again", file_));
  return std::move(loading.lists);
}

} // namespace gradweave::wave
