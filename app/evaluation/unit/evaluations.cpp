#include "app/evaluation/unit/evaluations.hpp"
#include "app/evaluation/unit/unit_key.hpp"

#include <stdexcept>

namespace gradweave::evaluation {

UnitResult WantedUnits::get(const Unit &unit) {
  const std::string key = key_of(unit, tool_version());
  if (seen_.insert(key).second) {
    units_.push_back(unit);
    keys_.push_back(key);
  }
  UnitResult nothing;
  nothing.cycles = 1; // figures divide by it
  return nothing;
}

StepResult WantedUnits::get(const StepUnit &unit) {
  const std::string key = key_of(unit, tool_version());
  if (seen_.insert(key).second) {
    steps_.push_back(unit);
    step_keys_.push_back(key);
  }
  StepResult nothing;
  nothing.conventional = nothing.searched = nothing.step = 1;
  return nothing;
}

std::string WantedUnits::get(const Work &work) {
  if (seen_.insert(work.key).second) works_.push_back(work);
  return {};
}

const std::string &KeptResults::value(const std::string &key) const {
  const std::string *value = file_.find(key);
  if (value == nullptr) throw std::logic_error("not evaluated: " + key);
  return *value;
}

UnitResult KeptResults::get(const Unit &unit) { return from_text(value(key_of(unit, tool_version()))); }

StepResult KeptResults::get(const StepUnit &unit) { return step_from_text(value(key_of(unit, tool_version()))); }

std::string KeptResults::get(const Work &work) { return value(work.key); }

} // namespace gradweave::evaluation
