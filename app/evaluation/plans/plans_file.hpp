// A file with the plans of searched steps, of which whoever repeats an evaluation needs to search none again.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace gradweave::evaluation {

/// A known step: whose it is, for people, its text (step_text()), and the file and line that this begins in.
struct KnownStep {
  std::string name, text;
  std::string place = {};
};

/// By a fingerprint of layers and NPU.
using KnownSteps = std::map<std::string, KnownStep>;

/// The contents of a file: `step KEY NAME`, the lines of the text, `end SUM` of each, ordered by name. Lines that begin
/// with # say something to people.
std::string plans_file_text(const KnownSteps &steps);

/// The steps of such a file. Throws ConfigError that names `file` and line for what is damaged or was edited: a sum
/// that does not fit, a step that does not end, one that is there twice.
KnownSteps parse_plans_file(std::string_view text, const std::filesystem::path &file);

} // namespace gradweave::evaluation
