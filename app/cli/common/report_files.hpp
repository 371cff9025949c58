// --json and --html: a run's record as a file for programs and as a page for people.
#pragma once

#include "base/file/output_file.hpp"

#include <CLI/App.hpp>
#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>
#include <string>

namespace gradweave::cli {

/// `what` is written: "the report (docs/report.md)".
void add_report_options(CLI::App &command, std::string &json, std::string &html, const std::string &what);

/// The two files, open from before the run; either is there when it is whole, or not at all.
class ReportFiles {
public:
  /// Empty names: none. Throws OutputError.
  ReportFiles(const std::string &json, const std::string &html);

  bool asked() const { return json_ || html_; }
  /// Writes what was asked for: the record, and the page of it. Throws OutputError.
  void commit(const nlohmann::ordered_json &report,
              const std::function<std::string(const nlohmann::ordered_json &)> &page);
  /// Removes what was begun.
  void abandon();

private:
  std::unique_ptr<OutputFile> json_, html_; ///< null: not asked for
};

} // namespace gradweave::cli
