// Calls that take long: without Python's lock, with its signals, and with a report even where they fail.
#pragma once

#include "base/process/process_pool.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace gradweave::python {

/// Runs `work`, which touches nothing of Python's, in a thread of its own, and returns when it has ended. Other threads
/// of Python run meanwhile. If a handler of a signal raises, as Ctrl-C does in the main thread, `work` is told to end
/// (SignalGuard::check()) and what the handler raised is raised; else what `work` threw is thrown.
void run_long(const std::function<void(const SignalGuard &)> &work);

/// A run that ended, but not well. Becomes gradweave.RunError, whose `report` is the run's.
class FailedRun : public std::runtime_error {
public:
  FailedRun(const std::string &what, nlohmann::ordered_json report)
      : std::runtime_error(what), report_(std::move(report)) {}
  const nlohmann::ordered_json &report() const { return report_; }

private:
  nlohmann::ordered_json report_;
};

} // namespace gradweave::python
