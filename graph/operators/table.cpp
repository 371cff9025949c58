#include "graph/operators/table.hpp"

#include <iterator>

namespace gradweave::graph {

#define GW_OPERATORS(family) std::vector<Operator> family##_operators();
#include "graph/operators/table.def"
#undef GW_OPERATORS

namespace {

std::vector<Operator> entries() {
  std::vector<Operator> all;
  const auto add = [&all](std::vector<Operator> family) {
    all.insert(all.end(), std::make_move_iterator(family.begin()), std::make_move_iterator(family.end()));
  };
#define GW_OPERATORS(family) add(family##_operators());
#include "graph/operators/table.def"
#undef GW_OPERATORS
  return all;
}

} // namespace

const OperatorSet &operators() {
  static const OperatorSet set(entries());
  return set;
}

} // namespace gradweave::graph
