#include "compiler/step_search.hpp"
#include "compiler/cost.hpp"
#include "compiler/partition.hpp"
#include "compiler/refine.hpp"
#include "compiler/residency.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gradweave::compiler {
namespace {

/// Plans of a layer and direction that the step may use instead of the best.
constexpr std::size_t kAlternatives = 12;
/// Bursts and commands that are simulated for a change, on average at most.
constexpr std::uint64_t kChangeWork = 1'000'000;
/// As many of them take as long as a unit of Program::work().
constexpr std::uint64_t kBurstsOfAProduct = 150;
/// Sections on each side of a changed one that are simulated with it.
constexpr std::size_t kNeighbours = 2;
/// Cycles of a plan that does not fit.
constexpr std::uint64_t kNever = ~std::uint64_t{0};

/// Plans of a layer in one direction, best first, and what the best ones take.
struct Alternatives {
  std::vector<std::vector<PhasePlan>> plans;
  LayerCycles best;
};

struct Found {
  std::uint64_t cycles = 0; ///< of the sample
  Schedule order = Schedule::kSequential;
  std::vector<PhasePlan> plans;
};

class LayerPlans {
public:
  LayerPlans(const NpuConfig &npu, std::uint64_t plans) : npu_(npu), plans_(plans) {}

  const Alternatives &of(const Layer &layer, Pass pass) {
    const Key key{layer.m, layer.k, layer.n, layer.groups, pass == Pass::kForward || layer.dx, pass};
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
    const Layer sample = sample_of(layer, npu_);
    std::vector<Found> found = search_orders(layer, sample, pass);
    const Layout layout = make_layout(layer, pass, npu_);
    const auto whole_cycles = [&](const Found &f) {
      return is_whole(sample, layer) ? f.cycles : plan_for(layer, f.plans, layout, npu_).cycles;
    };
    const auto conventional =
        std::find_if(found.begin(), found.end(), [](const Found &f) { return f.order == Schedule::kSequential; });
    Alternatives &alternatives = known_[key];
    LayerCycles &best = alternatives.best;
    best.conventional = best.searched = whole_cycles(*conventional);
    if (conventional != found.begin()) best.searched = whole_cycles(found.front());
    if (best.searched <= best.conventional) {
      best.order = found.front().order;
    } else { // what is best on the sample need not be so on the layer
      best.searched = best.conventional;
      std::rotate(found.begin(), conventional, conventional + 1);
    }
    for (std::size_t i = 0; i < std::min(found.size(), kAlternatives); ++i)
      alternatives.plans.push_back(std::move(found[i].plans));
    return alternatives;
  }

private:
  /// The best plans for the sample in each order, best first.
  std::vector<Found> search_orders(const Layer &layer, const Layer &sample, Pass pass) const {
    const Layout layout = make_layout(sample, pass, npu_);
    std::vector<Schedule> orders{Schedule::kSequential};
    if (computes_dx(layer, pass))
      orders = {Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor};
    std::vector<Found> found;
    for (const Schedule order : orders) {
      Refinement refinement(search(sample, order, pass, {}, layout, npu_, effort_of(plans_)), sample, layout, npu_);
      if (refinement.kept().empty()) check_footprint(layer, refinement.least_bytes(), npu_);
      refinement.run(plans_, work_of(plans_));
      for (const Refinement::Kept &k : refinement.kept()) {
        const auto at = std::upper_bound(found.begin(), found.end(), k.cycles,
                                         [](std::uint64_t cycles, const Found &f) { return cycles < f.cycles; });
        found.insert(at, {k.cycles, order, k.plans});
      }
    }
    return found;
  }

  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool, Pass>;
  const NpuConfig &npu_;
  std::uint64_t plans_;
  std::map<Key, Alternatives> known_;
};

/// A layer's pass in one direction: a run of phases of the step.
struct Section {
  std::uint32_t layer = 0;
  const Alternatives *alternatives = nullptr;
  std::vector<PhasePlan> plans; ///< without products
  std::uint64_t array = 0;      ///< cycles that they take at least
  bool alone = false;           ///< takes over no tiles from the sections before
};

class StepSearch {
public:
  StepSearch(const std::vector<Layer> &layers, const NpuConfig &npu, const StepOptions &options)
      : layers_(layers), npu_(npu), options_(options), layout_(make_layout(layers, options.pass, npu)), changer_(npu),
        own_(npu, options.layer_plans) {}

