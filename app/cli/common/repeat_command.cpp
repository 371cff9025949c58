#include "app/cli/common/repeat_command.hpp"

#include "app/cli/common/work.hpp"

#include <fmt/format.h>

namespace gradweave::cli {
Reproduction::Reproduction(const std::string &program, const std::string &subcommand, bool make)
    : make_(make), text_((make ? "make" : shell_word(program)) + ' ' + subcommand) {}

void Reproduction::add(const std::string &variable, const std::string &option, const std::string &value) {
  if (!make_) {
    text_ += fmt::format(" {} {}", option, shell_word(value));
    return;
  }
  if (variable.empty()) return;
  std::string word = value;
  for (std::size_t at = 0; (at = word.find('$', at)) != std::string::npos; at += 2)
    word.insert(at, "$"); // make expands a single $
  text_ += fmt::format(" {}={}", variable, shell_word(word));
}

void Reproduction::add_each(const std::string &variable, const std::string &option,
                            const std::vector<std::string> &values) {
  if (make_ && !values.empty())
    add(variable, option, fmt::format("{}", fmt::join(values, " ")));
  else
    for (const std::string &value : values)
      add(variable, option, value);
}

void Reproduction::add_word(const std::string &word) { text_ += ' ' + shell_word(word); }

} // namespace gradweave::cli
