#include "graph/onnx/file/damage.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>

namespace gradweave::graph::onnx {
namespace {

/// Fields of onnx.proto that are messages, as far as a message says where a file is broken.
struct MessageField {
  std::string_view name;
  const std::map<std::uint64_t, MessageField> *fields = nullptr;
};
using Message = std::map<std::uint64_t, MessageField>;

const Message &model_message() {
  static const Message tensor, node, value;
  static const Message graph{{1, {"node", &node}},
                             {5, {"initializer", &tensor}},
                             {11, {"input", &value}},
                             {12, {"output", &value}},
                             {13, {"value_info", &value}}};
  static const Message model{{7, {"graph", &graph}}, {8, {"opset_import", &node}}};
  return model;
}

class Walk {
public:
  explicit Walk(std::string_view bytes) : bytes_(bytes) {}

  /// What is wrong in the bytes up to `end`; nothing if all can be read.
  std::optional<std::string> message(const Message &fields, const std::string &path, std::size_t end) {
    while (at_ < end) {
      const std::size_t begin = at_;
      const std::optional<std::uint64_t> key = varint(end);
      if (!key || *key >> 3U == 0) return at(path, begin, "is no field of protobuf");
      const auto field = fields.find(*key >> 3U);
      const std::string name =
          (path.empty() ? "" : path + ".") +
          (field == fields.end() ? fmt::format("{}", *key >> 3U) : std::string(field->second.name));
      if (auto problem = skip(*key & 7U, field == fields.end() ? nullptr : field->second.fields, name, begin, end))
        return problem;
    }
    return std::nullopt;
  }

private:
  static std::string at(const std::string &name, std::size_t byte, const std::string &what) {
    return fmt::format("{} at byte {} {}", name.empty() ? "what stands" : "field '" + name + "'", byte, what);
  }

  std::optional<std::uint64_t> varint(std::size_t end) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ < end; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<std::string> skip(std::uint64_t wire, const Message *inner, const std::string &name, std::size_t begin,
                                  std::size_t end) {
    std::uint64_t size = 0;
    if (wire == 0) return varint(end) ? std::nullopt : std::optional(at(name, begin, "is a number without an end"));
    if (wire == 1 || wire == 5) {
      size = wire == 1 ? 8 : 4;
    } else if (wire == 2) {
      const std::optional<std::uint64_t> length = varint(end);
      if (!length) return at(name, begin, "has a length without an end");
      size = *length;
    } else {
      return at(name, begin, "is of a kind that ONNX does not have");
    }
    if (size > end - at_)
      return at(
          name, begin,
          end == bytes_.size()
              ? fmt::format("takes {} bytes, and the file ends after {} of them: it is truncated", size, end - at_)
              : fmt::format("takes {} bytes, and what it is in ends after {} of them", size, end - at_));
    if (inner != nullptr && wire == 2) return message(*inner, name, at_ + static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return std::nullopt;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

} // namespace

std::string damage_of(std::string_view bytes) {
  if (bytes.empty()) return "the file is empty";
  const auto problem = Walk(bytes).message(model_message(), {}, bytes.size());
  return (problem ? *problem : std::string("a field within a node or tensor is broken")) + "; export the model again";
}

} // namespace gradweave::graph::onnx
