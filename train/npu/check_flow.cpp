#include "train/npu/check_flow.hpp"

#include "train/data/tensor_bytes.hpp"
#include "train/npu/check_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace gradweave::runtime::train {
namespace {

using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::TensorId;

constexpr std::uint64_t kUnitBytes = 2, kWordUnits = 64;

std::uint64_t bits_between(std::uint64_t first, std::uint64_t end) {
  const std::uint64_t all = ~std::uint64_t{0};
  return (all << first) & (all >> (kWordUnits - end));
}

/// Calls f with each word that has some of the bytes, and the bits of it that they are; until it returns false.
template <typename F> bool for_words(std::uint64_t begin, std::uint64_t end, const F &f) {
  for (std::uint64_t at = begin / kUnitBytes, last = (end - 1) / kUnitBytes; at <= last;) {
    const std::uint64_t word = at / kWordUnits, first = at % kWordUnits,
                        stop = std::min(kWordUnits, last - word * kWordUnits + 1);
    if (!f(word, bits_between(first, stop))) return false;
    at = (word + 1) * kWordUnits;
  }
  return true;
}

/// Replays the LOADs and STOREs of a step.
class StepFlow {
public:
  explicit StepFlow(const FlowPlan &plan);

  /// Each returns the first thing that is wrong, or an empty text.
  std::string begin(const StepSection &section);
  std::string step(const isa::DmaCommand &dma);
  std::string finish();

private:
  /// Two-byte units of memory, of which some are written.
  class Units {
  public:
    void resize(std::uint64_t bytes) { words_.assign(bytes / 128 + 1, 0); }
    void clear() { words_.assign(words_.size(), 0); }
    void fill() { words_.assign(words_.size(), ~std::uint64_t{0}); }
    void set(std::uint64_t begin, std::uint64_t end);
    bool all(std::uint64_t begin, std::uint64_t end) const;
    bool none(std::uint64_t begin, std::uint64_t end) const;

  private:
    std::vector<std::uint64_t> words_;
  };

  /// What a place of memory holds. A version is named by the tensor that all views of it come from.
  struct Place {
    TensorId version = graph::kNone, before = graph::kNone;
    bool whole = false; ///< all of the version is there
    Units written;      ///< of the version, unless it is whole
  };
  /// A tensor that ops of the section read or write.
  struct Known {
    TensorId version, place;
    std::uint64_t begin, end; ///< bytes
    bool written;
  };

  std::string load(std::uint64_t begin, std::uint64_t end) const;
  std::string store(std::uint64_t begin, std::uint64_t end);
  void begin_version(const Known &tensor);
  std::string end_scope();
  void add_known(TensorId tensor, bool written);
  bool is_partial(TensorId version) const;
  std::uint64_t bytes_of_place(TensorId place) const;
  const std::string &name(TensorId tensor) const { return plan_.graph.tensors[tensor].name; }

