#include "graph/ir/operator.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {

OperatorSet::OperatorSet(std::vector<Operator> operators) : operators_(std::move(operators)) {
  std::sort(operators_.begin(), operators_.end(), [](const Operator &a, const Operator &b) { return a.name < b.name; });
  for (std::size_t i = 0; i < operators_.size(); ++i) {
    const Operator &op = operators_[i];
    if (i > 0 && operators_[i - 1].name == op.name)
      throw GraphDefect(fmt::format("two operators are called '{}'", op.name));
    if (op.summary.empty() || op.outputs.empty() || op.infer == nullptr || op.contract == nullptr ||
        op.reference == nullptr || op.operations == nullptr)
      throw GraphDefect(fmt::format("the entry of operator '{}' is not complete", op.name));
  }
}

const Operator *OperatorSet::find(std::string_view name) const {
  const auto found = std::lower_bound(operators_.begin(), operators_.end(), name,
                                      [](const Operator &op, std::string_view n) { return op.name < n; });
  return found != operators_.end() && found->name == name ? &*found : nullptr;
}

} // namespace gradweave::graph
