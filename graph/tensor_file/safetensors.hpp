// The safetensors format (https://github.com/huggingface/safetensors): a header in JSON, then the bytes of all tensors.
#pragma once

#include "graph/tensor_file/file_tensor.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::graph {

/// A tensor's entry, and where its bytes lie behind the header.
struct SafetensorsEntry {
  TensorEntry entry;
  std::uint64_t begin = 0, end = 0;
};

/// The longest header, as the format's own reader limits it.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// The entries of a header, by where their bytes lie. `data_bytes`: how many follow the header; the tensors fill them
/// without gaps and overlaps, or a ConfigError is thrown that begins with `where`, as for all else that is wrong.
std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                                       const std::string &where);

/// All tensors of a file, each accepted before its bytes are read. Throws ConfigError.
std::vector<FileTensor> read_safetensors(const std::filesystem::path &file, const AcceptTensor &accept);

/// What a file says of itself: texts by their names, the format's "__metadata__".
using FileMetadata = std::map<std::string, std::string>;

/// Of a file; empty if it says nothing. Throws ConfigError.
FileMetadata read_safetensors_metadata(const std::filesystem::path &file);

/// Everything before the tensors' bytes, which follow in the same order.
std::string safetensors_header(const std::vector<FileTensor> &tensors, const FileMetadata &metadata = {});

/// Writes a file, all or nothing. Throws OutputError.
void write_safetensors(const std::filesystem::path &file, const std::vector<FileTensor> &tensors,
                       const FileMetadata &metadata = {});

} // namespace gradweave::graph
