// NumPy's .npy format, versions 1 to 3 (numpy.lib.format).
#pragma once

#include "graph/tensor_file/file_tensor.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace gradweave::graph {

struct NpyHeader {
  TensorEntry entry;         ///< without a name
  bool column_major = false; ///< as Fortran orders elements; else row-major
  std::size_t data_at = 0;   ///< where the elements begin
};

/// The longest header that is read: with every dimension that a tensor may have it is far shorter.
inline constexpr std::size_t kMaxNpyHeader = 65536;

/// The header that `bytes` begin with. Throws ConfigError, which begins with `where`, for what is none, and for types
/// that no tensor here has.
NpyHeader parse_npy_header(std::string_view bytes, const std::string &where);

/// The tensor, row-major. `data`: what stands behind the header; it has the elements and nothing else, or a ConfigError
/// is thrown.
FileTensor npy_tensor(std::string name, const NpyHeader &header, std::string data, const std::string &where);

/// The header of a tensor, version 1. bf16, of which NumPy knows nothing, is written as fp32 (exactly), see npy_data().
std::string npy_header(const TensorEntry &tensor);
/// The elements behind it.
std::string npy_data(const FileTensor &tensor);

} // namespace gradweave::graph
