#include "app/evaluation/plans/step_lines.hpp"

#include "app/evaluation/plans/number.hpp"
#include "base/text/split.hpp"
#include "graph/layer_fingerprint.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::evaluation {

std::string shape_of(const compiler::Layer &layer) { return compiler::shape_fingerprint(layer).hex(); }

std::vector<StepLine> lines_of(const std::string &text) {
  std::vector<StepLine> lines;
  std::size_t number = 0;
  for (const std::string &line : split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string::npos)
      throw std::invalid_argument(fmt::format("line {} of the step: '{}' is none of a step", number, line));
    lines.push_back({number, line.substr(0, space), line.substr(space + 1)});
  }
  return lines;
}

std::vector<std::uint64_t> numbers(const std::string &text, char separator) {
  std::vector<std::uint64_t> all;
  for (const std::string &item : split(text, separator))
    all.push_back(number<std::uint64_t>(item));
  return all;
}

StepEffort effort_from(const std::string &text) {
  const std::vector<std::string> words = split(text, ' ');
  if (words.size() != 3 || (words[2] != kReuse && words[2] != kPlacement))
    throw std::invalid_argument(fmt::format("'{}' is no effort", text));
  return {number<std::uint64_t>(words[0]), number<std::uint64_t>(words[1]),
          words[2] == kReuse ? compiler::StepStart::kReuse : compiler::StepStart::kPlacement};
}

} // namespace gradweave::evaluation
