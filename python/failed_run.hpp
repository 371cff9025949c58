// A run that ended, but not well.
#pragma once

#include <nlohmann/json.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace gradweave::python {

/// Becomes gradweave.RunError, whose `report` is the run's.
class FailedRun : public std::runtime_error {
public:
  FailedRun(const std::string &what, nlohmann::ordered_json report)
      : std::runtime_error(what), report_(std::move(report)) {}
  const nlohmann::ordered_json &report() const { return report_; }

private:
  nlohmann::ordered_json report_;
};

} // namespace gradweave::python
