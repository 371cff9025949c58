#include "graph/onnx/file/parse.hpp"

#include "graph/ir/error.hpp"
#include "graph/onnx/file/damage.hpp"

#include <fmt/format.h>

#define ONNX_ML 1           // as Debian's library was compiled
#define ONNX_NAMESPACE onnx // likewise
#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <charconv>
#include <climits>
#include <cstring>

namespace gradweave::graph::onnx {
namespace {

class Parser {
public:
  Parser(const std::string &file, bool values) : file_(file), values_(values) {}

  Model run(::onnx::ModelProto &proto) {
    Model model;
    model.ir_version = proto.ir_version();
    model.producer = proto.producer_name();
    for (const ::onnx::OperatorSetIdProto &set : proto.opset_import())
      model.opsets[set.domain() == "ai.onnx" ? "" : set.domain()] = set.version();
    if (!proto.has_graph()) fail("field 'graph' is missing: this is no ONNX model");
    if (model.opset() == 0 && model.ir_version < 3) model.opsets[""] = 1; // older files do not say
    check_opset(model.opset());
    ::onnx::GraphProto &graph = *proto.mutable_graph();
    model.name = graph.name();
    for (::onnx::FunctionProto &function : *proto.mutable_functions())
      model.functions.push_back(function_of(function));
    model.initializers = initializers_of(graph);
    for (::onnx::NodeProto &node : *graph.mutable_node())
      model.nodes.push_back(node_of(node));
    for (const ::onnx::ValueInfoProto &value : graph.input())
      model.inputs.push_back(value_of(value));
    for (const ::onnx::ValueInfoProto &value : graph.output())
      model.outputs.push_back(value_of(value));
    return model;
  }

private:
  [[noreturn]] void fail(std::string_view message) const { throw GraphError(fmt::format("{}: {}", file_, message)); }

  void check_opset(std::int64_t opset) const {
    constexpr std::int64_t kFirst = 1, kLast = 24;
    if (opset == 0) fail("field 'opset_import' names no version of ONNX's own operators; export the model again");
    if (opset < kFirst || opset > kLast)
      fail(fmt::format("field 'opset_import': opset {} is not read, {} to {} are; export the model with one of these",
                       opset, kFirst, kLast));
  }

  void check(const Blob &blob, const std::string &what) const {
    if (const std::string problem = problem_of(blob, values_); !problem.empty())
      fail(fmt::format("{}: {}", what, problem));
  }

  template <class T, class Values> static std::string packed(const Values &values) {
    std::string bytes(static_cast<std::size_t>(values.size()) * sizeof(T), '\0');
    for (int i = 0; i < values.size(); ++i) {
      const auto value = static_cast<T>(values[i]);
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }
    return bytes;
  }

  /// Of values that have fields of their own type.
  static std::string typed_values(const ::onnx::TensorProto &t, DataType type) {
    switch (type) {
    case DataType::kFloat:
      return packed<float>(t.float_data());
    case DataType::kDouble:
      return packed<double>(t.double_data());
    case DataType::kInt64:
      return packed<std::int64_t>(t.int64_data());
    case DataType::kUint32:
      return packed<std::uint32_t>(t.uint64_data());
    case DataType::kUint64:
      return packed<std::uint64_t>(t.uint64_data());
    case DataType::kInt32:
      return packed<std::int32_t>(t.int32_data());
    case DataType::kUint16:
    case DataType::kInt16:
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return packed<std::uint16_t>(t.int32_data());
    case DataType::kUint8:
    case DataType::kInt8:
    case DataType::kBool:
      return packed<std::uint8_t>(t.int32_data());
    default:
      return {};
    }
  }

  std::uint64_t number(const std::string &tensor, const std::string &key, const std::string &text) const {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
      fail(fmt::format("tensor '{}': external_data's {} '{}' is no whole number", tensor, key, text));
    return value;
  }

  Blob blob_of(::onnx::TensorProto &tensor) const {
    Blob blob;
    blob.name = tensor.name();
    blob.type = static_cast<DataType>(tensor.data_type());
    blob.dims.assign(tensor.dims().begin(), tensor.dims().end());
    if (tensor.has_segment()) fail(fmt::format("tensor '{}': field 'segment' is not read", blob.name));
    if (tensor.data_location() == ::onnx::TensorProto::EXTERNAL) {
      External &external = blob.external.emplace();
      for (const ::onnx::StringStringEntryProto &entry : tensor.external_data()) {
        if (entry.key() == "location") external.location = entry.value();
        if (entry.key() == "offset") external.offset = number(blob.name, "offset", entry.value());
        if (entry.key() == "length") external.length = number(blob.name, "length", entry.value());
      }
    } else if (tensor.has_raw_data()) {
      blob.bytes = std::move(*tensor.mutable_raw_data());
    } else {
      blob.bytes = typed_values(tensor, blob.type);
    }
    return blob;
  }

