// Shows on stderr how far a run is: one line that is rewritten on a terminal, a line now and then in a log.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace gradweave::runtime {

class ProgressDisplay {
public:
  /// `weights`: the jobs' shares of the work, in any unit.
  ProgressDisplay(std::vector<double> weights, bool quiet);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay &) = delete;
  ProgressDisplay &operator=(const ProgressDisplay &) = delete;

  /// Job `job` has done `fraction` of its commands.
  void update(std::size_t job, double fraction) { fractions_[job] = fraction; }
  /// Job `job`, called `name`, has ended. A log gets a line about it unless the name is empty.
  void finish(std::size_t job, const std::string &name = {});
  /// Redraws if it is time to.
  void tick();
  /// Removes the status line, so that other text can be printed; the next tick() restores it.
  void clear();

private:
  std::string status() const;
  double elapsed() const;

  std::vector<double> weights_, fractions_;
  std::size_t finished_ = 0;
  bool quiet_, terminal_, shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double last_log_ = 0;
};

} // namespace gradweave::runtime
