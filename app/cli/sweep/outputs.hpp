// What sweep and sweep collect leave behind beside the database.
#pragma once

#include "app/sweep/table.hpp"
#include "base/file/output_file.hpp"

#include <CLI/App.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::cli {

struct SweepOutputs {
  std::string csv, json, html; ///< files; - is standard output; empty: none
  std::string by;              ///< columns of fronts, with ',' between; empty: time and costs
};

/// --csv, --json, --html, --by.
void add_sweep_outputs(CLI::App &command, SweepOutputs &outputs);

/// Output files that are known to be writable before the work begins.
class OpenOutputs {
public:
  /// Throws OutputError; std::invalid_argument if two go to standard output, or fronts are of what is no column.
  explicit OpenOutputs(const SweepOutputs &outputs);
  /// Writes them, and a summary to where it is in nobody's way. The exit code: that some points failed, or have no
  /// result, is no success.
  int finish(const sweep::Table &table, const std::string &command);

private:
  std::FILE *text_;
  std::vector<std::size_t> by_; ///< empty: as usual
  std::unique_ptr<OutputFile> csv_, json_, html_;
};

} // namespace gradweave::cli
