// Training: step after step with the rate of each, and how good the network has become.
#pragma once

#include "train/lanes.hpp"
#include "train/rate.hpp"
#include "train/step_executor.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace gradweave::runtime::train {

/// A network that learns. References must outlive it.
class Trainer {
public:
  /// Parameters and state as a fresh network of this seed has them.
  Trainer(const graph::TrainingGraph &step, const graph::TrainingOptions &options, const RateSchedule &rate,
          const Feed &feed, std::uint64_t seed);

  /// The next step, golden.
  StepResult step(const StepExecutor &executor);
  /// The next step with products on the executor's device, compared with the golden one. After a difference or a
  /// failure there is no next step.
  StepResult compared_step(StepExecutor &executor);
  /// The same, while the steps behind it, up to step `until`, are under way in other lanes. `tick`: as of
  /// Lanes::end(). All steps behind go through the same lanes. After an exception there is no next step, and living()
  /// is that of the steps done.
  StepResult compared_step(Lanes &lanes, std::uint64_t until, const std::function<void()> &tick);

  /// What the next step begins with.
  Living &begin_with() { return living_; }
  /// Goes on behind so many steps, with what the next one begins with. Before the first step.
  void resume(std::uint64_t steps, Living living);
  std::uint64_t steps_done() const { return done_; }
  double rate() const { return rate_at(rate_, done_); } ///< of the next step
  const Living &living() const { return living_; }      ///< by the golden execution

private:
  std::vector<std::vector<Fed>> batches(std::uint64_t step) const;
  GoldenStep look_ahead(const Lanes &lanes);

  const graph::TrainingGraph &step_;
  graph::TrainingOptions options_;
  RateSchedule rate_;
  const Feed &feed_;
  std::uint64_t done_ = 0;
  Living living_, device_living_; ///< the second from the first compared step on
  // With lanes:
  std::uint64_t ahead_ = 0;                        ///< steps that golden execution has done
  std::shared_ptr<const Living> ahead_living_;     ///< what lives behind them; null before the first
  std::deque<std::shared_ptr<const Living>> ends_; ///< of the steps under way
};

/// How a network does on images that it has not learned from.
struct Evaluation {
  std::size_t right = 0, images = 0;
  double accuracy() const { return images == 0 ? 0 : static_cast<double>(right) / static_cast<double>(images); }
};

/// Judges all images of a set by golden execution with the parameters of a step's graph; no Dropout drops anything.
/// `forward` classifies (classifier_of()). `progress`, if there is one, gets the share that is done, after each batch;
/// it may throw, which ends this. Throws DataError as image_feed().
Evaluation evaluate(const graph::Graph &forward, const graph::TrainingGraph &step, const Living &living,
                    const Dataset &test, const std::function<void(double)> &progress = nullptr,
                    unsigned threads = usable_cores());

} // namespace gradweave::runtime::train
