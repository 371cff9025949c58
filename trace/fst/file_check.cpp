#include "trace/fst/file_check.hpp"

#include "sw_models/config/npu_config.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>
#include <fstapi.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

namespace gradweave::wave {
namespace {

constexpr std::uint64_t kHeaderBytes = 329; ///< of a header block, its length field included
constexpr std::uint64_t kMaxTable = 1ULL << 32U;

/// Random access to a file, every read checked.
class Bytes {
public:
  explicit Bytes(const std::string &file) : file_(file) {
    check_user_file(file, {"waveform (.fst)", kMaxBulkBytes});
    in_.open(file, std::ios::binary);
    if (!in_) throw ConfigError(fmt::format("{}: cannot be read: {}; check the name", file, std::strerror(errno)));
    in_.seekg(0, std::ios::end);
    const auto size = in_.tellg();
    if (size < 0) throw ConfigError(fmt::format("{}: is no regular file", file));
    size_ = static_cast<std::uint64_t>(size);
  }

  std::uint64_t size() const { return size_; }

  std::vector<unsigned char> read(std::uint64_t at, std::uint64_t count) {
    if (count > size_ || at > size_ - count) fail(at, fmt::format("{} bytes are missing", at + count - size_));
    std::vector<unsigned char> bytes(count);
    in_.seekg(static_cast<std::streamoff>(at));
    in_.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(count));
    if (!in_) fail(at, "cannot be read");
    return bytes;
  }
  unsigned byte(std::uint64_t at) { return read(at, 1)[0]; }
  std::uint64_t number(std::uint64_t at) {
    std::uint64_t value = 0;
    for (const unsigned char b : read(at, 8))
      value = value << 8U | b;
    return value;
  }

