// Numbers of kept plans.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>
#include <string>
#include <system_error>

namespace gradweave::evaluation {

/// The number that is all of a text. Throws std::invalid_argument if it is none, or too large.
template <typename T> T number(const std::string &text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument(fmt::format("'{}' is no number, or too large", text));
  return value;
}

} // namespace gradweave::evaluation
