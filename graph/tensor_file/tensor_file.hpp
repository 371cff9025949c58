// Files of tensors: .npy (one), .npz and .safetensors (any number).
#pragma once

#include "graph/tensor_file/file_tensor.hpp"

#include <filesystem>
#include <vector>

namespace gradweave::graph {

/// Whether the name ends as one of such files.
bool is_tensor_file(const std::filesystem::path &file);

/// All tensors of a file, told by its ending; that of an .npy is called as the file without it. `accept` sees each
/// entry before its bytes are read. Throws ConfigError that names the file and what is wrong, and what `accept` throws.
std::vector<FileTensor> read_tensors(const std::filesystem::path &file, const AcceptTensor &accept);

/// Writes them, all or nothing; an .npy takes one. Throws ConfigError if there are several for an .npy or the ending is
/// unknown, OutputError if the file cannot be written.
void write_tensors(const std::filesystem::path &file, const std::vector<FileTensor> &tensors);

} // namespace gradweave::graph
