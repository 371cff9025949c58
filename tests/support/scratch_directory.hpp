// Files of a test that may run beside itself, gone when it ends.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace gradweave::test {

/// A new directory below the system's for temporary files. It is removed, with what is in it, by the process that made
/// it: what a test forks leaves it alone.
class ScratchDirectory {
public:
  ScratchDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gradweave-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = std::filesystem::canonical(pattern);
  }
  ~ScratchDirectory() {
    if (::getpid() != owner_) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory &) = delete;
  ScratchDirectory &operator=(const ScratchDirectory &) = delete;

  const std::filesystem::path &path() const { return path_; }
  std::filesystem::path operator/(const std::string &name) const { return path_ / name; }

private:
  std::filesystem::path path_;
  const ::pid_t owner_ = ::getpid();
};

/// A path for `name` in a directory of this process that is removed at its end.
inline std::string scratch_file(const std::string &name) {
  static const ScratchDirectory directory;
  return directory / name;
}

} // namespace gradweave::test
