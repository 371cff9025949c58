// What an ONNX file says, without the library that reads it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gradweave::graph::onnx {

/// Of a tensor's elements, with the numbers of onnx.proto.
enum class DataType : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
};
/// "float", "int64", "type 21" of one that is not read.
std::string to_string(DataType type);
/// Bytes of an element; 0 of a type that is not read.
std::size_t bytes_of(DataType type);
bool is_real(DataType type);

/// Values in another file.
struct External {
  std::string location; ///< relative to the model's folder
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length = {};
};

/// A tensor whose values are in the file.
struct Blob {
  std::string name;
  DataType type = DataType::kUndefined;
  std::vector<std::int64_t> dims;
  std::string bytes; ///< little-endian, row-major
  std::optional<External> external = {};
  std::optional<double> fill = {}; ///< all elements are this number, and there are no bytes

  std::uint64_t elements() const; ///< as check_blob() allows them
};

struct Branch;
using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                                    std::vector<std::string>, Blob, std::shared_ptr<Branch>,
                                    std::monostate>; ///< monostate: nothing takes its kind

struct Node {
  std::string name; ///< may be empty
  std::string type, domain;
  std::vector<std::string> inputs, outputs; ///< empty: left out
  std::map<std::string, AttributeValue, std::less<>> attributes;
  std::map<std::string, std::string> references = {}; ///< attributes that a function's caller gives, by their names
  std::int64_t opset = 0;                             ///< 0: the model's
};

/// What an If computes in one of its two cases; it may read any value that the If could.
struct Branch {
  std::vector<Node> nodes;
  std::vector<Blob> initializers;
  std::vector<std::string> outputs;
};

/// Nodes that stand for one node.
struct Function {
  std::string name, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<Node> nodes;
  std::map<std::string, AttributeValue, std::less<>> defaults; ///< of attributes
  std::int64_t opset = 0;                                      ///< of ONNX's own operators; 0: the model's
};

struct Dimension {
  std::int64_t size = 0; ///< 0: symbolic
  std::string symbol;    ///< may be empty
};

/// An input or output of the graph.
struct ValueInfo {
  std::string name;
  DataType type = DataType::kUndefined;
  std::optional<std::vector<Dimension>> dims; ///< nothing: the file does not say
};

struct Model {
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets; ///< by domain; "" is ONNX's own
  std::string producer, name;
  std::vector<Node> nodes;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<Blob> initializers;
  std::vector<Function> functions;

  std::int64_t opset() const {
    const auto own = opsets.find("");
    return own == opsets.end() ? 0 : own->second;
  }
};

/// The first output that is not left out; empty: there is none.
std::string first_output(const Node &node);
/// "node 'conv1' (Conv)"; one without a name by its first output.
std::string describe(const Node &node);

/// What is wrong with a tensor; empty: its type is read, its dimensions are at least 0 and at most 2^40 elements
/// together, and its values, unless they are external, are as many. `values`: whether real numbers need to have any.
std::string problem_of(const Blob &blob, bool values);

} // namespace gradweave::graph::onnx
