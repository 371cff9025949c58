#include "compiler/paper/policy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>

namespace gradweave::compiler::paper {
namespace {

/// One choice of a policy with the words for its values.
struct Choice {
  std::vector<std::string_view> words;
  std::function<std::size_t(const Policy &)> get;
  std::function<void(Policy &, std::size_t)> set;
};

template <typename E> Choice choice(E Policy::*field, std::vector<std::string_view> words) {
  return {std::move(words), [field](const Policy &p) { return static_cast<std::size_t>(p.*field); },
          [field](Policy &p, std::size_t value) { p.*field = static_cast<E>(value); }};
}

/// In the order of the fields, words in the order of the enumerators; no word occurs twice.
const std::array<Choice, 7> &choices() {
  static const std::array<Choice, 7> all{
      choice(&Policy::tile, {"array", "array2", "array4", "largest"}),
      choice(&Policy::replacement, {"none", "halves", "fifo", "lru", "belady"}),
      choice(&Policy::reuse, {"half", "whole"}),
      choice(&Policy::dw_order, {"rows", "columns"}),
      choice(&Policy::major, {"tile", "result"}),
      choice(&Policy::partial_share, {"all", "partial_half"}),
      choice(&Policy::partial_rule, {"soonest", "as_operands"}),
  };
  return all;
}

/// `none` and `halves` have no space to divide: the choice makes no difference.
bool redundant(const Policy &p) {
  return (p.replacement == Replacement::kNone || p.replacement == Replacement::kHalves) && p.reuse != Reuse::kHalf;
}

void add(std::vector<Policy> &policies, const Policy &p) {
  if (!redundant(p) && std::find(policies.begin(), policies.end(), p) == policies.end()) policies.push_back(p);
}

/// `policies` with each value of the choice.
std::vector<Policy> varied(const std::vector<Policy> &policies, const Choice &c) {
  std::vector<Policy> result;
  for (std::size_t value = 0; value < c.words.size(); ++value)
    for (Policy p : policies) {
      c.set(p, value);
      result.push_back(p);
    }
  return result;
}

} // namespace

std::string to_string(const Policy &policy) {
  std::vector<std::string_view> words;
  for (const Choice &c : choices())
    words.push_back(c.words.at(c.get(policy)));
  return fmt::format("{}", fmt::join(words, "/"));
}

Policy parse_policy(std::string_view text) {
  Policy policy;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find('/'));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    bool found = false;
    for (const Choice &c : choices())
      if (const auto it = std::find(c.words.begin(), c.words.end(), word); it != c.words.end()) {
        c.set(policy, static_cast<std::size_t>(it - c.words.begin()));
        found = true;
      }
    if (!found) throw std::invalid_argument(fmt::format("unknown word '{}' in a policy; use {}", word, policy_words()));
  }
  return policy;
}

std::string policy_words() {
  std::vector<std::string_view> known;
  for (const Choice &c : choices())
    known.insert(known.end(), c.words.begin(), c.words.end());
  return fmt::format("{}", fmt::join(known, ", "));
}

const std::vector<Policy> &all_policies() {
  static const std::vector<Policy> all = [] {
    std::vector<Policy> combinations{Policy{}};
    for (const Choice &c : choices())
      combinations = varied(combinations, c);
    std::vector<Policy> result{Policy{}};
    for (const Policy &p : combinations)
      add(result, p);
    return result;
  }();
  return all;
}

const std::vector<Policy> &policies_near_default() {
  static const std::vector<Policy> near = [] {
    std::vector<Policy> result{Policy{}};
    for (const Choice &c : choices())
      for (const Policy &p : varied({Policy{}}, c))
        add(result, p);
    return result;
  }();
  return near;
}

} // namespace gradweave::compiler::paper
