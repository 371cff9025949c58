// A paper as what can be repeated of it: its figures, tables and numbers.
#pragma once

#include "app/evaluation/page/evaluation.hpp"
#include "app/evaluation/study/study.hpp"
#include "app/evaluation/study/workload.hpp"
#include "app/evaluation/unit/evaluations.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::evaluation {

/// What is asked of an evaluation, but for its figures.
struct Request {
  std::vector<std::string> networks;   ///< as the paper calls them; empty: all
  std::string policy;                  ///< of a baseline as the paper describes it; empty: the default
  std::string command;                 ///< of this evaluation, without figures
  std::uint64_t seed = 1;              ///< of random choices
  std::vector<std::string> machines{}; ///< as the paper calls them, if it has several; empty: all
  bool search = false;                 ///< what the study knows already is searched anew
};

/// A study whose figures can be made.
class Repetition {
public:
  virtual ~Repetition() = default;

  virtual Presentation presentation() const = 0;
  /// One of the paper's figures. While `planning` only which work it asks for matters: long work on results can be
  /// left.
  virtual Figure figure(std::string_view id, Evaluations &evaluations, bool planning) const = 0;
  /// Files that go beside the page, name and text, of results for these steps.
  virtual std::vector<std::pair<std::string, std::string>> files(const std::vector<StepUnit> & /*steps*/,
                                                                 Evaluations & /*results*/) const {
    return {};
  }
  /// Whose layers the figures run, for those that run on an NPU.
  virtual const Workloads *workloads() const { return nullptr; }
};

struct Paper {
  std::string_view name;                             ///< of its folder, and what a study calls it
  const std::vector<std::string_view> &(*figures)(); ///< as --figure takes them, in the order of the paper
  bool policies = false;                             ///< has a baseline that follows a policy
  bool on_npus = false;                              ///< has streams of layers, of which the RTL runs a sample
  bool machines = false;                             ///< runs on several machines, of which some can be chosen
  bool searches = false;                             ///< knows what long searches found, and can search anew
  /// Throws ConfigError for what is wrong in the study, std::invalid_argument for what is wrong in the request.
  std::unique_ptr<Repetition> (*open)(const Study &study, const Request &request) = nullptr;
};

/// A row for the published number `key` of a figure, with its text and unit and the command, without our numbers. If
/// the study has no such number the key is the text.
Row published_row(const Study &study, const std::string &figure, const std::string &key, const std::string &command);
/// The same with ours, and what it differs by, where both are known. `note`: what it hangs on.
Row compared_row(const Study &study, const std::string &figure, const std::string &key, const std::string &command,
                 std::optional<double> ours, std::string note);

} // namespace gradweave::evaluation
