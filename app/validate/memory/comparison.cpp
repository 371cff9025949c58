#include "app/validate/memory/comparison.hpp"

#include "base/process/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace gradweave::runtime {
namespace {

using memory_model::Calibration;
using memory_model::StepEstimate;

std::vector<Calibration> grid() {
  std::vector<Calibration> all;
  for (const double serial : {0.02, 0.04, 0.06, 0.08, 0.1, 0.12})
    for (const double exposed : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5})
      all.push_back({serial, exposed});
  return all;
}

Prediction predict(const MeasuredStep &step, const Calibration &calibration,
                   memory_model::Rung rung = memory_model::Rung::kOverlap) {
  const StepEstimate estimate = memory_model::estimate_step(step.layers, step.order, step.npu, calibration, rung);
  return {estimate.cycles, estimate.bytes};
}

/// The time that the model gives to what the stream moves.
Prediction predict_given(const MeasuredStep &step) {
  const Calibration calibration;
  const StepEstimate estimate = memory_model::estimate_step(step.layers, step.order, step.npu, calibration);
  Prediction given;
  for (std::size_t i = 0; i < step.layers.size(); ++i)
    for (std::size_t way = 0; way < step.passes[i].size(); ++way) {
      const memory_model::PassEstimate &pass = estimate.layers[i][way];
      const MeasuredPass &measured = step.passes[i][way];
      given.bytes += measured.moves.bytes();
      given.cycles += memory_model::pass_cycles(pass.array_cycles,
                                                memory_model::bus_cycles(measured.moves, measured.commands, step.npu),
                                                pass.ahead, step.npu, calibration);
    }
  return given;
}

/// Predictions of all steps with each of the grid's constants.
class Fit {
public:
  Fit(const std::vector<MeasuredStep> &steps, unsigned threads)
      : steps_(steps), grid_(grid()), predicted_(grid_.size()) {
    for_each_in_parallel(grid_.size(), threads, [&](std::size_t g) {
      for (const MeasuredStep &step : steps_)
        predicted_[g].push_back(predict(step, grid_[g]));
    });
  }

  /// The index of the constants that fit best the steps of networks but for `without`.
  std::size_t best(const std::string &without) const {
    std::size_t best = 0;
    double least = INFINITY;
    for (std::size_t g = 0; g < grid_.size(); ++g) {
      double sum = 0;
      for (std::size_t s = 0; s < steps_.size(); ++s)
        if (steps_[s].name != without)
          sum += std::abs(predicted_[g][s].cycles / static_cast<double>(steps_[s].cycles) - 1);
      if (sum >= least) continue;
      least = sum;
      best = g;
    }
    return best;
  }
  const Prediction &predicted(std::size_t constants, std::size_t step) const { return predicted_[constants][step]; }
  const Calibration &constants(std::size_t index) const { return grid_[index]; }

private:
  const std::vector<MeasuredStep> &steps_;
  std::vector<Calibration> grid_;
  std::vector<std::vector<Prediction>> predicted_; ///< by constants, then by step
};

} // namespace

double Comparison::cycles_error(const Prediction &prediction) const {
  return prediction.cycles / static_cast<double>(step->cycles) - 1;
}

double Comparison::bytes_error(const Prediction &prediction) const { return prediction.bytes / step->bytes() - 1; }

void ErrorSize::add(double error, std::size_t of) {
  mean += std::abs(error) / static_cast<double>(of);
  worst = std::max(worst, std::abs(error));
}

Comparisons compare(const std::vector<MeasuredStep> &steps, unsigned threads) {
  const Fit fitted(steps, threads);
  Comparisons all;
  all.fitted = fitted.constants(fitted.best({}));
  for (std::size_t s = 0; s < steps.size(); ++s) {
    Comparison c;
    c.step = &steps[s];
    for (const memory_model::Rung rung : memory_model::kRungs)
      c.rungs[static_cast<std::size_t>(rung)] = predict(steps[s], {}, rung);
    c.given = predict_given(steps[s]);
    const bool others =
        std::any_of(steps.begin(), steps.end(), [&](const MeasuredStep &other) { return other.name != steps[s].name; });
    c.elsewhere = others ? fitted.predicted(fitted.best(steps[s].name), s) : c.model();
    all.steps.push_back(c);
  }
  return all;
}

} // namespace gradweave::runtime
