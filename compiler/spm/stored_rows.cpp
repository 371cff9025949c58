#include "compiler/spm/stored_rows.hpp"

#include <algorithm>

namespace gradweave::compiler {

void StoredRows::follow(std::size_t binding) {
  if (binding >= tensors_.size()) tensors_.resize(binding + 1);
  tensors_[binding].followed = true;
}

void StoredRows::store(std::size_t binding, std::uint32_t first, std::uint32_t end, std::uint64_t elements,
                       std::size_t action) {
  if (!follows(binding)) return;
  tensors_[binding].runs.push_back({first, end, static_cast<std::int32_t>(action)});
  tensors_[binding].elements += elements;
}

std::int32_t StoredRows::stored_by(const TensorBinding &tensor, std::size_t binding, std::uint32_t first,
                                   std::uint32_t end) const {
  if (!follows(binding)) return Action::kLast;
  const Stored &stored = tensors_[binding];
  if (stored.elements >= std::uint64_t{tensor.rows} * tensor.cols) return Action::kLast;
  const auto last = std::find_if(stored.runs.rbegin(), stored.runs.rend(),
                                 [&](const Run &run) { return run.first < end && first < run.end; });
  return last == stored.runs.rend() ? Action::kLast : last->action;
}

bool StoredRows::has_to_wait(std::size_t binding, std::int32_t action) {
  const auto gate = std::find_if(gates_.begin(), gates_.end(), [&](const Gate &g) { return g.binding == binding; });
  if (gate == gates_.end()) {
    gates_.push_back({binding, action});
    return true;
  }
  if (gate->action == Action::kLast || (action != Action::kLast && action <= gate->action)) return false;
  gate->action = action;
  return true;
}

} // namespace gradweave::compiler
