#include "app/request/repeat_command.hpp"

#include "app/request/work.hpp"
#include "compiler/request/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace gradweave::cli {
namespace {

/// "TUNE" of "tune".
std::string variable_of(std::string_view option) {
  std::string name(option);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
  return name;
}

} // namespace

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

void add_work(Reproduction &command, const WorkArguments &work, ScheduleOption schedule) {
  command.add("MODEL", "--model", work.model);
  if (!work.until.empty()) command.add("", "--until", work.until);
  if (work.batch != 0) command.add("BATCH", "--batch", std::to_string(work.batch));
  command.add("NPU", "--npu", work.npu);
  command.add_each("SET", "--set", work.set);
  if (schedule == ScheduleOption::kTaken) command.add("SCHEDULE", "--schedule", work.schedule);
  command.add("PASS", "--pass", work.pass);
  for (const compiler::OptionForm &form : compiler::option_forms())
    if (const auto given = work.compile.find(form.name); given != work.compile.end() && given->second != form.text({}))
      command.add(variable_of(form.name), fmt::format("--{}", form.name), given->second);
  if (work.convolution != "image") command.add("CONVOLUTION", "--convolution", work.convolution);
  if (!work.layers.empty()) command.add("LAYERS", "--layers", work.layers);
}

} // namespace gradweave::cli
