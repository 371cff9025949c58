#include "graph/frontend/network_file.hpp"

#include <fmt/format.h>

namespace gradweave::compiler {

void fail(const std::filesystem::path &file, std::size_t line, std::string_view message) {
  throw ConfigError(line == 0 ? fmt::format("{}: {}", file.string(), message)
                              : fmt::format("{}:{}: {}", file.string(), line, message));
}

std::uint32_t checked_dimension(const std::filesystem::path &file, std::size_t line, std::string_view field,
                                std::int64_t value) {
  if (value < 1 || value > kMaxDimension)
    fail(file, line,
         fmt::format("{} = {} is out of range; give a whole number from 1 to {}", field, value, kMaxDimension));
  return static_cast<std::uint32_t>(value);
}

} // namespace gradweave::compiler
