#include "graph/tensor_file/safetensors.hpp"

#include "base/file/output_file.hpp"
#include "graph/tensor_file/refuse.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

namespace gradweave::graph {
namespace {

using Json = nlohmann::ordered_json;

struct Dtype {
  std::string_view text;
  FileType type;
};
constexpr std::array<Dtype, 11> kDtypes{{{"BF16", FileType::kBf16},
                                         {"F16", FileType::kFp16},
                                         {"F32", FileType::kFp32},
                                         {"F64", FileType::kFp64},
                                         {"I32", FileType::kInt32},
                                         {"I64", FileType::kInt64},
                                         {"U8", FileType::kUint8},
                                         {"I8", FileType::kInt8},
                                         {"U16", FileType::kUint16},
                                         {"I16", FileType::kInt16},
                                         {"BOOL", FileType::kBool}}};

/// Notes a key that stands twice, which the JSON library takes without a word.
class Keys {
public:
  bool operator()(int depth, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::key && depth == 1 && !seen_.insert(value.get<std::string>()).second)
      twice_ = value.get<std::string>();
    return true;
  }
  const std::string &twice() const { return twice_; }

private:
  std::set<std::string> seen_;
  std::string twice_;
};

bool are_sizes(const Json &values) {
  return values.is_array() &&
         std::all_of(values.begin(), values.end(), [](const Json &v) { return v.is_number_unsigned(); });
}

SafetensorsEntry entry_of(const std::string &name, const Json &value, const std::string &where) {
  const std::string of = fmt::format("{}: tensor '{}'", where, name);
  const auto field = [&](const char *key) -> const Json & {
    if (!value.is_object() || !value.contains(key)) refuse_file(of, fmt::format("has no {}", key));
    return value[key];
  };
  SafetensorsEntry found;
  found.entry.name = name;
  const Json &dtype = field("dtype");
  const auto code = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const Dtype &c) {
    return dtype.is_string() && dtype.get<std::string>() == c.text;
  });
  if (code == kDtypes.end())
    refuse_file(of, fmt::format("dtype {} is not taken; write BF16, F16, F32, F64, I64, I32, I16, I8, U16, U8 or BOOL",
                                dtype.dump()));
  found.entry.type = code->type;
  const Json &shape = field("shape"), &offsets = field("data_offsets");
  if (!are_sizes(shape)) refuse_file(of, "shape is no list of whole numbers");
  if (!are_sizes(offsets) || offsets.size() != 2) refuse_file(of, "data_offsets is no pair of whole numbers");
  found.entry.shape = shape.get<std::vector<std::uint64_t>>();
  found.begin = offsets[0].get<std::uint64_t>();
  found.end = offsets[1].get<std::uint64_t>();
  const auto elements = found.entry.elements();
  if (!elements || found.end < found.begin || found.end - found.begin != *elements * bytes_of(found.entry.type))
    refuse_file(of, fmt::format("{} of {} are not the bytes {} to {}", found.entry.shape_text(), to_string(code->type),
                                found.begin, found.end));
  return found;
}

} // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                                       const std::string &where) {
  Keys keys;
  const Json header = Json::parse(json.begin(), json.end(), std::ref(keys), false);
  if (header.is_discarded() || !header.is_object()) refuse_file(where, "the header is no JSON object");
  if (!keys.twice().empty()) refuse_file(where, fmt::format("tensor '{}' stands in it twice", keys.twice()));
  std::vector<SafetensorsEntry> entries;
  for (const auto &[name, value] : header.items())
    if (name != "__metadata__") entries.push_back(entry_of(name, value, where));
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry &a, const SafetensorsEntry &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::uint64_t at = 0;
  for (const SafetensorsEntry &e : entries) {
    if (e.begin != at)
      refuse_file(where, fmt::format("tensor '{}' begins at byte {}, and the one before ends at {}", e.entry.name,
                                     e.begin, at));
    at = e.end;
  }
  if (at != data_bytes)
    refuse_file(where,
                fmt::format("its tensors have {} bytes, but {} follow the header: the file is cut off, or more than "
                            "one",
                            at, data_bytes));
  return entries;
}

