// Which signals take part in a comparison.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::wave {

/// '*' stands for any text, dots included, '?' for one character; everything else, brackets too, for itself.
bool matches_glob(std::string_view glob, std::string_view text);

/// Rules in order; the last that matches a name decides. A name that no rule matches is taken only if there is no rule
/// that takes anything.
class SignalFilter {
public:
  /// `pattern`: a glob, or a regular expression (ECMAScript, anywhere in the name) between slashes:
  /// "/u_(load|store)\./". Throws std::invalid_argument with the pattern if it is no regular expression or empty.
  void include(const std::string &pattern) { add(pattern, true); }
  void exclude(const std::string &pattern) { add(pattern, false); }

  /// `name`: hierarchical, without the range of bits.
  bool takes(const std::string &name) const { return ruling(name).value_or(!selective_); }
  /// What the rule that decides about the name says; none if no rule matches.
  std::optional<bool> ruling(const std::string &name) const;

private:
  struct Rule {
    bool take = true;
    std::string glob; ///< empty: regex
    std::regex regex;
  };
  void add(const std::string &pattern, bool take);

  std::vector<Rule> rules_;
  bool selective_ = false; ///< there is a rule that takes
};

/// Reads rules from a file: "+ PATTERN" takes, "- PATTERN" leaves out, "#" begins a comment. Throws ConfigError with
/// file and line.
SignalFilter read_signal_filter(const std::string &file);

} // namespace gradweave::wave