  SearchedStep run();

private:
  void plan_layers();
  void set(Section &section, std::vector<PhasePlan> plans) const;
  void change(Section &section);
  void align(Section &section, const PhasePlan &like) const;
  void align_to_any(Section &section);
  std::vector<std::size_t> pick_sections();
  bool improves(SearchedStep &found);
  void try_on_all(const std::function<void(Section &)> &change, SearchedStep &found);
  void try_reuse(SearchedStep &found);
  std::uint64_t shared_tensors(std::size_t one, std::size_t other) const;
  /// Plans of the sections from `first` to before `end`.
  std::vector<PhasePlan> range(std::size_t first, std::size_t end) const;
  Layout layout_of(std::size_t first, std::size_t end) const;
  /// Of these sections; kNever if they do not fit, or are found to take `limit` or more.
  std::uint64_t cycles(std::size_t first, std::size_t end, std::uint64_t limit);
  std::uint64_t cycles_around(std::size_t section, std::uint64_t limit = kNever);
  /// The first sections are forward passes.
  std::size_t forward_sections() const { return options_.pass == Pass::kBackward ? 0 : layers_.size(); }
  void report(std::uint64_t done) const {
    if (options_.progress) options_.progress(done, units());
  }
  void report_changes(std::uint64_t tried) const {
    report(sections_.size() + std::min(options_.step_plans, std::max(tried, worked_ / kChangeWork)));
  }
  std::uint64_t units() const { return sections_.size() + options_.step_plans; }
  /// The search has done what its changes may take.
  bool worked() const { return worked_ >= options_.step_plans * kChangeWork; }

  const std::vector<Layer> &layers_;
  const NpuConfig &npu_;
  const StepOptions &options_;
  Layout layout_;
  PlanChanger changer_;
  LayerPlans own_;
  std::vector<Section> sections_;
  std::map<std::size_t, std::uint64_t> around_; ///< cycles_around() of the sections as they are, where known
  std::uint64_t worked_ = 0;                    ///< bursts and commands simulated, and placing as so many
};

/// Plans that are to run for the section's layer.
void StepSearch::set(Section &section, std::vector<PhasePlan> plans) const {
  section.array = 0;
  for (PhasePlan &p : plans) {
    p.layer = section.layer;
    p.products.clear();
    section.array += plan_cycles(p, layers_[section.layer], npu_);
  }
  section.plans = std::move(plans);
}

void StepSearch::plan_layers() {
  const auto count = static_cast<std::uint32_t>(layers_.size());
  if (options_.pass != Pass::kBackward)
    for (std::uint32_t i = 0; i < count; ++i)
      sections_.push_back({i, nullptr, {}, 0, false});
  if (options_.pass != Pass::kForward)
    for (std::uint32_t i = count; i-- > 0;)
      sections_.push_back({i, nullptr, {}, 0, false});
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    Section &section = sections_[s];
    section.alternatives = &own_.of(layers_[section.layer], s < forward_sections() ? Pass::kForward : Pass::kBackward);
    set(section, section.alternatives->plans.front());
    report(s + 1);
  }
}

std::vector<PhasePlan> StepSearch::range(std::size_t first, std::size_t end) const {
  std::vector<PhasePlan> plans;
  for (std::size_t s = first; s < end; ++s) {
    const std::size_t at = plans.size();
    plans.insert(plans.end(), sections_[s].plans.begin(), sections_[s].plans.end());
    plans[at].starts_empty = sections_[s].alone;
    for (std::size_t i = at; i < plans.size(); ++i)
      plans[i].products = plan_products(plans[i], layers_[plans[i].layer], npu_);
  }
  return plans;
}

