// Einsum: sums of products over named dimensions, as transposes, sums and products of matrices.
#include "graph/onnx/fold/fold.hpp"
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"
#include "graph/onnx/nodes/product.hpp"
#include "graph/onnx/nodes/reshape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace gradweave::graph::onnx {
namespace {

/// A value with a letter for each dimension. What "..." stands for has letters of its own: digits from the last.
struct Term {
  Value value;
  std::string letters;
};

class Equation {
public:
  explicit Equation(NodeImport &node) : node_(node) {
    std::string text = node.text("equation", "");
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const std::size_t arrow = text.find("->");
    const std::string left = text.substr(0, arrow);
    for (std::size_t begin = 0; begin <= left.size();) {
      const std::size_t end = std::min(left.find(',', begin), left.size());
      inputs_.push_back(left.substr(begin, end - begin));
      begin = end + 1;
    }
    if (inputs_.size() != node.node().inputs.size()) fail("names another number of inputs than there are");
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      add_term(i);
    result_ = arrow == std::string::npos ? implicit_result() : letters_of(text.substr(arrow + 2), ellipsis_);
    for (const char letter : result_)
      if (sizes_.count(letter) == 0 || std::count(result_.begin(), result_.end(), letter) > 1)
        fail(fmt::format("has a result of '{}', which no input has, or twice", letter));
  }

  void run() {
    Term result = summed(terms_[0], later(1));
    for (std::size_t i = 1; i < terms_.size(); ++i)
      result = product(result, summed(terms_[i], result.letters + later(i + 1)), later(i + 1));
    Dims perm;
    for (const char letter : result_)
      perm.push_back(static_cast<std::int64_t>(result.letters.find(letter)));
    node_.give(transposed(std::move(result.value), perm));
  }

private:
  [[noreturn]] void fail(std::string_view what) const {
    node_.fail(fmt::format("attribute 'equation' = '{}' {}", node_.text("equation", ""), what));
  }

  /// Letters, with those of `count` dimensions for "...".
  std::string letters_of(const std::string &text, std::size_t count) const {
    std::string letters = text;
    const std::size_t dots = text.find("...");
    if (dots != std::string::npos) {
      std::string digits;
      for (std::size_t d = count; d-- > 0;)
        digits += static_cast<char>('0' + d);
      letters.replace(dots, 3, digits);
    }
    for (const char letter : letters)
      if (std::isalnum(static_cast<unsigned char>(letter)) == 0) fail(fmt::format("has '{}'", letter));
    return letters;
  }

  void add_term(std::size_t i) {
    Value x = node_.real_in(i);
    if (x.channels != 0) { // a flattened image in the file's order
      x.tensor = node_.place.plain(x);
      x.channels = 0;
    }
    const std::string &text = inputs_[i];
    const bool dots = text.find("...") != std::string::npos;
    const std::size_t named = text.size() - (dots ? 3 : 0), rank = x.rank();
    if (named > rank || (!dots && named != rank) || rank - named > 9)
      fail(fmt::format("does not fit input {} '{}', {}", i, x.name, text_of(x.dims)));
    ellipsis_ = std::max(ellipsis_, rank - named);
    Term term{x, letters_of(text, rank - named)};
    drop_repeated(term);
    for (std::size_t d = 0; d < term.letters.size(); ++d) {
      std::int64_t &size = sizes_.try_emplace(term.letters[d], term.value.dims[d]).first->second;
      if (size != term.value.dims[d])
        fail(fmt::format("has dimensions of {} and {} for '{}'", size, term.value.dims[d], term.letters[d]));
    }
    terms_.push_back(std::move(term));
  }

  /// A letter that stands twice in a term: the diagonal.
  void drop_repeated(Term &term) {
    for (std::size_t d = 0; d < term.letters.size(); ++d) {
      const std::size_t again = term.letters.find(term.letters[d], d + 1);
      if (again == std::string::npos) continue;
      const Dims dims = term.value.dims;
      if (dims[d] != dims[again])
        fail(fmt::format("has dimensions of {} and {} for '{}'", dims[d], dims[again], term.letters[d]));
      Dims diagonal = dims, steps = steps_of(dims);
      steps[d] += steps[again];
      diagonal.erase(diagonal.begin() + static_cast<std::ptrdiff_t>(again));
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(again));
      const std::vector<std::size_t> from = places(diagonal, steps);
      const TensorId flat =
          node_.step("Reshape", {node_.place.plain(term.value)}, {{"shape", Dims{product_of(dims)}}}, "flat");
      Value value;
      value.tensor = taken_along(node_, flat, 0, {from.begin(), from.end()}, false);
      value.dims = {static_cast<std::int64_t>(from.size())};
      value.order = {0};
      term = {reshaped_value(node_, value, diagonal, false),
              term.letters.substr(0, again) + term.letters.substr(again + 1)};
      d = static_cast<std::size_t>(-1); // once more from the first one
    }
  }

