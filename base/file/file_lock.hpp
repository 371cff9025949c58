// A file that one process at a time writes, over and over.
#pragma once

#include "base/file/output_file.hpp"

#include <filesystem>

namespace gradweave {

/// While it lives, this process alone writes `file`, which need not be there. Others are told by a lock on a file
/// .NAME.lock beside it, which the destructor removes; one that a killed process left is taken over.
class FileLock {
public:
  /// Removes what a killed process left of an OutputFile of that name. Throws OutputError if another process has the
  /// lock, or the directory cannot be written.
  explicit FileLock(const std::filesystem::path &file);
  ~FileLock();
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;

private:
  std::filesystem::path lock_;
  int fd_ = -1;
};

} // namespace gradweave