/// Of sections by themselves: what others use, they must store.
Layout StepSearch::layout_of(std::size_t first, std::size_t end) const {
  Layout layout = layout_;
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    if (s >= first && s < end) continue;
    for (const Tensor t : {Tensor::kX, Tensor::kY, Tensor::kDY, Tensor::kDX}) {
      const std::int32_t place = layout.place(sections_[s].layer, t);
      const bool used = s < forward_sections() ? t == Tensor::kX || t == Tensor::kY : t != Tensor::kY;
      if (place == Layout::kNone || !used) continue;
      TensorBinding &binding = layout.tensors[static_cast<std::size_t>(place)];
      binding.result = !binding.input;
    }
  }
  return layout;
}

std::uint64_t StepSearch::cycles(std::size_t first, std::size_t end, std::uint64_t limit) {
  std::uint64_t array = 0; // tiles of a few elements are many, and take long to place
  for (std::size_t s = first; s < end; ++s)
    array += sections_[s].array;
  if (array >= limit) return kNever;
  const std::optional<Program> program = allocate(range(first, end), layers_, layout_of(first, end), npu_);
  if (!program) return kNever;
  worked_ += program->work() * kBurstsOfAProduct;
  if (program_bound(*program, npu_) >= limit) return kNever;
  worked_ += simulation_work(*program);
  return program_cycles(*program, npu_);
}

/// Of the section and its neighbours alone: tells at a fraction of the cost whether the step could gain.
std::uint64_t StepSearch::cycles_around(std::size_t section, std::uint64_t limit) {
  return cycles(section - std::min(section, kNeighbours), std::min(section + kNeighbours + 1, sections_.size()), limit);
}

/// Cuts a tensor that the section shares with another phase like that one does, so that tiles can stay from one to the
/// other.
void StepSearch::align(Section &section, const PhasePlan &like) const {
  std::vector<PhasePlan> plans = section.plans;
  const Layer &mine = layers_[section.layer], &theirs = layers_[like.layer];
  for (PhasePlan &p : plans) {
    if (mine.m == theirs.m) p.tile.m = like.tile.m;
    if (mine.k == theirs.n)
      p.tile.k = like.tile.n;
    else if (mine.k == theirs.k)
      p.tile.k = like.tile.k;
    if (mine.n == theirs.k)
      p.tile.n = like.tile.k;
    else if (mine.n == theirs.n)
      p.tile.n = like.tile.n;
  }
  set(section, std::move(plans));
}

void StepSearch::align_to_any(Section &section) {
  const Section &other = sections_[changer_.pick(sections_.size())];
  align(section, other.plans[changer_.pick(other.plans.size())]);
}

void StepSearch::change(Section &section) {
  switch (changer_.pick(6)) {
  case 5:
    section.alone = !section.alone;
    break;
  case 0:
  case 1:
    set(section, section.alternatives->plans[changer_.pick(section.alternatives->plans.size())]);
    break;
  case 2: {
    std::vector<PhasePlan> plans = section.plans;
    changer_.change(plans, layers_[section.layer]);
    set(section, std::move(plans));
    break;
  }
  case 3:
    align_to_any(section);
    break;
  default:
    // dW first leaves dX to the layer before it; dX first leaves dY's tiles to dW.
    if (section.plans.size() == 2)
      std::swap(section.plans[0], section.plans[1]);
    else
      align_to_any(section);
  }
}

/// One section, or all of the same shape and direction: networks repeat their layers.
std::vector<std::size_t> StepSearch::pick_sections() {
  const std::size_t one = changer_.pick(sections_.size());
  if (changer_.pick(3) == 0) return {one};
  std::vector<std::size_t> alike;
  for (std::size_t s = 0; s < sections_.size(); ++s)
    if (sections_[s].alternatives == sections_[one].alternatives) alike.push_back(s);
  return alike;
}

bool StepSearch::improves(SearchedStep &found) {
  ++found.simulated;
  const std::uint64_t c = cycles(0, sections_.size(), found.cycles);
  if (c >= found.cycles) return false;
  found.cycles = c;
  ++found.improvements;
  return true;
}

void StepSearch::try_on_all(const std::function<void(Section &)> &change, SearchedStep &found) {
  const std::vector<Section> before = sections_;
  for (Section &section : sections_)
    change(section);
  if (!improves(found)) sections_ = before;
}

