#include "app/cli/common/work.hpp"

#include "runtime/run/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace gradweave::cli {

void check_stream_name(const std::string &file) {
  if (std::filesystem::exists(file)) { // what is no regular file is refused as such
    if (std::filesystem::is_regular_file(file) && runtime::is_network_file(file))
      throw std::invalid_argument(
          fmt::format("'{0}' is the file of a network; a command stream is expected there, else --model {0}", file));
    return;
  }
  const std::vector<std::string> names = runtime::model_names();
  if (std::find(names.begin(), names.end(), file) != names.end())
    throw std::invalid_argument(
        fmt::format("'{0}' is a network; a file with a command stream is expected there, else --model {0}", file));
}

bool uses_standard_output(const std::vector<std::pair<std::string, std::string>> &outputs) {
  std::string first;
  for (const auto &[option, path] : outputs) {
    if (path != "-") continue;
    if (!first.empty())
      throw std::invalid_argument(
          fmt::format("{} and {} cannot both go to standard output; name a file for one of them", first, option));
    first = option;
  }
  return !first.empty();
}

ExitCode exit_code(runtime::Outcome outcome) {
  switch (outcome) {
  case runtime::Outcome::kPass:
    return kOk;
  case runtime::Outcome::kMismatch:
    return kFailed;
  case runtime::Outcome::kDevice:
  case runtime::Outcome::kUnavailable:
    return kDevice;
  case runtime::Outcome::kOutput:
    return kOutput;
  case runtime::Outcome::kBadInput:
    return kBadInput;
  }
  return kDevice;
}

} // namespace gradweave::cli
