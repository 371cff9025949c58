#include "compiler/weave/job_set.hpp"

#include "compiler/back/fused_layers.hpp"
#include "compiler/back/vector_room.hpp"
#include "compiler/back/vector_section.hpp"
#include "compiler/depthwise/depthwise.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/request/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Of the macro-banks those that sections have, where that is enough.
constexpr std::uint32_t kSectionEighths = 2;

void check_jobs(const std::vector<WeaveJob> &jobs, const Machine &npu) {
  if (jobs.empty()) throw std::invalid_argument("no jobs to weave; name at least one");
  std::set<std::string> names;
  for (const WeaveJob &job : jobs) {
    if (job.layers.empty()) throw std::invalid_argument(fmt::format("job '{}' has no layers", job.name));
    if (!names.insert(job.name).second)
      throw std::invalid_argument(fmt::format("two jobs are called '{}'; give each a name of its own", job.name));
  }
  if (npu.cores != 1)
    throw CompileError(
        fmt::format("jobs are woven on one core; NPU '{}' has {}; choose one with npu.cores = 1", npu.name, npu.cores));
}

std::vector<JobRange> ranges_of(const std::vector<WeaveJob> &jobs) {
  std::vector<JobRange> ranges;
  std::uint32_t first = 0;
  for (const WeaveJob &job : jobs) {
    const auto end = first + static_cast<std::uint32_t>(job.layers.size());
    ranges.push_back({first, end, job.pass});
    first = end;
  }
  return ranges;
}

std::vector<JobSection> sections_of(const JobRange &range) {
  std::vector<JobSection> sections;
  for (std::uint32_t i = range.first; i < range.end && range.pass != Pass::kBackward; ++i)
    sections.push_back({i, Pass::kForward});
  for (std::uint32_t i = range.end; i-- > range.first && range.pass != Pass::kForward;)
    sections.push_back({i, Pass::kBackward});
  return sections;
}

/// Whether the section that ends with a layer fits, if one does.
bool section_fits(const std::vector<Layer> &layers, std::size_t layer, Pass pass, const VectorRoom &room) {
  const LayerRange range = fused_with(layers, layer);
  if (range.size() == 1) return !layers[layer].vector || fits_room(layers[layer], pass, room);
  if (layer != range.last()) return true;
  return fused_fit({layers.begin() + static_cast<std::ptrdiff_t>(range.first),
                    layers.begin() + static_cast<std::ptrdiff_t>(range.end)},
                   room);
}

} // namespace

void take_vector_unit(std::vector<Layer> &layers, Pass pass, const Machine &npu) {
  const std::optional<VectorRoom> room = largest_room(npu);
  if (!room) return;
  for (Layer &layer : layers)
    if (fits_room(layer, pass, *room)) layer = on_vector_unit(std::move(layer));
  if (pass == Pass::kForward) fuse_layers(layers, *room);
}

JobSet::JobSet(std::vector<WeaveJob> jobs, const Machine &npu)
    : jobs_((check_jobs(jobs, npu), ranges_of(jobs))), npu_(npu), tile_npu_(npu) {
  for (WeaveJob &job : jobs) {
    names_.push_back(job.name);
    for (Layer &layer : job.layers) {
      for (std::string *name : {&layer.name, &layer.input, &layer.x_of, &layer.weights})
        if (!name->empty()) *name = job.name + '/' + *name;
      layer.index = static_cast<std::uint32_t>(layers_.size());
      layers_.push_back(std::move(layer));
    }
  }
  layout_ = make_layout(layers_, jobs_, npu_);
  if (layout_.bytes > npu.memory.size_bytes)
    throw CompileError(fmt::format("the tensors of {} jobs need {} bytes of device memory together, NPU '{}' has {}; "
                                   "raise memory.size_bytes, or name fewer jobs, copies or samples",
                                   size(), layout_.bytes, npu.name, npu.memory.size_bytes));
  for (const JobRange &range : jobs_.ranges())
    sections_.push_back(sections_of(range));
  if (std::any_of(layers_.begin(), layers_.end(), [](const Layer &l) { return l.vector; })) give_room_to_unit();
}

void JobSet::give_room_to_unit() {
  const auto all_fit = [this](const VectorRoom &room) {
    for (std::size_t i = 0; i < layers_.size(); ++i)
      if (!section_fits(layers_, i, jobs_.pass_of(i), room)) return false;
    return true;
  };
  const Machine &npu = npu_;
  const std::optional<SharedMachine> shared = share_machine(npu, kSectionEighths, all_fit);
  if (!shared) throw std::invalid_argument("a layer is said to be the vector unit's, and does not fit it");
  vector_room_ = *shared->unit;
  tile_npu_ = shared->tiles;
  const std::uint32_t semaphores = vector_room_.first_semaphore + kDepthwiseSemaphores;
  if (semaphores > npu.semaphores)
    throw CompileError(fmt::format("layers on the vector unit take {} semaphores in all, NPU '{}' has {}; raise "
                                   "npu.semaphores",
                                   semaphores, npu.name, npu.semaphores));
  for (const std::vector<JobSection> &sections : sections_)
    for (const JobSection &s : sections) {
      const LayerRange range = fused_with(layers_, s.layer);
      if (range.size() > 1) {
        if (s.layer == range.last())
          vector_sections_[{s.layer, s.pass}] = {fused_section(layers_, range, layout_, vector_room_)};
        continue;
      }
      if (!layers_[s.layer].vector) continue;
      for (const Tensor result : vector_results(layers_[s.layer], s.pass))
        vector_sections_[{s.layer, s.pass}].push_back(
            vector_section(layers_[s.layer], s.layer, result, layout_, vector_room_));
    }
}

} // namespace gradweave::compiler