  const FlowPlan plan_;
  std::vector<TensorId> version_of_;                           ///< of each tensor, what it is a view of in the end
  std::vector<OpId> writer_of_;                                ///< of each version; kNone: the host
  std::vector<Place> places_;                                  ///< by the tensor that owns the place
  std::vector<std::pair<std::uint64_t, TensorId>> by_address_; ///< owners
  Units scratch_;
  OpId scope_ = graph::kNone;
  std::vector<Known> known_;    ///< to the section
  std::vector<TensorId> begun_; ///< places of which the scope has begun a version
};

void StepFlow::Units::set(std::uint64_t begin, std::uint64_t end) {
  for_words(begin, end, [this](std::uint64_t word, std::uint64_t bits) {
    words_[word] |= bits;
    return true;
  });
}

bool StepFlow::Units::all(std::uint64_t begin, std::uint64_t end) const {
  return for_words(begin, end,
                   [this](std::uint64_t word, std::uint64_t bits) { return (words_[word] & bits) == bits; });
}

bool StepFlow::Units::none(std::uint64_t begin, std::uint64_t end) const {
  return for_words(begin, end, [this](std::uint64_t word, std::uint64_t bits) { return (words_[word] & bits) == 0; });
}

StepFlow::StepFlow(const FlowPlan &plan)
    : plan_(plan), writer_of_(plan.graph.tensors.size(), kNone), places_(plan.graph.tensors.size()) {
  const std::vector<graph::Tensor> &tensors = plan_.graph.tensors;
  std::vector<TensorId> of(tensors.size());
  for (TensorId id = 0; id < of.size(); ++id)
    of[id] = id;
  for (const View &view : plan_.views.views)
    of[view.tensor] = view.of;
  const std::set<OpId> idle(plan_.views.ops.begin(), plan_.views.ops.end());
  for (TensorId id = 0; id < of.size(); ++id) {
    TensorId version = id;
    while (of[version] != version)
      version = of[version];
    version_of_.push_back(version);
    if (tensors[id].computed() && idle.count(tensors[id].producer) == 0) writer_of_[version] = tensors[id].producer;
  }
  for (TensorId id = 0; id < of.size(); ++id) {
    if (plan_.memory.places[id].owner != id) continue;
    by_address_.emplace_back(plan_.memory.places[id].address, id);
    if (writer_of_[version_of_[id]] == kNone) {
      places_[id].version = version_of_[id];
      places_[id].whole = true;
    }
  }
  std::sort(by_address_.begin(), by_address_.end());
  scratch_.resize(plan_.memory_bytes - plan_.memory.scratch);
}

std::uint64_t StepFlow::bytes_of_place(TensorId place) const { return bytes_of_tensor(plan_.graph.tensors[place]); }

void StepFlow::add_known(TensorId tensor, bool written) {
  if (tensor == kNone || plan_.memory.places[tensor].owner == kNone) return;
  const TensorId place = plan_.memory.places[tensor].owner;
  const std::uint64_t begin = plan_.memory.places[place].address;
  known_.push_back({version_of_[tensor], place, begin, begin + bytes_of_place(place), written});
}

std::string StepFlow::begin(const StepSection &section) {
  std::string problem;
  if (section.op == kNone || section.op != scope_) {
    problem = end_scope();
    scratch_.clear();
  }
  scope_ = section.op;
  known_.clear();
  for (const OpId id : section.ops) {
    for (const TensorId output : plan_.graph.ops[id].outputs)
      add_known(output, true);
    for (const TensorId input : plan_.graph.ops[id].inputs)
      add_known(input, false);
  }
  if (section.op == kNone)
    for (const graph::Update &update : plan_.memory.moved) {
      add_known(update.next, false);
      known_.push_back({version_of_[update.next], update.tensor, plan_.memory.places[update.tensor].address,
                        plan_.memory.places[update.tensor].address + bytes_of_place(update.tensor), true});
    }
  return problem;
}

std::string StepFlow::step(const isa::DmaCommand &dma) {
  const std::uint64_t row_bytes = std::uint64_t{dma.cols} * (dma.fp32 ? 4 : 2);
  const bool one_piece = dma.rows == 1 || dma.pitch == row_bytes;
  const std::uint64_t length = one_piece ? row_bytes * dma.rows : row_bytes;
  for (std::uint32_t row = 0; row < (one_piece ? 1 : dma.rows); ++row) {
    const std::uint64_t begin = dma.dram_addr + std::uint64_t{row} * dma.pitch;
    std::string problem = dma.store ? store(begin, begin + length) : load(begin, begin + length);
    if (!problem.empty()) return problem;
  }
  return {};
}

std::string StepFlow::load(std::uint64_t begin, std::uint64_t end) const {
  if (begin >= plan_.memory.scratch) {
    if (end <= plan_.memory_bytes && scratch_.all(begin - plan_.memory.scratch, end - plan_.memory.scratch)) return {};
    return fmt::format("it reads scratch space at {:#x} that no section of the op has written", begin);
  }
  const Known *wanted = nullptr;
  for (const Known &known : known_) {
    if (begin < known.begin || end > known.end) continue;
    const Place &place = places_[known.place];
    const std::uint64_t from = begin - known.begin, to = end - known.begin;
    if (place.version == known.version && (place.whole || place.written.all(from, to))) return {};
    // Rows between those that are named are loaded with them, and not used.
    if (place.version == known.version && is_partial(known.version)) return {};
    if (place.before == known.version && !place.whole && place.written.none(from, to)) return {};
    wanted = &known;
  }
  if (wanted == nullptr) return fmt::format("it reads {:#x}, where none of its operators has a tensor", begin);
  return fmt::format("it reads '{}' at {:#x} before that is written", name(wanted->version), begin);
}

std::string StepFlow::store(std::uint64_t begin, std::uint64_t end) {
  if (begin >= plan_.memory.scratch) {
    if (end > plan_.memory_bytes) return fmt::format("it writes {:#x}, behind all tensors", begin);
    scratch_.set(begin - plan_.memory.scratch, end - plan_.memory.scratch);
    return {};
  }
  for (const Known &known : known_) {
    if (!known.written || begin < known.begin || end > known.end) continue;
    Place &place = places_[known.place];
    if (place.version != known.version) begin_version(known);
    if (!place.whole) place.written.set(begin - known.begin, end - known.begin);
    return {};
  }
  return fmt::format("it writes {:#x}, where none of its operators has a result", begin);
}

/// Whether not all elements of a version are written: the others are those of the value before, or nobody reads them.
bool StepFlow::is_partial(TensorId version) const {
  return writer_of_[version] != kNone && plan_.gives_some_rows(writer_of_[version]);
}

void StepFlow::begin_version(const Known &tensor) {
  Place &place = places_[tensor.place];
  place.before = place.whole ? place.version : kNone;
  place.version = tensor.version;
  place.written.resize(bytes_of_place(tensor.place));
  place.whole = place.before != kNone && is_partial(tensor.version); // named rows, over the value before
  begun_.push_back(tensor.place);
  for (auto other = by_address_.begin(); other != by_address_.end() && other->first < tensor.end; ++other)
    if (other->second != tensor.place && other->first + bytes_of_place(other->second) > tensor.begin)
      places_[other->second] = {};
}

/// All of the op's sections have come: what they have begun to store is there.
std::string StepFlow::end_scope() {
  std::string problem;
  for (const TensorId at : begun_) {
    Place &place = places_[at];
    if (place.version == kNone || place.whole) continue;
    place.whole = place.written.all(0, bytes_of_place(at));
    if (!place.whole && !is_partial(place.version) && problem.empty())
      problem = fmt::format("'{}' has not been stored in full by its operators", name(place.version));
  }
  begun_.clear();
  return problem;
}

std::string StepFlow::finish() {
  if (std::string problem = end_scope(); !problem.empty()) return problem;
  const auto holds = [this](TensorId place, TensorId version) {
    return places_[place].version == version && (places_[place].whole || is_partial(version));
  };
  std::set<TensorId> replaced;
  for (const graph::Update &update : plan_.graph.updates) {
    replaced.insert(update.tensor);
    if (!holds(update.tensor, version_of_[update.next]))
      return fmt::format("at the end of the step '{}' does not hold its next value '{}'", name(update.tensor),
                         name(update.next));
  }
  for (const auto &[address, place] : by_address_)
    if (plan_.memory.places[place].kept && replaced.count(place) == 0 && !holds(place, version_of_[place]))
      return fmt::format("'{}' is never stored", name(place));
  for (const TensorId result : plan_.graph.results) {
    const TensorPlace &place = plan_.memory.places[result];
    if (place.owner == kNone || !place.kept || !holds(place.owner, version_of_[result]))
      return fmt::format("at the end of the step memory does not hold the result '{}'", name(result));
  }
  return {};
}

} // namespace

std::string check_flow(const StepStream &stream, const FlowPlan &plan) {
  StepFlow flow(plan);
  std::size_t last = 0;
  for (const StepSection &section : stream.sections) {
    std::string problem = flow.begin(section);
    for (std::size_t i = section.first; i < section.first + section.count && problem.empty(); ++i) {
      last = i;
      const std::optional<isa::Decoded> decoded = isa::decode(stream.commands[i]);
      if (const auto *dma = std::get_if<isa::DmaCommand>(&decoded->op)) problem = flow.step(*dma);
    }
    if (!problem.empty()) return fmt::format("{}: {}", describe_place(stream, plan.graph, last), problem);
  }
  return flow.finish();
}

} // namespace gradweave::runtime::train
