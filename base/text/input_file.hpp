// How every file of a user is read: bounded, and only what is a regular file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gradweave {

/// A file is not to be read. what() is "FILE:LINE: problem; remedy" (the line is left out where there is none).
class InputError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// What may be read: `bytes` at most of a file that is to be a `kind`, as "network description".
struct InputLimit {
  std::string_view kind;
  std::uint64_t bytes;
};

inline constexpr std::uint64_t kMaxTextBytes = std::uint64_t{64} << 20U; ///< descriptions that people write
inline constexpr std::uint64_t kMaxBulkBytes = std::uint64_t{16} << 30U; ///< streams, traces and waveforms

/// Throws InputError unless `file` can be read, is a regular file (devices may have no end, pipes may never begin) and
/// has at most `limit.bytes`.
void check_input_file(const std::filesystem::path &file, const InputLimit &limit);

/// The bytes of `file`; throws InputError as check_input_file() does.
std::string read_input_bytes(const std::filesystem::path &file, const InputLimit &limit);

/// The same of text, without a byte-order mark; throws InputError also for a line that is not UTF-8.
std::string read_input_text(const std::filesystem::path &file, const InputLimit &limit);

/// The first byte of `text` that is no UTF-8 (overlong forms, surrogates and beyond U+10FFFF included); npos: none.
std::size_t find_invalid_utf8(std::string_view text);

} // namespace gradweave
