#include "trace/trace_file.hpp"

#include "base/file/output_file.hpp"
#include "base/file/unfinished.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace gradweave::runtime {
namespace fs = std::filesystem;

TraceFile::TraceFile(fs::path file) : file_(std::move(file)) {
  if (file_.empty()) return;
  std::string pattern = (file_.parent_path() / fmt::format(".{}.XXXXXX", file_.filename().string())).string();
  Unfinished unfinished;
  if (::mkdtemp(pattern.data()) == nullptr)
    throw OutputError(
        fmt::format("{}: cannot be written: {}; choose another place", file_.string(), std::strerror(errno)));
  directory_ = pattern;
  unfinished.add(directory_);
}

TraceFile::~TraceFile() { remove(); }

TraceFile::TraceFile(TraceFile &&other) noexcept
    : file_(std::exchange(other.file_, {})), directory_(std::exchange(other.directory_, {})) {}

TraceFile &TraceFile::operator=(TraceFile &&other) noexcept {
  std::swap(file_, other.file_);
  std::swap(directory_, other.directory_);
  return *this;
}

void TraceFile::remove() noexcept {
  if (directory_.empty()) return;
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
  Unfinished().forget(directory_);
}

std::string TraceFile::partial() const { return file_.empty() ? "" : (directory_ / file_.filename()).string(); }

void TraceFile::commit() {
  std::error_code error;
  if (file_.empty() || !fs::exists(partial(), error)) return; // the window of the trace was never reached
  try {
    check_waveform(partial());
  } catch (const std::runtime_error &problem) {
    throw OutputError(fmt::format("{}: the waveform could not be written whole: make room, choose another place with "
                                  "--trace-dir or a shorter one with --trace-to ({})",
                                  file_.string(), problem.what()));
  }
  fs::rename(partial(), file_, error);
  if (error) throw OutputError(fmt::format("{}: cannot be written: {}", file_.string(), error.message()));
}

std::string TraceFile::killed_by(int signal) const {
  if (file_.empty() || (signal != SIGBUS && signal != SIGXFSZ)) return {};
  return fmt::format("{}: the waveform could not be written: no room in memory-mapped files; make room there and in "
                     "the directory of temporary files",
                     file_.string());
}

} // namespace gradweave::runtime
