#include "app/evaluation/study/study.hpp"

#include "app/evaluation/study/table_reader.hpp"
#include "runtime/run/lookup.hpp"
#include "sw_models/config/user_file.hpp"

#include <set>

namespace gradweave::evaluation {

namespace fs = std::filesystem;

const Published *find_published(const Study &study, std::string_view figure, std::string_view key) {
  for (const Published &p : study.published)
    if (p.figure == figure && p.key == key) return &p;
  return nullptr;
}

Study load_study(const fs::path &file) { return parse_study(read_user_text(file, {"study", kMaxTextBytes}), file); }

Study parse_study(std::string_view text, const fs::path &file) {
  const toml::table root = parse_tables(text, file);
  Study study;
  study.name = file.stem().string();
  study.file = file;
  study.text = text;
  TableReader top(file.string(), root, "the file");
  study.title = top.text("title");
  study.paper = top.text_or("paper", "");
  std::set<std::pair<std::string, std::string>> numbers;
  for_each_table(file, root, "published", [&](TableReader &reader, const toml::node &item) {
    Published p{reader.text("figure"), reader.text("key"), reader.text("text"), reader.text_or("unit", ""),
                reader.get<double>("value", "a number")};
    if (!numbers.emplace(p.figure, p.key).second)
      reader.fail(item, fmt::format("figure {} has a second '{}'; leave one out", p.figure, p.key));
    study.published.push_back(std::move(p));
  });
  return study;
}

fs::path find_study(const std::string &name_or_path) {
  if (name_or_path.find('/') != std::string::npos || fs::path(name_or_path).extension() == ".toml") return name_or_path;
  const fs::path directory = runtime::home_directory() / "app/evaluation";
  if (fs::path file = directory / name_or_path / (name_or_path + ".toml"); !name_or_path.empty() && fs::exists(file))
    return file;
  std::set<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, ignored))
    if (fs::exists(entry.path() / entry.path().filename().concat(".toml"))) names.insert(entry.path().filename());
  throw ConfigError(fmt::format("no evaluation '{}' in {}; there are: {}. Or give the path of a .toml file",
                                name_or_path, directory.string(), fmt::join(names, ", ")));
}

} // namespace gradweave::evaluation
