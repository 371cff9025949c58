// Where figures get the results of units from.
#pragma once

#include "app/evaluation/unit/results_file.hpp"
#include "app/evaluation/unit/step_unit.hpp"
#include "app/evaluation/unit/unit.hpp"
#include "compiler/ir/compiled.hpp"
#include "sw_models/config/machine.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace gradweave::evaluation {

/// A layer's stream that the RTL can run as well.
struct RtlUnit {
  std::string network, layer;
  std::string variant; ///< what tells it from other streams of the layer, for people
  Machine npu;
  std::string key;          ///< a fingerprint of all that the stream depends on
  std::uint64_t cycles = 0; ///< by the timing model, very roughly if they are not `known`
  bool known = true;        ///< as the evaluation has them; else as compile() predicts them
  std::function<compiler::Compiled()> compile;
};

/// Work of another kind, whose result is a text.
struct Work {
  std::string key;                                                          ///< a fingerprint of all it depends on
  double seconds = 0;                                                       ///< that it takes, very roughly
  std::function<std::string(const std::function<void(double)> &)> evaluate; ///< reports the fraction done
  std::function<std::vector<RtlUnit>(const std::string &)> streams = {};    ///< of a result, if there are any
};

/// Figures are computed twice by the same code: first with results that say nothing, to learn which units they need,
/// then with those that are kept.
class Evaluations {
public:
  virtual ~Evaluations() = default;
  virtual UnitResult get(const Unit &unit) = 0;
  virtual StepResult get(const StepUnit &unit) = 0;
  /// Empty while nothing is known yet.
  virtual std::string get(const Work &work) = 0;
};

/// Collects the units that are asked for, each once.
class WantedUnits : public Evaluations {
public:
  UnitResult get(const Unit &unit) override;
  StepResult get(const StepUnit &unit) override;
  std::string get(const Work &work) override;
  /// In the order in which they were first asked for.
  const std::vector<Unit> &units() const { return units_; }
  const std::vector<std::string> &keys() const { return keys_; }
  const std::vector<StepUnit> &steps() const { return steps_; }
  const std::vector<std::string> &step_keys() const { return step_keys_; }
  const std::vector<Work> &works() const { return works_; }

private:
  std::set<std::string> seen_;
  std::vector<Unit> units_;
  std::vector<std::string> keys_;
  std::vector<StepUnit> steps_;
  std::vector<std::string> step_keys_;
  std::vector<Work> works_;
};

/// Results of a file. Throws std::logic_error for a unit that is not in it.
class KeptResults : public Evaluations {
public:
  explicit KeptResults(const ResultsFile &file) : file_(file) {}
  UnitResult get(const Unit &unit) override;
  StepResult get(const StepUnit &unit) override;
  std::string get(const Work &work) override;

private:
  const std::string &value(const std::string &key) const;

  const ResultsFile &file_;
};

} // namespace gradweave::evaluation
