// Files of a test that may run beside itself.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace gradweave::test {

/// A path for `name` in a directory of this process, which is made if need be.
inline std::string scratch_file(const std::string &name) {
  const auto directory = std::filesystem::temp_directory_path() / ("gradweave_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  return directory / name;
}

/// Removes the file, and the directory with the last one.
inline void remove_scratch(const std::string &file) {
  std::error_code ignored;
  std::filesystem::remove_all(file, ignored);
  std::filesystem::remove(std::filesystem::path(file).parent_path(), ignored);
}

} // namespace gradweave::test
