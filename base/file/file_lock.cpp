#include "base/file/file_lock.hpp"

#include "base/file/unfinished.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace gradweave {
namespace {

namespace fs = std::filesystem;

/// Whether the open file is still the one of that name: its last owner may have removed it meanwhile.
bool is_there(int fd, const fs::path &name) {
  struct stat open {
  }, named{};
  return ::fstat(fd, &open) == 0 && ::stat(name.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

} // namespace

FileLock::FileLock(const fs::path &file) {
  const fs::path written = written_file(file);
  lock_ = written.parent_path() / fmt::format(".{}.lock", written.filename().string());
  Unfinished unfinished;
  while (fd_ < 0 || !is_there(fd_, lock_)) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = ::open(lock_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0)
      throw OutputError(fmt::format("{}: cannot be written: {}; choose another file or change its directory's "
                                    "permissions",
                                    file.string(), std::strerror(errno)));
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd_);
      throw OutputError(
          fmt::format("{}: another process is writing it; wait for that one or name another file", file.string()));
    }
  }
  unfinished.add(lock_);
  for (const fs::path &left : temporaries_of(written)) {
    std::error_code ignored;
    fs::remove(left, ignored);
  }
}

FileLock::~FileLock() {
  std::error_code ignored;
  fs::remove(lock_, ignored); // before the lock is given up, so that nobody has the lock of a file without name
  Unfinished().forget(lock_);
  ::close(fd_);
}

} // namespace gradweave
