#include "graph/tensor_file/npy.hpp"

#include "graph/tensor_file/refuse.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <utility>

namespace gradweave::graph {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxRank = 32; // NumPy's own

struct Code {
  std::string_view descr;
  FileType type;
};
constexpr std::array<Code, 12> kCodes{{{"<f4", FileType::kFp32},
                                       {"<f8", FileType::kFp64},
                                       {"<f2", FileType::kFp16},
                                       {"<i4", FileType::kInt32},
                                       {"<i8", FileType::kInt64},
                                       {"|u1", FileType::kUint8},
                                       {"|i1", FileType::kInt8},
                                       {"<u2", FileType::kUint16},
                                       {"<i2", FileType::kInt16},
                                       {"|b1", FileType::kBool},
                                       {"<V2", FileType::kBf16}, // as ml_dtypes writes it
                                       {"|V2", FileType::kBf16}}};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// The dictionary of a header: a Python literal with three keys.
class Dictionary {
public:
  Dictionary(std::string_view text, const std::string &where) : rest_(text), where_(where) {}

  NpyHeader parse() {
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr")
        type();
      else if (key == "fortran_order")
        order();
      else if (key == "shape")
        shape();
      else
        bad(fmt::format("unknown key '{}'", key));
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (seen_ != 7) bad("descr, fortran_order or shape is missing");
    return std::move(header_);
  }

private:
  [[noreturn]] void bad(const std::string &problem) const {
    refuse_file(where_, fmt::format("not the header of an .npy file: {}", problem));
  }
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) bad(fmt::format("'{}' is missing", c));
  }
  std::string_view quoted() {
    skip();
    const char quote = take('"') ? '"' : '\'';
    if (quote == '\'' && !take('\'')) bad("a text in quotes is missing");
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) bad("a quote is not closed");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  void once(unsigned bit) {
    if ((seen_ & bit) != 0) bad("a key stands twice");
    seen_ |= bit;
  }

  void type() {
    once(1);
    skip();
    if (!rest_.empty() && rest_.front() == '[')
      refuse_file(where_, "its elements are records; write an array of numbers");
    const std::string_view descr = quoted();
    for (const Code &code : kCodes)
      if (descr == code.descr) {
        header_.entry.type = code.type;
        return;
      }
    refuse_file(
        where_,
        fmt::format("its elements are '{}'; write float32, float64, float16, int32, int64, uint8, int8, uint16, "
                    "int16 or bool, little-endian: array.astype('<f4')",
                    descr));
  }
  void order() {
    once(2);
    skip();
    for (const auto &[word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
      if (rest_.substr(0, word.size()) == word) {
        header_.column_major = value;
        rest_.remove_prefix(word.size());
        return;
      }
    bad("fortran_order is neither True nor False");
  }
  void shape() {
    once(4);
    expect('(');
    while (!take(')')) {
      skip();
      std::uint64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc{}) bad("shape holds something else than whole numbers");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      header_.entry.shape.push_back(size);
      if (header_.entry.shape.size() > kMaxRank) bad(fmt::format("shape has more than {} dimensions", kMaxRank));
      if (!take(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view rest_;
  const std::string &where_;
  NpyHeader header_;
  unsigned seen_ = 0;
};

/// The elements in the order of rows.
std::string row_major(const TensorEntry &entry, const std::string &data) {
  const std::size_t size = bytes_of(entry.type), rank = entry.shape.size();
  std::string rows(data.size(), '\0');
  std::vector<std::uint64_t> at(rank);
  std::size_t from = 0; // of the element `at`, the first index of which counts fastest
  for (std::size_t to = 0; to * size < data.size(); ++to) {
    std::memcpy(rows.data() + to * size, data.data() + from * size, size);
    for (std::size_t d = rank; d-- > 0;) {
      std::size_t stride = 1;
      for (std::size_t e = 0; e < d; ++e)
        stride *= entry.shape[e];
      from += stride;
      if (++at[d] < entry.shape[d]) break;
      from -= stride * entry.shape[d];
      at[d] = 0;
    }
  }
  return rows;
}

} // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string &where) {
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < 10)
    refuse_file(where, "not an .npy file: it does not begin with \\x93NUMPY");
  const auto version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    refuse_file(where, fmt::format("version {} of the .npy format is not known", version));
  const std::size_t fixed = version == 1 ? 10 : 12;
  const std::uint64_t length = bytes.size() < fixed ? bytes.size() : little_endian(bytes.substr(8, fixed - 8));
  if (length > kMaxNpyHeader || fixed + length > bytes.size())
    refuse_file(where, "the header of the .npy file is cut off or too long");
  NpyHeader header = Dictionary(bytes.substr(fixed, length), where).parse();
  header.data_at = fixed + length;
  return header;
}

FileTensor npy_tensor(std::string name, const NpyHeader &header, std::string data, const std::string &where) {
  const std::optional<std::uint64_t> elements = header.entry.elements();
  if (!elements || *elements * bytes_of(header.entry.type) != data.size())
    refuse_file(where, fmt::format("{} of {} are not the {} bytes that follow the header", header.entry.shape_text(),
                                   to_string(header.entry.type), data.size()));
  FileTensor tensor;
  static_cast<TensorEntry &>(tensor) = header.entry;
  tensor.name = std::move(name);
  tensor.bytes = header.column_major ? row_major(header.entry, data) : std::move(data);
  return tensor;
}

std::string npy_header(const TensorEntry &tensor) {
  const FileType type = tensor.type == FileType::kBf16 ? FileType::kFp32 : tensor.type;
  std::string_view descr;
  for (const Code &code : kCodes)
    if (code.type == type) descr = code.descr;
  std::string shape = fmt::format("{}", fmt::join(tensor.shape, ", "));
  if (tensor.shape.size() == 1) shape += ',';
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  constexpr std::size_t kFixed = 10, kAlign = 64; // elements begin at a multiple of 64
  text.resize((kFixed + text.size() + 1 + kAlign - 1) / kAlign * kAlign - kFixed - 1, ' ');
  text += '\n';
  std::string header(kMagic);
  header += std::string("\x01\0", 2);
  header += static_cast<char>(text.size() & 255U);
  header += static_cast<char>(text.size() >> 8U);
  return header + text;
}

std::string npy_data(const FileTensor &tensor) {
  if (tensor.type != FileType::kBf16) return tensor.bytes;
  return file_tensor({}, FileType::kFp32, tensor.shape, floats_of(tensor)).bytes;
}

} // namespace gradweave::graph
