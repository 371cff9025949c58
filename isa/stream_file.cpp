// Files that hold a command stream. Words are stored as the (little-endian) hosts of this project hold them.
#include "base/text/input_file.hpp"
#include "isa/assembler.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace gradweave::isa {

namespace {

struct Header {
  char magic[4] = {'G', 'W', 'S', '\0'};
  std::uint32_t version = kVersion;
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(Header) == 24 && sizeof(Command) == kCommandBytes, "the file has no padding");

/// FNV-1a, 64 bits.
std::uint64_t checksum_of(const std::vector<Command> &stream) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto *bytes = reinterpret_cast<const unsigned char *>(stream.data());
  for (std::size_t i = 0; i < stream.size() * sizeof(Command); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3U;
  return hash;
}

[[noreturn]] void fail(const std::filesystem::path &file, const std::string &problem) {
  throw AssemblyError(fmt::format("{}: {}", file.string(), problem));
}

} // namespace

void write_stream_file(const std::filesystem::path &file, const std::vector<Command> &stream) {
  Header header;
  header.count = stream.size();
  header.checksum = checksum_of(stream);
  const std::filesystem::path partial = file.string() + ".partial";
  {
    std::ofstream out(partial, std::ios::binary | std::ios::trunc);
    if (!out)
      fail(file, fmt::format("cannot write: {}; check the directory and its permissions", std::strerror(errno)));
    out.write(reinterpret_cast<const char *>(&header), sizeof header);
    out.write(reinterpret_cast<const char *>(stream.data()),
              static_cast<std::streamsize>(stream.size() * sizeof(Command)));
    out.close();
    if (!out) {
      const int reason = errno;
      std::error_code ignored;
      std::filesystem::remove(partial, ignored);
      fail(file, fmt::format("cannot write: {}; check the free space", std::strerror(reason)));
    }
  }
  std::error_code error;
  std::filesystem::rename(partial, file, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    fail(file, fmt::format("cannot write: {}; name a file that can be replaced", error.message()));
  }
}

std::vector<Command> read_stream_file(const std::filesystem::path &file) {
  std::string bytes;
  try {
    bytes = read_input_bytes(file, {"command stream (.gws)", kMaxBulkBytes});
  } catch (const InputError &error) {
    throw AssemblyError(error.what());
  }
  return parse_stream_file(bytes, file);
}

std::vector<Command> parse_stream_file(std::string_view bytes, const std::filesystem::path &file) {
  Header header;
  const Header expected;
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() < sizeof header || std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0)
    fail(file, "is no command stream (its first bytes are not GWS); name a file that `gradweave compile` wrote");
  if (header.version != kVersion)
    fail(file, fmt::format("holds commands of ISA version {}, but this program's is {}; compile it again",
                           header.version, kVersion));
  bytes.remove_prefix(sizeof header);
  if (header.count != bytes.size() / sizeof(Command) || bytes.size() % sizeof(Command) != 0)
    fail(file, fmt::format("has {} bytes of commands, but its header says {} commands of {} bytes; it was truncated or "
                           "changed, compile it again",
                           bytes.size(), header.count, sizeof(Command)));
  std::vector<Command> stream(header.count);
  if (!stream.empty()) std::memcpy(stream.data(), bytes.data(), bytes.size());
  if (checksum_of(stream) != header.checksum)
    fail(file, "its checksum is wrong; the file was changed, compile it again");
  return stream;
}

} // namespace gradweave::isa