/// A bit for each pair of tensors of two sections' layers that is one tensor.
std::uint64_t StepSearch::shared_tensors(std::size_t one, std::size_t other) const {
  std::uint64_t bits = 0;
  for (const std::int32_t x : layout_.places[sections_[one].layer])
    for (const std::int32_t y : layout_.places[sections_[other].layer])
      bits = bits << 1U | static_cast<std::uint64_t>(x != Layout::kNone && x == y);
  return bits;
}

/// Lets sections take over tiles, or not, and cuts them like what they take over, where that is faster with their
/// neighbours; alike for sections of the same shape between neighbours of the same shapes that share the same tensors.
void StepSearch::try_reuse(SearchedStep &found) {
  const std::vector<Section> before = sections_;
  const auto shape = [&](std::size_t s) { return s < sections_.size() ? sections_[s].alternatives : nullptr; };
  const auto sharing = [&](std::size_t s) { return s < sections_.size() ? shared_tensors(s - 1, s) : 0U; };
  std::map<std::tuple<const Alternatives *, const Alternatives *, const Alternatives *, std::uint64_t, std::uint64_t>,
           std::size_t>
      first;
  for (std::size_t s = 1; s < sections_.size() && !worked(); ++s) {
    report_changes(0); // may end the search
    Section &section = sections_[s];
    const auto [like, is_first] =
        first.try_emplace({shape(s - 1), shape(s), shape(s + 1), sharing(s), sharing(s + 1)}, s);
    if (!is_first) {
      set(section, sections_[like->second].plans);
      section.alone = sections_[like->second].alone;
      continue;
    }
    std::uint64_t best = cycles_around(s);
    const auto keep_if_faster = [&](const std::function<void()> &change) {
      Section was = section;
      change();
      if (const std::uint64_t c = cycles_around(s, best); c < best)
        best = c;
      else
        section = std::move(was);
    };
    keep_if_faster([&] { section.alone = !section.alone; });
    for (const PhasePlan &phase : sections_[s - 1].plans)
      keep_if_faster([&] {
        section.alone = false;
        align(section, phase);
      });
  }
  if (!improves(found)) sections_ = before;
}

SearchedStep StepSearch::run() {
  plan_layers();
  SearchedStep found;
  found.layers.resize(layers_.size());
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    const LayerCycles &best = sections_[s].alternatives->best;
    LayerCycles &layer = found.layers[sections_[s].layer];
    layer.conventional += best.conventional;
    layer.searched += best.searched;
    if (s >= forward_sections()) layer.order = best.order;
    found.apart_cycles += best.searched;
  }
  found.cycles = found.first_cycles = cycles(0, sections_.size(), kNever);
  // Layers by themselves have the whole scratchpad. Areas of their own keep the tiles of neighbours out, and so does
  // to give up all reuse between layers, which costs traffic, but leaves tiles where the layer alone has them.
  const RowRange all{0, npu_.spm_rows()};
  try_on_all([](Section &section) { section.alone = true; }, found);
  try_on_all(
      [&](Section &section) {
        for (PhasePlan &p : section.plans)
          p.split = {all, all, all};
      },
      found);
  if (options_.step_plans > 0) try_reuse(found);
  for (std::uint64_t i = 0; i < options_.step_plans && !worked(); ++i) {
    const std::vector<std::size_t> picked = pick_sections();
    std::vector<Section> before;
    for (const std::size_t s : picked)
      before.push_back(sections_[s]);
    const auto [around, is_new] = around_.try_emplace(picked.front(), 0);
    if (is_new) around->second = cycles_around(picked.front());
    change(sections_[picked.front()]);
    for (const std::size_t s : picked) {
      set(sections_[s], sections_[picked.front()].plans);
      sections_[s].alone = sections_[picked.front()].alone;
    }
    if (cycles_around(picked.front(), around->second) < around->second && improves(found))
      around_.clear();
    else
      for (std::size_t j = 0; j < picked.size(); ++j)
        sections_[picked[j]] = std::move(before[j]);
    report_changes(i + 1);
  }
  found.plans = range(0, sections_.size());
  return found;
}

} // namespace

SearchedStep search_step(const std::vector<Layer> &layers, const NpuConfig &npu, const StepOptions &options) {
  return StepSearch(layers, npu, options).run();
}

} // namespace gradweave::compiler