namespace {

/// The header of a file, and `in` behind it.
std::string read_header(const std::filesystem::path &file, std::ifstream &in) {
  check_user_file(file, {"file of tensors", kMaxBulkBytes});
  const std::string where = file.string();
  const std::uint64_t size = std::filesystem::file_size(file);
  in.open(file, std::ios::binary);
  std::array<unsigned char, 8> length{};
  if (size < length.size() || !in.read(reinterpret_cast<char *>(length.data()), length.size()))
    refuse_file(where, "too short for a safetensors file: it begins with the 8 bytes of its header's length");
  std::uint64_t header_bytes = 0;
  for (std::size_t i = length.size(); i-- > 0;)
    header_bytes = header_bytes << 8U | length[i];
  if (header_bytes > kMaxSafetensorsHeader || header_bytes > size - length.size())
    refuse_file(where, fmt::format("a header of {} bytes is longer than the file, or than a safetensors file's may be",
                                   header_bytes));
  std::string json(header_bytes, '\0');
  in.read(json.data(), static_cast<std::streamsize>(header_bytes));
  return json;
}

} // namespace

FileMetadata read_safetensors_metadata(const std::filesystem::path &file) {
  std::ifstream in;
  const Json header = Json::parse(read_header(file, in), nullptr, false);
  if (!header.is_object()) refuse_file(file.string(), "the header is no JSON object");
  FileMetadata metadata;
  if (!header.contains("__metadata__")) return metadata;
  for (const auto &[name, value] : header["__metadata__"].items()) {
    if (!value.is_string()) refuse_file(file.string(), fmt::format("__metadata__: '{}' is no text", name));
    metadata[name] = value.get<std::string>();
  }
  return metadata;
}

std::vector<FileTensor> read_safetensors(const std::filesystem::path &file, const AcceptTensor &accept) {
  const std::string where = file.string();
  std::ifstream in;
  const std::string json = read_header(file, in);
  const std::uint64_t data_bytes = std::filesystem::file_size(file) - static_cast<std::uint64_t>(in.tellg());
  std::vector<FileTensor> tensors;
  for (const SafetensorsEntry &e : parse_safetensors_header(json, data_bytes, where)) {
    accept(e.entry);
    FileTensor &tensor = tensors.emplace_back();
    static_cast<TensorEntry &>(tensor) = e.entry;
    tensor.bytes.resize(e.end - e.begin);
    in.read(tensor.bytes.data(), static_cast<std::streamsize>(tensor.bytes.size()));
  }
  if (!in) refuse_file(where, "cannot be read to its end");
  return tensors;
}

std::string safetensors_header(const std::vector<FileTensor> &tensors, const FileMetadata &metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t at = 0;
  for (const FileTensor &tensor : tensors) {
    const auto code =
        std::find_if(kDtypes.begin(), kDtypes.end(), [&](const Dtype &c) { return c.type == tensor.type; });
    header[tensor.name] = {
        {"dtype", code->text}, {"shape", tensor.shape}, {"data_offsets", {at, at + tensor.bytes.size()}}};
    at += tensor.bytes.size();
  }
  std::string json = header.dump();
  json.resize((json.size() + 7) / 8 * 8, ' '); // tensors begin at a multiple of 8
  std::string text;
  for (std::size_t i = 0; i < 8; ++i)
    text += static_cast<char>(json.size() >> (8 * i) & 255U);
  return text + json;
}

void write_safetensors(const std::filesystem::path &file, const std::vector<FileTensor> &tensors,
                       const FileMetadata &metadata) {
  OutputFile out(file);
  out.append(safetensors_header(tensors, metadata));
  for (const FileTensor &tensor : tensors)
    out.append(tensor.bytes);
  out.commit({});
}

} // namespace gradweave::graph
