#include "base/key/fingerprint.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <fstream>
#include <memory>
#include <stdexcept>

namespace gradweave {

std::string Fingerprint::hex() const {
  const auto [high, low] = digest();
  return fmt::format("{:016x}{:016x}", high, low);
}

void Fingerprint::add_number(char type, std::uint64_t value) {
  bytes_ += type;
  for (int shift = 0; shift < 64; shift += 8)
    bytes_ += static_cast<char>(value >> shift & 0xFFU);
}

void Fingerprint::add_text(std::string_view text) {
  add_number('t', text.size());
  bytes_ += text;
}

std::array<std::uint64_t, 2> Fingerprint::digest() const {
  const XXH128_hash_t hash = XXH3_128bits(bytes_.data(), bytes_.size());
  return {hash.high64, hash.low64};
}

Fingerprint file_fingerprint(const std::string &file) {
  std::ifstream in(file, std::ios::binary);
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::array<char, 65536> buffer{};
  while (in.read(buffer.data(), buffer.size()) || in.gcount() > 0)
    XXH3_128bits_update(state.get(), buffer.data(), static_cast<std::size_t>(in.gcount()));
  if (!in.eof()) throw std::runtime_error(file + ": cannot be read");
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return Fingerprint().add(hash.high64, hash.low64);
}

} // namespace gradweave
