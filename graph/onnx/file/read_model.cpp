#include "graph/onnx/file/read_model.hpp"

#include "graph/ir/error.hpp"
#include "graph/onnx/file/inline.hpp"
#include "graph/onnx/file/parse.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <system_error>

namespace gradweave::graph::onnx {
namespace {

namespace fs = std::filesystem;

/// Reads values that lie in other files.
class ExternalReader {
public:
  explicit ExternalReader(const fs::path &model) : model_(model), folder_(model.parent_path()) {
    if (folder_.empty()) folder_ = ".";
  }

  void read(Blob &blob) const {
    const External &external = *blob.external;
    require_within(blob);
    const fs::path file = place_of(blob, external.location);
    const std::uint64_t wanted = blob.elements() * bytes_of(blob.type);
    if (external.length && *external.length != wanted)
      fail(blob, fmt::format("its external_data has length {}, and its dims take {} bytes", *external.length, wanted));
    std::error_code error;
    const std::uint64_t size = fs::file_size(file, error);
    if (error) fail(blob, fmt::format("cannot read '{}': {}", external.location, error.message()));
    if (external.offset > size || wanted > size - external.offset)
      fail(blob, fmt::format("its {} bytes from byte {} on are more than '{}' has, {}", wanted, external.offset,
                             external.location, size));
    std::ifstream in(file, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(external.offset));
    blob.bytes.resize(static_cast<std::size_t>(wanted));
    if (!in.read(blob.bytes.data(), static_cast<std::streamsize>(wanted)))
      fail(blob, fmt::format("cannot read '{}'", external.location));
  }

  bool is_there(const Blob &blob) const {
    require_within(blob);
    std::error_code error;
    return fs::exists(folder_ / blob.external->location, error);
  }

  /// That the location, as it is written, is one within the folder.
  void require_within(const Blob &blob) const {
    const std::string &location = blob.external->location;
    const fs::path relative(location);
    const bool climbs = std::find(relative.begin(), relative.end(), "..") != relative.end();
    if (location.find('\0') != std::string::npos) fail(blob, "its external_data's location has a byte 0");
    if (location.empty() || relative.is_absolute() || climbs)
      fail(blob, fmt::format("its external_data's location '{}' must be a file within the model's folder", location));
  }

private:
  [[noreturn]] void fail(const Blob &blob, std::string_view message) const {
    throw GraphError(fmt::format("{}: tensor '{}': {}", model_.string(), blob.name, message));
  }

  /// Of a regular file within the folder, when all links are followed.
  fs::path place_of(const Blob &blob, const std::string &location) const {
    std::error_code error;
    const fs::path folder = fs::canonical(folder_, error);
    if (error) fail(blob, fmt::format("cannot read the model's folder: {}", error.message()));
    fs::path file = fs::canonical(folder / location, error);
    if (error) fail(blob, fmt::format("cannot read '{}' beside the model: {}", location, error.message()));
    const auto ends = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    if (ends.first != folder.end())
      fail(blob,
           fmt::format("its external_data's location '{}' is a link that leads out of the model's folder", location));
    if (!fs::is_regular_file(file)) fail(blob, fmt::format("'{}' is no regular file", location));
    return file;
  }

  const fs::path &model_;
  fs::path folder_;
};

/// Of numbers that shapes may follow from, rather than weights.
bool decides_shapes(const Blob &blob) { return blob.elements() <= 64; }

/// Quantised weights and indices, where no values are asked for: zeros.
bool may_be_zeros(const Blob &blob) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 28U;
  return !is_real(blob.type) && !decides_shapes(blob) && blob.elements() <= kMost;
}

/// Calls `read` with the tensors of a graph and of its branches.
template <class Read> void each_blob(std::vector<Blob> &initializers, std::vector<Node> &nodes, const Read &read) {
  for (Blob &blob : initializers)
    read(blob);
  for (Node &node : nodes)
    for (auto &[name, value] : node.attributes)
      if (auto *blob = std::get_if<Blob>(&value))
        read(*blob);
      else if (const auto *branch = std::get_if<std::shared_ptr<Branch>>(&value))
        each_blob((*branch)->initializers, (*branch)->nodes, read);
}

} // namespace

Model read_model(const fs::path &file, bool values) {
  constexpr InputLimit kLimit{"ONNX network", INT_MAX};
  Model model = parse_model(read_user_bytes(file, kLimit), file.string(), values);
  inline_functions(model, file.string());
  const ExternalReader reader(file);
  const auto read = [&](Blob &blob) {
    if (!blob.external) return;
    // Files that hold nothing but weights may be missing where no values are asked for.
    const bool optional = !values && (is_real(blob.type) || may_be_zeros(blob));
    const bool wanted = !is_real(blob.type) || decides_shapes(blob);
    if (!optional || (wanted && reader.is_there(blob)))
      reader.read(blob);
    else
      reader.require_within(blob);
    if (may_be_zeros(blob) && blob.bytes.empty()) blob.bytes.resize(blob.elements() * bytes_of(blob.type));
  };
  each_blob(model.initializers, model.nodes, read);
  return model;
}

} // namespace gradweave::graph::onnx
