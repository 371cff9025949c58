#include "base/text/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>

namespace gradweave {
namespace {

/// Edits (insert, delete, replace a character, swap two) that make one text the other.
std::size_t distance(const std::string &a, const std::string &b) {
  std::vector<std::size_t> before, last, row(b.size() + 1); // of one and of no character of a less
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

} // namespace

std::string nearest(const std::string &word, const std::vector<std::string> &names) {
  const std::string wanted = lower(word);
  std::string best;
  std::size_t least = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string &name : names) {
    const bool begins = wanted.size() >= 2 && name.rfind(wanted, 0) == 0;
    const std::size_t edits = begins ? 1 : distance(wanted, name);
    if (edits >= least) continue;
    least = edits;
    best = name;
  }
  return best;
}

std::string did_you_mean(const std::string &word, const std::vector<std::string> &names) {
  const std::string near = nearest(word, names);
  return near.empty() ? std::string() : "; did you mean '" + near + "'?";
}

} // namespace gradweave
