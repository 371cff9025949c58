// Checksums of what is kept in files (XXH3, 128 bits): not against forgery, but against damage, edits and mix-ups.
#pragma once

#include <string>
#include <string_view>

namespace gradweave::runtime {

/// 32 hexadecimal digits.
std::string checksum(std::string_view text);
/// Of a file's bytes. Throws std::runtime_error naming the file if it cannot be read.
std::string file_checksum(const std::string &file);

} // namespace gradweave::runtime
