// What every evaluation of a paper has: a name, and the numbers that were published. What else is in its file the paper
// reads.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::evaluation {

/// A number that the paper states.
struct Published {
  std::string figure, key; ///< unique together
  std::string text, unit;
  double value = 0;
};

struct Study {
  std::string name, title;
  std::string paper; ///< whose figures it has: the name of a folder of app/evaluation; empty: the first one's
  std::vector<Published> published;
  std::filesystem::path file;
  std::string text; ///< of the file
};

/// The number that a study has for a figure; null if it has none.
const Published *find_published(const Study &study, std::string_view figure, std::string_view key);

/// Reads a study (.toml). Throws ConfigError naming file, line, key and remedy.
Study load_study(const std::filesystem::path &file);
/// The same of `text`, the contents of `file`.
Study parse_study(std::string_view text, const std::filesystem::path &file);

/// A path (it contains '/' or ends in .toml) as it is, else app/evaluation/NAME/NAME.toml of the home directory. Throws
/// ConfigError listing what exists.
std::filesystem::path find_study(const std::string &name_or_path);

} // namespace gradweave::evaluation
