#include "graph/tensor_file/tensor_file.hpp"

#include "base/file/output_file.hpp"
#include "graph/tensor_file/npy.hpp"
#include "graph/tensor_file/npz.hpp"
#include "graph/tensor_file/safetensors.hpp"
#include "sw_models/config/config_error.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

[[noreturn]] void unknown_ending(const std::filesystem::path &file) {
  throw ConfigError(fmt::format("{}: files of tensors end in .npy, .npz or .safetensors", file.string()));
}

FileTensor read_npy(const std::filesystem::path &file, const AcceptTensor &accept) {
  std::string bytes = read_user_bytes(file, {"file of a tensor", kMaxBulkBytes});
  NpyHeader header = parse_npy_header(bytes, file.string());
  header.entry.name = file.stem().string();
  accept(header.entry);
  bytes.erase(0, header.data_at);
  return npy_tensor(header.entry.name, header, std::move(bytes), file.string());
}

} // namespace

bool is_tensor_file(const std::filesystem::path &file) {
  const std::string ending = file.extension().string();
  return ending == ".npy" || ending == ".npz" || ending == ".safetensors";
}

std::vector<FileTensor> read_tensors(const std::filesystem::path &file, const AcceptTensor &accept) {
  const std::string ending = file.extension().string();
  if (ending == ".npy") return {read_npy(file, accept)};
  if (ending == ".npz") return read_npz(file, accept);
  if (ending == ".safetensors") return read_safetensors(file, accept);
  unknown_ending(file);
}

void write_tensors(const std::filesystem::path &file, const std::vector<FileTensor> &tensors) {
  const std::string ending = file.extension().string();
  if (!is_tensor_file(file)) unknown_ending(file);
  if (ending == ".npy" && tensors.size() != 1)
    throw ConfigError(fmt::format("{}: an .npy file holds one tensor, not {}; use .npz or .safetensors", file.string(),
                                  tensors.size()));
  if (ending == ".safetensors") {
    write_safetensors(file, tensors);
    return;
  }
  OutputFile out(file);
  if (ending == ".npy") {
    out.append(npy_header(tensors.front()));
    out.append(npy_data(tensors.front()));
  } else {
    out.append(npz_bytes(tensors));
  }
  out.commit({});
}

} // namespace gradweave::graph
