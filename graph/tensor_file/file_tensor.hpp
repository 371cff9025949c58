// Tensors as files hold them: a name, a type, a shape, and bytes in row-major order, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::graph {

/// Types that files of this project hold or take.
enum class FileType : std::uint8_t {
  kBf16,
  kFp16,
  kFp32,
  kFp64,
  kInt32,
  kInt64,
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kBool
};
std::string_view to_string(FileType type); ///< "bf16", "fp16", "fp32", "fp64", "int32", "int64", "uint8", ... "bool"
std::size_t bytes_of(FileType type);       ///< of an element
inline bool is_real(FileType type) { return type < FileType::kInt32; }

/// What is known of a tensor before its bytes are read.
struct TensorEntry {
  std::string name;
  FileType type = FileType::kFp32;
  std::vector<std::uint64_t> shape; ///< empty: a scalar

  /// Elements; nothing if they, or their bytes, are more than 64 bits count.
  std::optional<std::uint64_t> elements() const;
  std::string shape_text() const; ///< "[2, 3]"
};

struct FileTensor : TensorEntry {
  std::string bytes; ///< elements() times bytes_of(type)
};

/// Looks at an entry before its bytes are read, and throws if they are not wanted: what a file claims to hold is not
/// allocated before somebody asked for as much.
using AcceptTensor = std::function<void(const TensorEntry &)>;

/// As fp32: bf16 and fp16 exactly, fp64 rounded to nearest. Throws std::invalid_argument for whole numbers.
std::vector<float> floats_of(const FileTensor &tensor);
/// As int32. Throws std::invalid_argument for real numbers, and for one that does not fit.
std::vector<std::int32_t> indices_of(const FileTensor &tensor);

/// A tensor of bf16 from fp32 values that are such (their lower halves are 0), or of fp32.
FileTensor file_tensor(std::string name, FileType type, std::vector<std::uint64_t> shape,
                       const std::vector<float> &values);
/// A tensor of int64.
FileTensor file_tensor(std::string name, std::vector<std::uint64_t> shape, const std::vector<std::int32_t> &values);

} // namespace gradweave::graph
