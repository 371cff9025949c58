#include "trace/wave/signal_filter.hpp"

#include "sw_models/config/npu_config.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>

namespace gradweave::wave {

bool matches_glob(std::string_view glob, std::string_view text) {
  // Where to go on after a mismatch: the last '*' takes a character more.
  std::size_t g = 0, t = 0, star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_text = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*')
    ++g;
  return g == glob.size();
}

void SignalFilter::add(const std::string &pattern, bool take) {
  if (pattern.empty()) throw std::invalid_argument("the pattern of a signal is empty");
  Rule rule;
  rule.take = take;
  if (pattern.size() > 2 && pattern.front() == '/' && pattern.back() == '/') {
    try {
      rule.regex = std::regex(pattern.substr(1, pattern.size() - 2), std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error &error) {
      throw std::invalid_argument(fmt::format("{} is no regular expression: {}", pattern, error.what()));
    }
  } else {
    rule.glob = pattern;
  }
  selective_ = selective_ || take;
  rules_.push_back(std::move(rule));
}

std::optional<bool> SignalFilter::ruling(const std::string &name) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
    if (rule->glob.empty() ? std::regex_search(name, rule->regex) : matches_glob(rule->glob, name)) return rule->take;
  return std::nullopt;
}

SignalFilter read_signal_filter(const std::string &file) {
  std::istringstream in(read_user_text(file, {"list of signals", kMaxTextBytes}));
  SignalFilter filter;
  std::string line;
  for (unsigned number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string sign, pattern, more;
    if (!(words >> sign)) continue;
    if ((sign != "+" && sign != "-") || !(words >> pattern) || words >> more)
      throw ConfigError(fmt::format("{}:{}: '{}' is no rule; write '+ PATTERN' or '- PATTERN'", file, number, line));
    try {
      sign == "+" ? filter.include(pattern) : filter.exclude(pattern);
    } catch (const std::invalid_argument &error) {
      throw ConfigError(fmt::format("{}:{}: {}", file, number, error.what()));
    }
  }
  return filter;
}

} // namespace gradweave::wave
