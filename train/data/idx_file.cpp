#include "train/data/idx_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>

namespace gradweave::runtime::train {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30U;
constexpr std::uint32_t kMostDims = 4;

[[noreturn]] void fail_file(const std::filesystem::path &file, const std::string &message) {
  throw DataError(fmt::format("{}: {}", file.string(), message));
}

/// A file that may be compressed: zlib hands through what is not.
class Reader {
public:
  explicit Reader(const std::filesystem::path &file) : path_(file), file_(nullptr, ::gzclose) {
    if (!std::filesystem::exists(file))
      fail_file(file, "there is no such file; name the directory that holds the data");
    if (!std::filesystem::is_regular_file(file)) fail_file(file, "is no regular file");
    file_.reset(::gzopen(file.c_str(), "rb"));
    if (file_ == nullptr) fail_file(file, "cannot be opened; check its permissions");
  }

  /// Fills `bytes` as far as the file goes; returns how far.
  std::size_t read(std::uint8_t *bytes, std::size_t count) {
    constexpr std::size_t kAtOnce = std::size_t{1} << 24U; // gzread counts in int
    std::size_t done = 0;
    while (done < count) {
      const int got = ::gzread(file_.get(), bytes + done, static_cast<unsigned>(std::min(kAtOnce, count - done)));
      if (got < 0)
        fail_file(path_, fmt::format("cannot be read beyond byte {}: {}; fetch the file again", done, reason()));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  /// gzread() tells of a compressed file that was cut off only through its status.
  bool cut_off() const {
    int code = Z_OK;
    ::gzerror(file_.get(), &code);
    return code == Z_BUF_ERROR;
  }

private:
  std::string reason() const {
    int code = Z_OK;
    return ::gzerror(file_.get(), &code);
  }

  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

std::uint32_t big_endian(const std::uint8_t *bytes) {
  return std::uint32_t{bytes[0]} << 24U | std::uint32_t{bytes[1]} << 16U | std::uint32_t{bytes[2]} << 8U | bytes[3];
}

std::vector<std::uint32_t> read_dims(Reader &reader, const std::filesystem::path &file) {
  std::array<std::uint8_t, 4> word{};
  if (reader.read(word.data(), word.size()) < word.size())
    fail_file(file, "ends within its magic number; it is no IDX file");
  const std::uint32_t magic = big_endian(word.data()), count = magic & 0xffU;
  if (magic >> 8U != 0x08U || count == 0 || count > kMostDims)
    fail_file(file, fmt::format("begins with {:#010x}; an IDX file of bytes begins with 0x00000801 to 0x0000080{}",
                                magic, kMostDims));
  std::vector<std::uint32_t> dims;
  std::uint64_t bytes = 1;
  for (std::uint32_t d = 0; d < count; ++d) {
    if (reader.read(word.data(), word.size()) < word.size())
      fail_file(file, fmt::format("ends within its header of {} dimensions", count));
    dims.push_back(big_endian(word.data()));
    if (dims.back() == 0) fail_file(file, fmt::format("dimension {} of {} is 0", d + 1, count));
    bytes *= dims.back(); // at most 2^30 times 2^32
    if (bytes > kMostBytes)
      fail_file(file, fmt::format("promises more than {} bytes; files may be that large", kMostBytes));
  }
  return dims;
}

} // namespace

IdxFile read_idx(const std::filesystem::path &file) {
  Reader reader(file);
  IdxFile idx;
  idx.dims = read_dims(reader, file);
  std::uint64_t promised = 1;
  for (const std::uint32_t dim : idx.dims)
    promised *= dim;
  idx.bytes.resize(promised);
  const std::size_t got = reader.read(idx.bytes.data(), idx.bytes.size());
  if (got < promised || reader.cut_off())
    fail_file(file, fmt::format("ends after {} of {} bytes of data; fetch the file again", got, promised));
  std::uint8_t more = 0;
  if (reader.read(&more, 1) != 0)
    fail_file(file, fmt::format("goes on behind the {} bytes that its header promises", promised));
  return idx;
}

} // namespace gradweave::runtime::train
