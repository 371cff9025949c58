#include "base/checksum.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace gradweave::runtime {
namespace {

std::string hexadecimal(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

} // namespace

std::string checksum(std::string_view text) { return hexadecimal(XXH3_128bits(text.data(), text.size())); }

std::string file_checksum(const std::string &file) {
  std::ifstream in(file, std::ios::binary);
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::array<char, 65536> buffer{};
  while (in.read(buffer.data(), buffer.size()) || in.gcount() > 0)
    XXH3_128bits_update(state.get(), buffer.data(), static_cast<std::size_t>(in.gcount()));
  if (!in.eof()) throw std::runtime_error(file + ": cannot be read");
  return hexadecimal(XXH3_128bits_digest(state.get()));
}

} // namespace gradweave::runtime
