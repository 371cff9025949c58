// Reads fields of JSON that somebody else may have written.
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace gradweave {

/// The whole number that `json` is. Throws std::invalid_argument if it is no number, negative, has a fraction or is too
/// large: the library would convert it all the same, which is undefined for 1e99.
template <typename T, typename Json> T whole_number(const Json &json) {
  static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  if (json.is_number_unsigned())
    if (const auto value = json.template get<std::uint64_t>(); value <= kMax) return static_cast<T>(value);
  throw std::invalid_argument(fmt::format("a {} where there must be a whole number up to {}", json.type_name(), kMax));
}

/// Sets `value` to the field `key`. Throws nlohmann::json::exception if it is missing or of another type, and
/// std::invalid_argument as whole_number().
template <typename T, typename Json> void read_field(const Json &json, const char *key, T &value) {
  const Json &field = json.at(key);
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    value = whole_number<T>(field);
  else
    field.get_to(value);
}

} // namespace gradweave