  std::string implicit_result() const {
    std::map<char, int> seen;
    for (const Term &term : terms_)
      for (const char letter : term.letters)
        ++seen[letter];
    std::string dots, once;
    for (const auto &[letter, times] : seen) {
      if (letter <= '9')
        dots.insert(dots.begin(), letter);
      else if (times == 1)
        once += letter;
    }
    return dots + once;
  }

  /// Letters that the terms from `next` on or the result have.
  std::string later(std::size_t next) const {
    std::string letters = result_;
    for (std::size_t i = next; i < terms_.size(); ++i)
      letters += terms_[i].letters;
    return letters;
  }

  /// Without the letters that nobody reads.
  Term summed(const Term &term, const std::string &read) const {
    Dims axes, dims;
    std::string kept;
    for (std::size_t d = 0; d < term.letters.size(); ++d) {
      if (read.find(term.letters[d]) == std::string::npos) {
        axes.push_back(static_cast<std::int64_t>(d));
        continue;
      }
      kept += term.letters[d];
      dims.push_back(term.value.dims[d]);
    }
    if (axes.empty()) return term;
    Value sum;
    sum.tensor = node_.step("ReduceSum", {node_.place.plain(term.value)},
                            {{"axes", axes}, {"keepdims", std::int64_t{0}}}, "sum");
    sum.dims = dims;
    sum.order = plain_order(dims.size());
    return {sum, kept};
  }

  Dims sizes_of(const std::string &letters) const {
    Dims sizes;
    for (const char letter : letters)
      sizes.push_back(sizes_.at(letter));
    return sizes;
  }
  std::int64_t size_of(const std::string &letters) const { return product_of(sizes_of(letters)); }

  /// The term with these letters in their order, as `dims`.
  Value arranged(const Term &term, const std::string &letters, const Dims &dims) const {
    Dims perm;
    for (const char letter : letters)
      perm.push_back(static_cast<std::int64_t>(term.letters.find(letter)));
    return reshaped_value(node_, transposed(term.value, perm), dims, false);
  }

  /// Letters of both that are read later number products, those that are not are summed over in them.
  Term product(const Term &a, const Term &b, const std::string &read) const {
    std::string batch, inner, left, right;
    for (const char letter : a.letters) {
      const bool both = b.letters.find(letter) != std::string::npos;
      (!both ? left : read.find(letter) != std::string::npos ? batch : inner) += letter;
    }
    for (const char letter : b.letters)
      if (a.letters.find(letter) == std::string::npos) right += letter;
    const std::string all = batch + left + right;
    const Value y = inner.empty() ? multiplied(a, b, batch, left, right) : matrices(a, b, batch, inner, left, right);
    return {reshaped_value(node_, y, sizes_of(all), false), all};
  }

  Value matrices(const Term &a, const Term &b, const std::string &batch, const std::string &inner,
                 const std::string &left, const std::string &right) const {
    const std::int64_t m = size_of(left), k = size_of(inner), n = size_of(right);
    if (batch.empty()) { // rows of any number of dimensions
      Dims rows = left.empty() ? Dims{1} : sizes_of(left);
      rows.push_back(k);
      return matrix_product(node_, arranged(a, left + inner, rows), arranged(b, inner + right, {k, n}), false);
    }
    const std::int64_t count = size_of(batch);
    return matrix_product(node_, arranged(a, batch + left + inner, {count, m, k}),
                          arranged(b, batch + inner + right, {count, k, n}), false);
  }

  /// No letter is summed over: elements times elements.
  Value multiplied(const Term &a, const Term &b, const std::string &batch, const std::string &left,
                   const std::string &right) const {
    const std::int64_t count = size_of(batch), m = size_of(left), n = size_of(right);
    const TensorId x = node_.place.plain(arranged(a, batch + left, {count, m, 1}));
    const TensorId y = node_.place.plain(arranged(b, batch + right, {count, 1, n}));
    Value product;
    product.tensor = node_.step("Mul", {x, y});
    product.dims = {count, m, n};
    product.order = plain_order(3);
    return product;
  }

  NodeImport &node_;
  std::vector<std::string> inputs_;
  std::vector<Term> terms_;
  std::string result_;
  std::map<char, std::int64_t> sizes_;
  std::size_t ellipsis_ = 0; ///< dimensions that "..." stands for
};

} // namespace

void import_einsum(NodeImport &node) { Equation(node).run(); }

} // namespace gradweave::graph::onnx
