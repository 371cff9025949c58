// Tokens of SystemVerilog source, as far as this project's RTL uses the language.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::mutation {

enum class SvKind {
  kName,   ///< identifiers, keywords, $system names
  kNumber, ///< 12, 8'hff, '0
  kText,   ///< "string"
  kSign,   ///< operators and punctuation
  kEnd     ///< behind the last token
};

struct SvToken {
  SvKind kind = SvKind::kEnd;
  std::string_view text;
  std::size_t begin = 0, end = 0; ///< in the source
};

/// The tokens of `source`, which has to outlive them; the last one is of kind kEnd. Comments, compiler directives and
/// attributes are skipped. Throws std::runtime_error naming the line of a character that starts no token.
std::vector<SvToken> sv_tokens(const std::string &source);

} // namespace gradweave::mutation
