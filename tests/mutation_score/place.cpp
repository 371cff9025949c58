#include "tests/mutation_score/place.hpp"

#include <utility>

namespace gradweave::mutation {

void add_fault(std::vector<Place> &places, std::size_t begin, std::size_t end, const std::string &scope, Fault fault) {
  for (Place &place : places) {
    if (place.begin != begin || place.end != end) continue;
    place.faults.push_back(std::move(fault));
    return;
  }
  places.push_back({begin, end, scope, {std::move(fault)}});
}

} // namespace gradweave::mutation
