// Shows on stderr how far a run is: one line that is rewritten on a terminal, a line now and then in a log.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gradweave {

/// How far a run is.
struct Progress {
  std::size_t jobs = 0, finished = 0;
  double fraction = 0; ///< of the work
  double elapsed_seconds = 0;
  std::optional<double> seconds_left; ///< as far as it can be told
};

/// 5000 seconds as "1 h 23 min", 83 as "1 min 23 s".
std::string duration(double seconds);
/// "3 of 8 jobs done, 40 % of the work, 20 s, about 30 s more"
std::string describe(const Progress &progress);

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
  /// Job `job` needs no work: an earlier run has finished it. To be said before the run begins.
  void skip(std::size_t job);
  /// The work is expected to take this long: what is told while too little is done to tell from that.
  void expect(double seconds) { expected_ = seconds; }
  Progress progress() const;
  /// Redraws if it is time to.
  void tick();
  /// Removes the status line, so that other text can be printed; the next tick() restores it.
  void clear();

private:
  std::string status() const;
  double elapsed() const;

  std::vector<double> weights_, fractions_;
  std::size_t finished_ = 0;
  std::optional<double> expected_;
  bool quiet_, terminal_, shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double last_log_ = 0;
};

} // namespace gradweave
