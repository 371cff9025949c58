// What the fuzz targets share. Each target is one file that defines LLVMFuzzerTestOneInput(): libFuzzer calls it with
// inputs of its own making (make fuzz), replay.cpp with the kept ones (make test). docs/fuzzing.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace gradweave::fuzz {

inline std::string_view text_of(const std::uint8_t *data, std::size_t size) {
  return {reinterpret_cast<const char *>(data), size};
}

/// A finding: ends the process, with what does not hold.
[[noreturn]] inline void finding(const std::string &what) {
  std::fprintf(stderr, "finding: %s\n", what.c_str());
  std::abort();
}

inline void require(bool holds, const char *what) {
  if (!holds) finding(what);
}

/// A rejection has to begin with the place: "FILE: problem" or "FILE:LINE: problem".
inline void require_place(const std::exception &rejection, std::string_view file) {
  const std::string_view message = rejection.what();
  if (message.size() < file.size() + 3 || message.substr(0, file.size()) != file || message[file.size()] != ':')
    finding("a message that does not name its file: " + std::string(message));
}

} // namespace gradweave::fuzz
