#include "app/cli/common/report_files.hpp"

#include "app/report/json_report.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <nlohmann/json.hpp>

namespace gradweave::cli {

void add_report_options(CLI::App &command, std::string &json, std::string &html, const std::string &what) {
  command.add_option("--json", json, "Write " + what + " to this file; - is standard output");
  command.add_option("--html", html,
                     "Write the same as a page to look at, one file that needs no others, to this file; - is standard "
                     "output");
}

ReportFiles::ReportFiles(const std::string &json, const std::string &html) {
  if (!json.empty()) json_ = std::make_unique<OutputFile>(json);
  if (!html.empty()) html_ = std::make_unique<OutputFile>(html);
}

void ReportFiles::commit(const nlohmann::ordered_json &report,
                         const std::function<std::string(const nlohmann::ordered_json &)> &page) {
  if (json_) json_->commit(runtime::json_text(report));
  if (html_) html_->commit(page(report));
}

void ReportFiles::abandon() {
  json_.reset();
  html_.reset();
}

} // namespace gradweave::cli