  std::vector<Blob> initializers_of(::onnx::GraphProto &graph) const {
    if (graph.sparse_initializer_size() > 0) fail("field 'graph.sparse_initializer': sparse weights are not read");
    std::vector<Blob> blobs;
    for (::onnx::TensorProto &tensor : *graph.mutable_initializer()) {
      blobs.push_back(blob_of(tensor));
      check(blobs.back(), fmt::format("initializer '{}'", blobs.back().name));
    }
    return blobs;
  }

  std::shared_ptr<Branch> branch_of(::onnx::GraphProto &graph) const {
    auto branch = std::make_shared<Branch>();
    branch->initializers = initializers_of(graph);
    for (::onnx::NodeProto &node : *graph.mutable_node())
      branch->nodes.push_back(node_of(node));
    for (const ::onnx::ValueInfoProto &value : graph.output())
      branch->outputs.push_back(value.name());
    return branch;
  }

  AttributeValue value_of(::onnx::AttributeProto &attribute, const Node &node) const {
    switch (attribute.type()) {
    case ::onnx::AttributeProto::INT:
      return attribute.i();
    case ::onnx::AttributeProto::FLOAT:
      return static_cast<double>(attribute.f());
    case ::onnx::AttributeProto::STRING:
      return attribute.s();
    case ::onnx::AttributeProto::INTS:
      return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
    case ::onnx::AttributeProto::FLOATS:
      return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    case ::onnx::AttributeProto::STRINGS:
      return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
    case ::onnx::AttributeProto::TENSOR: {
      Blob blob = blob_of(*attribute.mutable_t());
      check(blob, fmt::format("{}: attribute '{}'", describe(node), attribute.name()));
      return blob;
    }
    case ::onnx::AttributeProto::GRAPH:
      if (node.type == "If" && node.domain.empty()) return branch_of(*attribute.mutable_g());
      return std::monostate{};
    default:
      return std::monostate{};
    }
  }

  Node node_of(::onnx::NodeProto &proto) const {
    Node node;
    node.name = proto.name();
    node.type = proto.op_type();
    node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
    node.inputs.assign(proto.input().begin(), proto.input().end());
    node.outputs.assign(proto.output().begin(), proto.output().end());
    for (::onnx::AttributeProto &attribute : *proto.mutable_attribute())
      if (attribute.ref_attr_name().empty())
        node.attributes.emplace(attribute.name(), value_of(attribute, node));
      else
        node.references.emplace(attribute.name(), attribute.ref_attr_name());
    return node;
  }

  Function function_of(::onnx::FunctionProto &proto) const {
    Function function;
    function.name = proto.name();
    function.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
    function.inputs.assign(proto.input().begin(), proto.input().end());
    function.outputs.assign(proto.output().begin(), proto.output().end());
    for (const ::onnx::OperatorSetIdProto &set : proto.opset_import())
      if (set.domain().empty() || set.domain() == "ai.onnx") function.opset = set.version();
    for (::onnx::NodeProto &node : *proto.mutable_node())
      function.nodes.push_back(node_of(node));
    add_defaults(proto, function);
    return function;
  }

  /// Attributes with their defaults: a field that the library of Debian 12 does not know yet.
  void add_defaults(const ::onnx::FunctionProto &proto, Function &function) const {
    constexpr int kAttributeProto = 11;
    Node owner;
    owner.name = owner.type = function.name;
    const google::protobuf::UnknownFieldSet &fields = proto.unknown_fields();
    for (int i = 0; i < fields.field_count(); ++i) {
      const google::protobuf::UnknownField &field = fields.field(i);
      ::onnx::AttributeProto attribute;
      if (field.number() == kAttributeProto && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
          attribute.ParseFromString(field.length_delimited()))
        function.defaults.emplace(attribute.name(), value_of(attribute, owner));
    }
  }

  static ValueInfo value_of(const ::onnx::ValueInfoProto &proto) {
    ValueInfo value;
    value.name = proto.name();
    if (!proto.type().has_tensor_type()) return value;
    const auto &type = proto.type().tensor_type();
    value.type = static_cast<DataType>(type.elem_type());
    if (!type.has_shape()) return value;
    auto &dims = value.dims.emplace();
    for (const auto &dim : type.shape().dim())
      dims.push_back({dim.has_dim_value() ? dim.dim_value() : 0, dim.dim_param()});
    return value;
  }

  const std::string &file_;
  bool values_; ///< real numbers must have any
};

} // namespace

Model parse_model(std::string_view bytes, const std::string &file, bool values) {
  if (bytes.size() > INT_MAX)
    throw GraphError(
        fmt::format("{}: {} bytes are more than the 2 GB that an ONNX file may have; export it with external "
                    "data",
                    file, bytes.size()));
  ::onnx::ModelProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw GraphError(fmt::format("{}: {}", file, damage_of(bytes)));
  return Parser(file, values).run(proto);
}

} // namespace gradweave::graph::onnx
