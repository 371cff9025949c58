// Networks from text, and what loading them says.
#pragma once

#include "graph/frontend/load_network.hpp"
#include "sw_models/config/config_error.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace gradweave::compiler {

/// A file that exists as long as the object.
class TempFile {
public:
  TempFile(const std::string &ending, const std::string &text) : path_(test::scratch_file("network" + ending)) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TempFile() { std::filesystem::remove(path_); }
  TempFile(const TempFile &) = delete;
  TempFile &operator=(const TempFile &) = delete;
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

inline Network read(const std::string &ending, const std::string &text, std::optional<std::uint32_t> batch = {}) {
  return load_network(TempFile(ending, text).path(), batch);
}

inline std::string error_of(const std::string &ending, const std::string &text,
                            std::optional<std::uint32_t> batch = {}) {
  try {
    read(ending, text, batch);
  } catch (const ConfigError &e) {
    return e.what();
  }
  return "no error";
}

#define EXPECT_MESSAGE(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

} // namespace gradweave::compiler
