#include "app/evaluation/plans/plans_file.hpp"

#include "base/key/fingerprint.hpp"
#include "base/text/split.hpp"
#include "sw_models/config/config_error.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace gradweave::evaluation {
namespace {

constexpr std::string_view kStep = "step ", kEnd = "end ";

std::string sum_of(const std::string &key, const KnownStep &step) {
  return Fingerprint().add(key, step.name, step.text).hex();
}

/// The lines of a file, one after the other.
class Reader {
public:
  Reader(std::string_view text, const std::filesystem::path &file) : file_(file), lines_(split(text, '\n')) {}

  KnownSteps steps() {
    KnownSteps all;
    for (; at_ < lines_.size(); ++at_) {
      const std::string &line = lines_[at_];
      if (line.empty() || line[0] == '#') continue;
      if (line.rfind(kStep, 0) != 0) fail(fmt::format("a step begins with '{}KEY NAME'", kStep));
      auto [key, step] = one();
      if (!all.emplace(std::move(key), std::move(step)).second) fail("the same step for a second time");
    }
    return all;
  }

private:
  /// From its first line; ends at its last.
  std::pair<std::string, KnownStep> one() {
    const std::string head = lines_[at_].substr(kStep.size());
    const std::size_t space = head.find(' ');
    if (space == std::string::npos) fail("a step has a key and a name");
    std::pair<std::string, KnownStep> step{head.substr(0, space),
                                           {head.substr(space + 1), "", fmt::format("{}:{}", file_.string(), at_ + 2)}};
    for (++at_; at_ < lines_.size(); ++at_) {
      const std::string &line = lines_[at_];
      if (line.rfind(kEnd, 0) != 0) {
        step.second.text += line + '\n';
        continue;
      }
      if (line.substr(kEnd.size()) != sum_of(step.first, step.second))
        fail(fmt::format("the plans of '{}' are not as they were written", step.second.name));
      return step;
    }
    --at_;
    fail(fmt::format("the plans of '{}' do not end", step.second.name));
  }
  [[noreturn]] void fail(const std::string &problem) const {
    throw ConfigError(fmt::format("{}:{}: {}; take the file as it was written, or search again with --search",
                                  file_.string(), at_ + 1, problem));
  }

  const std::filesystem::path &file_;
  std::vector<std::string> lines_;
  std::size_t at_ = 0;
};

} // namespace

std::string plans_file_text(const KnownSteps &steps) {
  std::string text =
      "# Plans of searched training steps (docs/reproduce.md), as `gradweave reproduce --search` writes them.\n";
  std::map<std::pair<std::string, std::string>, const KnownStep *> ordered;
  for (const auto &[key, step] : steps)
    ordered[{step.name, key}] = &step;
  for (const auto &[name, step] : ordered)
    text += fmt::format("\n{}{} {}\n{}{}{}\n", kStep, name.second, step->name, step->text, kEnd,
                        sum_of(name.second, *step));
  return text;
}

KnownSteps parse_plans_file(std::string_view text, const std::filesystem::path &file) {
  return Reader(text, file).steps();
}

} // namespace gradweave::evaluation
