// NumPy's .npz: a ZIP archive of .npy files, compressed or not.
#pragma once

#include "graph/tensor_file/file_tensor.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace gradweave::graph {

/// All tensors of an archive, called as its entries without ".npy". Of an entry only the header is unpacked before it
/// is accepted, and then as many bytes as that tells: an archive that unpacks to more is refused, not unpacked. Throws
/// ConfigError.
std::vector<FileTensor> read_npz(const std::filesystem::path &file, const AcceptTensor &accept);

/// The archive, not compressed, as numpy.savez writes it. Throws std::runtime_error.
std::string npz_bytes(const std::vector<FileTensor> &tensors);

} // namespace gradweave::graph
