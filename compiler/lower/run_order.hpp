// The order in which the products of all phases run.
#pragma once

#include "compiler/ir/layout.hpp"
#include "compiler/ir/program.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler {

/// Products [first, end) of a phase that run one after the other.
struct Slice {
  std::size_t plan = 0; ///< index of the phase
  std::size_t first = 0, end = 0;
  std::size_t run = 0; ///< index of the first of the phases that it is woven with, or of the phase
  bool begins = false; ///< is the first slice of that run
};

/// Phases with products run in their order. A woven one (PhasePlan::woven) begins as soon as the phases that it is
/// woven with have computed what its first product reads, and is spread evenly over what is left of them by
/// multiply-adds, each product behind all that compute its operands: while one phase waits for memory, the other
/// computes. Pieces of a section of the vector unit count alike, and stand behind all that computes what they load, and
/// behind all pieces of other sections before: no section stands in another one. A joined one
/// (PhasePlan::joined) runs behind those before it, as if all of them were one phase. The products of a phase keep
/// their order.
std::vector<Slice> run_order(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers,
                             const Layout &layout);

} // namespace gradweave::compiler
