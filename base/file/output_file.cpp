#include "base/file/output_file.hpp"

#include "base/file/unfinished.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gradweave {
namespace {

[[noreturn]] void fail(const std::filesystem::path &file, int error) {
  throw OutputError(fmt::format("{}: cannot be written: {}; choose another file or change its directory's permissions",
                                file.string(), std::strerror(error)));
}

constexpr const char *kPattern = "XXXXXX"; ///< of mkostemp()

std::string temporary_prefix(const std::filesystem::path &file) {
  return fmt::format(".{}.partial-", file.filename().string());
}

} // namespace

OutputFile::OutputFile(std::filesystem::path file) : file_(std::move(file)) {
  if (file_ == "-") {
    fd_ = ::dup(STDOUT_FILENO);
    if (fd_ < 0) fail(file_, errno);
    return;
  }
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file_, error);
  if (std::filesystem::is_directory(status)) fail(file_, EISDIR);
  if (std::filesystem::exists(status) && ::access(file_.c_str(), W_OK) != 0) fail(file_, errno);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fd_ = ::open(file_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail(file_, errno);
    return;
  }
  file_ = written_file(file_);
  std::string pattern = (file_.parent_path() / (temporary_prefix(file_) + kPattern)).string();
  {
    Unfinished unfinished;
    fd_ = ::mkostemp(pattern.data(), O_CLOEXEC);
    if (fd_ < 0) fail(file_, errno);
    temporary_ = pattern;
    unfinished.add(temporary_);
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(fd_, 0666 & ~mask) != 0) { // mkostemp makes files that only their owner can read
    const int reason = errno;
    ::close(fd_);
    remove();
    fail(file_, reason);
  }
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) remove();
}

void OutputFile::remove() {
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
  Unfinished().forget(temporary_);
}

void OutputFile::append(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(file_, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::commit(std::string_view text) {
  append(text);
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0) fail(file_, errno);
  if (temporary_.empty()) return;
  Unfinished unfinished;
  if (std::rename(temporary_.c_str(), file_.c_str()) != 0) fail(file_, errno);
  unfinished.forget(temporary_);
  temporary_.clear();
}

std::filesystem::path written_file(const std::filesystem::path &file) {
  std::error_code error;
  if (!std::filesystem::is_symlink(file, error)) return file;
  const std::filesystem::path target = std::filesystem::canonical(file, error);
  return error ? file : target;
}

std::vector<std::filesystem::path> temporaries_of(const std::filesystem::path &file) {
  const std::string prefix = temporary_prefix(file);
  std::error_code ignored;
  std::vector<std::filesystem::path> found;
  for (const auto &entry :
       std::filesystem::directory_iterator(std::filesystem::absolute(file).parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() == prefix.size() + std::strlen(kPattern) && name.compare(0, prefix.size(), prefix) == 0)
      found.push_back(entry.path());
  }
  return found;
}

bool names_directory(const std::string &path) {
  std::error_code ignored;
  return !path.empty() && (path.back() == '/' || std::filesystem::is_directory(path, ignored));
}

void make_output_directory(const std::string &path, std::string_view option) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    throw OutputError(fmt::format("{}: cannot be created: {}; choose another {}", path, error.message(), option));
  const OutputFile probe(std::filesystem::path(path) / "probe");
}

std::string file_name_part(std::string_view text) {
  std::string part(text);
  for (char &c : part) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.') c = '_';
  }
  return part;
}

} // namespace gradweave
