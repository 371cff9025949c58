#include "compiler/schedule/registry.hpp"
#include "compiler/paper/paper.hpp"
#include "compiler/schedule/in_order.hpp"
#include "compiler/schedule/searched.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::compiler {

const std::vector<const Scheduler *> &schedulers() {
  static const SearchedOrder sequential(Schedule::kSequential, "all of dX, then all of dW: what frameworks do");
  static const SearchedOrder interleave(Schedule::kInterleave, "products of dX and dW by turns");
  static const SearchedOrder dx_major(Schedule::kDxMajor, "by turns, both along the rows of dY");
  static const SearchedOrder dw_major(Schedule::kDwMajor, "by turns, both along the columns of dY");
  static const SearchedOrder rearrange(Schedule::kRearrange, "one of these three by the layer's shape, as Algorithm 1");
  static const SearchedOrder ideal(Schedule::kIdeal, "the fastest of these three");
  static const FullSearch full_search;
  static const InOrder in_order;
  static const paper::PaperScheduler igo_paper;
  static const std::vector<const Scheduler *> all{&sequential, &interleave,  &dx_major, &dw_major, &rearrange,
                                                  &ideal,      &full_search, &in_order, &igo_paper};
  return all;
}

std::string schedule_names() {
  std::string names;
  for (const Scheduler *scheduler : schedulers())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(scheduler->name()));
  return names;
}

Schedule parse_schedule(std::string_view name) {
  for (const Scheduler *scheduler : schedulers())
    if (scheduler->name().name() == name) return scheduler->name();
  throw std::invalid_argument(fmt::format("unknown schedule '{}'; use one of: {}", name, schedule_names()));
}

const Scheduler &scheduler_of(Schedule schedule) {
  for (const Scheduler *scheduler : schedulers())
    if (scheduler->name() == schedule) return *scheduler;
  throw std::invalid_argument(
      fmt::format("unknown schedule '{}'; use one of: {}", to_string(schedule), schedule_names()));
}

} // namespace gradweave::compiler