  [[noreturn]] void fail(std::uint64_t at, const std::string &problem) const {
    throw ConfigError(
        fmt::format("{}: at byte {}: {}; the file is cut or damaged, record it again", file_, at, problem));
  }

private:
  std::string file_;
  std::ifstream in_;
  std::uint64_t size_ = 0;
};

/// A block: its type at `begin`, the length field at begin + 1; the length counts from that field on.
struct Block {
  unsigned type = 0;
  std::uint64_t begin = 0, length = 0;
  std::uint64_t body() const { return begin + 9; }
  std::uint64_t end() const { return begin + 1 + length; }
};

bool inflates_to(const std::vector<unsigned char> &packed, std::uint64_t size, int window_bits) {
  if (size > kMaxTable) return false;
  std::vector<unsigned char> plain(size + 1);
  z_stream stream{};
  if (inflateInit2(&stream, window_bits) != Z_OK) return false;
  stream.next_in = const_cast<unsigned char *>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = plain.data();
  stream.avail_out = static_cast<uInt>(plain.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  return whole;
}

constexpr int kZlib = 15, kGzip = 15 + 16; // window bits, as inflateInit2() wants them

void check_header(Bytes &bytes, const Block &block) {
  if (block.length != kHeaderBytes) bytes.fail(block.begin, fmt::format("a header of {} bytes", block.length));
  // A number in the writer's byte order that tells which one that is.
  constexpr double kEuler = 2.7182818284590452354;
  std::vector<unsigned char> stored = bytes.read(block.body() + 16, 8);
  double value = 0;
  std::memcpy(&value, stored.data(), 8);
  if (value == kEuler) return;
  const std::vector<unsigned char> swapped(stored.rbegin(), stored.rend());
  std::memcpy(&value, swapped.data(), 8);
  if (value != kEuler) bytes.fail(block.body() + 16, "the header's byte order mark is wrong");
}

void check_geometry(Bytes &bytes, const Block &block) {
  if (block.length < 24) bytes.fail(block.begin, "a geometry block without contents");
  const std::uint64_t size = bytes.number(block.body()), handles = bytes.number(block.body() + 8);
  const std::uint64_t packed = block.length - 24;
  if (handles > size) bytes.fail(block.body() + 8, fmt::format("{} handles in {} bytes", handles, size));
  if (packed != size && !inflates_to(bytes.read(block.body() + 16, packed), size, kZlib))
    bytes.fail(block.body(), fmt::format("the geometry does not decompress to {} bytes", size));
}

void check_hierarchy(Bytes &bytes, const Block &block) {
  const std::uint64_t head = block.type == FST_BL_HIER_LZ4DUO ? 24 : 16;
  if (block.length < head) bytes.fail(block.begin, "a hierarchy block without contents");
  const std::uint64_t size = bytes.number(block.body());
  if (size > kMaxTable) bytes.fail(block.body(), fmt::format("a hierarchy of {} bytes", size));
  if (block.type == FST_BL_HIER && !inflates_to(bytes.read(block.body() + 8, block.length - head), size, kGzip))
    bytes.fail(block.body(), fmt::format("the hierarchy does not decompress to {} bytes", size));
}

/// Values end with: index of the chains, its length; times packed, and their length, packed length and number.
void check_values(Bytes &bytes, const Block &block) {
  constexpr std::uint64_t kHead = 8 + 3 * 8, kTail = 3 * 8;
  if (block.length < kHead + kTail + 8) bytes.fail(block.begin, "a block of values without contents");
  const std::uint64_t begin_time = bytes.number(block.body()), end_time = bytes.number(block.body() + 8);
  if (begin_time > end_time) bytes.fail(block.body(), fmt::format("values from time {} to {}", begin_time, end_time));
  const std::uint64_t tail = block.end() - kTail, room = block.length - kHead - kTail - 8;
  const std::uint64_t size = bytes.number(tail), packed = bytes.number(tail + 8), times = bytes.number(tail + 16);
  if (packed > room || size > kMaxTable || times > size)
    bytes.fail(tail, fmt::format("{} times in {} bytes, {} packed", times, size, packed));
  if (packed != size && !inflates_to(bytes.read(tail - packed, packed), size, kZlib))
    bytes.fail(tail - packed, fmt::format("the times do not decompress to {} bytes", size));
  const std::uint64_t index = bytes.number(tail - packed - 8);
  if (index > room - packed) bytes.fail(tail - packed - 8, fmt::format("an index of {} bytes", index));
}

} // namespace

void check_fst_file(const std::string &file) {
  Bytes bytes(file);
  if (bytes.size() == 0) throw ConfigError(fmt::format("{}: is empty; record it again", file));
  bool geometry = false, hierarchy = false;
  Block block;
  for (; block.begin < bytes.size(); block.begin = block.end()) {
    block.type = bytes.byte(block.begin);
    if (block.begin == 0 && block.type != FST_BL_HDR && block.type != FST_BL_ZWRAPPER)
      throw ConfigError(fmt::format("{}: is no FST file; convert other formats first (vcd2fst)", file));
    block.length = bytes.number(block.begin + 1);
    if (block.length < 8 || block.length > bytes.size() - block.begin - 1)
      bytes.fail(block.begin,
                 fmt::format("a block of {} bytes where {} are left", block.length, bytes.size() - block.begin - 1));
    switch (block.type) {
    case FST_BL_HDR:
      check_header(bytes, block);
      break;
    case FST_BL_ZWRAPPER:
      if (block.length < 16 ||
          !inflates_to(bytes.read(block.body() + 8, block.length - 16), bytes.number(block.body()), kGzip))
        bytes.fail(block.begin, "the compressed file inside does not decompress to its length");
      return; // what is inside was complete when it was compressed
    case FST_BL_GEOM:
      check_geometry(bytes, block);
      geometry = true;
      break;
    case FST_BL_HIER:
    case FST_BL_HIER_LZ4:
    case FST_BL_HIER_LZ4DUO:
      check_hierarchy(bytes, block);
      hierarchy = true;
      break;
    case FST_BL_VCDATA:
    case FST_BL_VCDATA_DYN_ALIAS:
    case FST_BL_VCDATA_DYN_ALIAS2:
      check_values(bytes, block);
      break;
    case FST_BL_BLACKOUT:
      break;
    case FST_BL_SKIP:
      throw ConfigError(
          fmt::format("{}: is still being written, or its writer did not end properly; record it again", file));
    default:
      bytes.fail(block.begin, fmt::format("a block of unknown type {}", block.type));
    }
  }
  if (!geometry || !hierarchy)
    throw ConfigError(fmt::format("{}: has no {}; its writer did not end properly, record it again", file,
                                  geometry ? "hierarchy" : "signals"));
}

} // namespace gradweave::wave
