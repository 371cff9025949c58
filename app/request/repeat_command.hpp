// The command that repeats a run, for people to copy into a shell.
#pragma once

#include "app/request/work_arguments.hpp"

#include <string>
#include <vector>

namespace gradweave::cli {

class Reproduction {
public:
  /// `make`: the run came from `make SUBCOMMAND`, and is repeated by it.
  Reproduction(const std::string &program, const std::string &subcommand, bool make);

  /// Adds `variable=value` for make, else `option value`. Make has no options but those with a variable: others, whose
  /// `variable` is empty, are left out.
  void add(const std::string &variable, const std::string &option, const std::string &value);
  /// Adds an option that may be repeated; of make one variable with all of them.
  void add_each(const std::string &variable, const std::string &option, const std::vector<std::string> &values);
  /// Adds a word of the command line; make has none.
  void add_word(const std::string &word);

  const std::string &text() const { return text_; }

private:
  bool make_;
  std::string text_;
};

enum class ScheduleOption { kTaken, kNone }; ///< of the command: one that searches schedules takes none
/// Adds the work of a run.
void add_work(Reproduction &command, const WorkArguments &work, ScheduleOption schedule = ScheduleOption::kTaken);

} // namespace gradweave::cli
