#include "memory_model/iteration/fuse.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace gradweave::memory_model {
namespace {

constexpr std::array<std::string_view, 12> kCheap{
    "BatchNormalization", "Clip", "Dropout", "Gelu",    "HardSwish", "LayerNormalization",
    "LeakyRelu",          "Relu", "Scale",   "Sigmoid", "Silu",      "Tanh"};
constexpr std::uint64_t kSmall =
    64; ///< a tensor of so many times fewer bytes than the result goes with others for free

/// What takes the place of a tensor that is not there.
struct Recipe {
  std::vector<std::uint32_t> of; ///< tensors
  double operations = 0;
};

class Fusion {
public:
  explicit Fusion(const Iteration &iteration)
      : from_(iteration), uses_(iteration), recipes_(iteration.tensors.size()),
        last_writer_(iteration.tensors.size(), kNever) {}

  Iteration run() {
    result_.name = from_.name;
    result_.element_bytes = from_.element_bytes;
    for (std::uint32_t s = 0; s < from_.steps.size(); ++s)
      if (!leave_out(s)) keep(s);
    number();
    return std::move(result_);
  }

private:
  std::uint64_t bytes(std::uint32_t tensor) const { return from_.tensors[tensor].bytes; }

  static void touch(Step &step, const Access &access) {
    const auto known = std::find_if(step.accesses.begin(), step.accesses.end(),
                                    [&](const Access &other) { return other.tensor == access.tensor; });
    if (known == step.accesses.end()) {
      step.accesses.push_back(access);
      return;
    }
    known->reads |= access.reads;
    known->writes |= access.writes;
    known->rows = std::max(known->rows, access.rows);
    known->products += access.products;
  }

  /// All that a step reads, down to what is there, and the operations that this takes.
  Recipe read_by(const Step &step) const {
    Recipe all;
    for (const Access &access : step.accesses) {
      if (!access.reads) continue;
      const std::optional<Recipe> &recipe = recipes_[access.tensor];
      if (recipe) all.operations += recipe->operations;
      for (const std::uint32_t tensor : recipe ? recipe->of : std::vector<std::uint32_t>{access.tensor})
        if (std::find(all.of.begin(), all.of.end(), tensor) == all.of.end()) all.of.push_back(tensor);
    }
    return all;
  }

  /// The step that reads what an access writes for the last time, before it is written again or with that.
  std::uint32_t last_reader(std::uint32_t access) const {
    std::uint32_t last = uses_.step[access];
    for (std::uint32_t a = uses_.next[access]; a != kNever; a = uses_.next[a]) {
      if (uses_.what[a].reads) last = uses_.step[a];
      if (uses_.what[a].writes) break;
    }
    return last;
  }

  bool written_between(std::uint32_t tensor, std::uint32_t after, std::uint32_t until) const {
    for (std::uint32_t s = after + 1; s <= until; ++s)
      for (const Access &access : from_.steps[s].accesses)
        if (access.tensor == tensor && access.writes) return true;
    return false;
  }

  /// The access that writes the step's one large result; kNever: none, several, or one that is changed in place.
  std::uint32_t large_result(std::uint32_t s) const {
    std::uint32_t largest = kNever;
    for (std::uint32_t a = uses_.first[s]; a < uses_.first[s + 1]; ++a)
      if (uses_.what[a].writes &&
          (largest == kNever || bytes(uses_.what[a].tensor) > bytes(uses_.what[largest].tensor)))
        largest = a;
    if (largest == kNever || uses_.what[largest].reads || from_.tensors[uses_.what[largest].tensor].to_memory)
      return kNever;
    for (std::uint32_t a = uses_.first[s]; a < uses_.first[s + 1]; ++a)
      if (a != largest && uses_.what[a].writes &&
          (uses_.what[a].reads || bytes(uses_.what[a].tensor) * kSmall > bytes(uses_.what[largest].tensor)))
        return kNever;
    return largest;
  }

  bool leave_out(std::uint32_t s) {
    const Step &step = from_.steps[s];
    if (std::find(kCheap.begin(), kCheap.end(), step.layer) == kCheap.end()) return false;
    const std::uint32_t made = large_result(s);
    if (made == kNever) return false;
    Recipe recipe = read_by(step);
    recipe.operations += step.operations;
    const std::uint32_t until = last_reader(made);
    std::uint32_t writer = kNever, large = 0;
    for (const std::uint32_t tensor : recipe.of) {
      if (bytes(tensor) * kSmall <= bytes(uses_.what[made].tensor)) continue;
      ++large;
      if (written_between(tensor, s, until)) return false;
      const std::uint32_t wrote = last_writer_[tensor];
      if (wrote != kNever && (writer == kNever || wrote > writer)) writer = wrote;
    }
    if (large > 2 || writer == kNever) return false;
    // Sums that it gives besides go with whoever wrote the last of what they are made of.
    Step &sums = result_.steps[writer];
    bool has_sums = false;
    for (const Access &access : step.accesses)
      if (access.writes && access.tensor != uses_.what[made].tensor) {
        touch(sums, {access.tensor, false, true, 1, 0});
        last_writer_[access.tensor] = writer;
        recipe.of.push_back(access.tensor);
        has_sums = true;
      }
    if (has_sums)
      for (const std::uint32_t tensor : recipe.of)
        if (last_writer_[tensor] == kNever || last_writer_[tensor] < writer) touch(sums, {tensor, true, false, 1, 0});
    recipes_[uses_.what[made].tensor] = std::move(recipe);
    return true;
  }

  void keep(std::uint32_t s) {
    Step step = from_.steps[s];
    step.accesses.clear();
    for (const Access &access : from_.steps[s].accesses) {
      std::optional<Recipe> &recipe = recipes_[access.tensor];
      if (access.reads && recipe) {
        step.operations += recipe->operations;
        for (const std::uint32_t tensor : recipe->of)
          touch(step, {tensor, true, false, access.rows, access.products});
        if (access.writes) touch(step, {access.tensor, false, true, access.rows, 0});
      } else {
        touch(step, access);
      }
      if (access.writes) {
        recipe.reset();
        last_writer_[access.tensor] = static_cast<std::uint32_t>(result_.steps.size());
      }
    }
    result_.steps.push_back(std::move(step));
  }

  void number() {
    std::vector<std::uint32_t> numbers(from_.tensors.size(), kNever);
    for (Step &step : result_.steps)
      for (Access &access : step.accesses) {
        if (numbers[access.tensor] == kNever) {
          numbers[access.tensor] = static_cast<std::uint32_t>(result_.tensors.size());
          result_.tensors.push_back(from_.tensors[access.tensor]);
        }
        access.tensor = numbers[access.tensor];
      }
  }

  const Iteration &from_;
  Uses uses_;
  std::vector<std::optional<Recipe>> recipes_; ///< of tensors that are not there now
  std::vector<std::uint32_t> last_writer_;     ///< of each tensor, the step of the result that wrote it
  Iteration result_;
};

} // namespace

Iteration fuse_point_wise(const Iteration &iteration) {
  Iteration result = Fusion(iteration).run();
  check(result);
  return result;
}

} // namespace gradweave::memory_model
