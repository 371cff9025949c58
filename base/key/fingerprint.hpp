// Fingerprints of what kept results depend on: keys of caches and journals, checksums of what is kept in files.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gradweave {

/// Values in a row, told apart by 128 bits (XXH3): not against forgery, but against mix-ups, edits and damage. Each
/// value goes in with its type and length, so that fields cannot run into each other: ("ab", "c") is not ("a", "bc"),
/// no value is not an empty one, and 1 is neither "1" nor true.
///
/// Whoever adds a struct names all its fields by a structured binding. A field that is new then does not compile until
/// it is decided whether anything depends on it; tests/house/undecided_fields.sh sees to it.
class Fingerprint {
public:
  /// Numbers, enumerations, texts, other fingerprints; optional ones, vectors of them.
  template <typename... T> Fingerprint &add(const T &...values) {
    (add_one(values), ...);
    return *this;
  }

  /// 32 hexadecimal digits, the same on every machine.
  std::string hex() const;

private:
  void add_number(char type, std::uint64_t value);
  void add_text(std::string_view text);
  std::array<std::uint64_t, 2> digest() const;

  template <typename T> void add_one(const T &value) {
    if constexpr (std::is_same_v<T, Fingerprint>) {
      for (const std::uint64_t half : value.digest())
        add_number('f', half);
    } else if constexpr (std::is_same_v<T, bool>) {
      add_number('b', value ? 1 : 0);
    } else if constexpr (std::is_same_v<T, double>) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      add_number('d', bits);
    } else if constexpr (std::is_enum_v<T>) {
      add_number('e', static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_integral_v<T>) {
      add_number(value < T{} ? 'n' : 'u', static_cast<std::uint64_t>(value));
    } else {
      add_text(value);
    }
  }
  template <typename T> void add_one(const std::optional<T> &value) {
    add_number('o', value ? 1 : 0);
    if (value) add_one(*value);
  }
  template <typename T> void add_one(const std::vector<T> &values) {
    add_number('v', values.size());
    for (const T &value : values)
      add_one(value);
  }

  std::string bytes_;
};

/// Of a file's bytes. Throws std::runtime_error naming the file if it cannot be read.
Fingerprint file_fingerprint(const std::string &file);

} // namespace gradweave
