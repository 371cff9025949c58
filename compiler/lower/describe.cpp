#include "compiler/lower/describe.hpp"

#include "compiler/lower/order.hpp"

#include <fmt/format.h>

namespace gradweave::compiler {

std::string describe(const std::vector<PhasePlan> &plans) {
  std::string text;
  for (const PhasePlan &p : plans) {
    if (p.section) {
      text += fmt::format("{}{} vector unit", text.empty() ? "" : "; ", form_of(p.kind).name);
      continue;
    }
    text += fmt::format("{}{} {} m{} k{} n{} w{}{}", text.empty() ? "" : "; ", form_of(p.kind).name, to_string(p.loops),
                        p.tile.m, p.tile.k, p.tile.n, p.window, p.starts_empty ? " empty" : "");
    if (p.parts.count > 1)
      text += fmt::format(" {}/{}{}",
                          p.parts.dim == Dim::kM   ? 'm'
                          : p.parts.dim == Dim::kK ? 'k'
                                                   : 'n',
                          p.parts.count,
                          p.parts.by_turns()                     ? " by turns"
                          : p.parts.reduction == Reduction::kAdd ? "+"
                                                                 : "");
  }
  return text;
}

} // namespace gradweave::compiler
