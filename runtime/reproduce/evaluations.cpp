#include "runtime/reproduce/evaluations.hpp"

#include <stdexcept>

namespace gradweave::reproduce {

UnitResult WantedUnits::get(const Unit &unit) {
  const std::string key = key_of(unit, tool_version());
  if (seen_.emplace(key, units_.size()).second) {
    units_.push_back(unit);
    keys_.push_back(key);
  }
  UnitResult nothing;
  nothing.cycles = 1; // figures divide by it
  return nothing;
}

UnitResult JournalResults::get(const Unit &unit) {
  const std::string key = key_of(unit, tool_version());
  const std::string *value = journal_.find(key);
  if (value == nullptr) throw std::logic_error("not evaluated: " + key);
  return from_text(*value);
}

} // namespace gradweave::reproduce
