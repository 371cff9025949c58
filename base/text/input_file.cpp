#include "base/text/input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gradweave {
namespace {

[[noreturn]] void refuse(const std::filesystem::path &file, const std::string &problem) {
  throw InputError(fmt::format("{}: {}", file.string(), problem));
}

/// An open regular file of acceptable size.
class Input {
public:
  Input(const std::filesystem::path &file, const InputLimit &limit)
      : file_(file), limit_(limit), fd_(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) { // a pipe would block
    if (fd_ < 0 && errno == ENOENT) refuse(file, fmt::format("no such file; check the name of the {}", limit.kind));
    if (fd_ < 0) refuse(file, fmt::format("cannot be read: {}; check its name and permissions", std::strerror(errno)));
    try {
      check();
    } catch (...) {
      ::close(fd_);
      throw;
    }
  }
  ~Input() { ::close(fd_); }
  Input(const Input &) = delete;
  Input &operator=(const Input &) = delete;

  std::string read() const {
    std::string bytes(size_ + 1, '\0'); // one more: the file may grow, or state no size, as those of /proc
    std::size_t done = 0;
    while (true) {
      const ssize_t n = ::read(fd_, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) refuse(file_, fmt::format("cannot be read: {}; copy it to another place", std::strerror(errno)));
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
      if (done > limit_.bytes) too_large();
      if (done == bytes.size()) bytes.resize(std::min<std::uint64_t>(bytes.size() * 2, limit_.bytes + 1));
    }
    bytes.resize(done);
    return bytes;
  }

private:
  void check() {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) refuse(file_, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (S_ISDIR(status.st_mode)) refuse(file_, fmt::format("is a directory; name a file, the {}", limit_.kind));
    if (!S_ISREG(status.st_mode))
      refuse(file_, fmt::format("is a device, a pipe or a socket, not a regular file; save the {} in a file and name "
                                "that",
                                limit_.kind));
    size_ = static_cast<std::uint64_t>(status.st_size);
    if (size_ > limit_.bytes) too_large();
  }

  [[noreturn]] void too_large() const {
    refuse(file_, fmt::format("longer than {} bytes; this is no {}", limit_.bytes, limit_.kind));
  }

  const std::filesystem::path &file_;
  const InputLimit &limit_;
  int fd_;
  std::uint64_t size_ = 0;
};

/// Bytes of the character that begins at `at`; 0: it is no UTF-8.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() - at < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  const unsigned second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return overlong || beyond ? 0 : bytes;
}

} // namespace

void check_input_file(const std::filesystem::path &file, const InputLimit &limit) { const Input input(file, limit); }

std::string read_input_bytes(const std::filesystem::path &file, const InputLimit &limit) {
  return Input(file, limit).read();
}

std::string read_input_text(const std::filesystem::path &file, const InputLimit &limit) {
  std::string text = read_input_bytes(file, limit);
  if (text.compare(0, 3, "\xef\xbb\xbf") == 0) text.erase(0, 3);
  const std::size_t bad = find_invalid_utf8(text);
  if (bad != std::string::npos)
    throw InputError(fmt::format("{}:{}: byte 0x{:02x} is no UTF-8; save the {} as UTF-8", file.string(),
                                 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n'),
                                 static_cast<unsigned char>(text[bad]), limit.kind));
  return text;
}

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t bytes = character_bytes(text, at);
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::string_view::npos;
}

} // namespace gradweave
