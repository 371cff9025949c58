#include "compiler/weave/weave.hpp"

#include "compiler/back/compile_plan.hpp"
#include "compiler/request/error.hpp"
#include "compiler/weave/weave_search.hpp"

#include <fmt/format.h>

namespace gradweave::compiler {

Woven weave(const JobSet &jobs, JobPlans &plans, const WeaveOptions &options) {
  WeaveSearch search(jobs, plans, options);
  if (!search.begin())
    throw CompileError(
        fmt::format("{} jobs have no room for tensors, partial sums and commands in the {} bytes of device "
                    "memory of NPU '{}'; raise memory.size_bytes, or name fewer jobs, copies or samples",
                    jobs.size(), jobs.npu().memory.size_bytes, jobs.npu().name));
  Woven woven;
  woven.orders = search.tried();
  woven.first_cycles = search.cycles();
  search.run();
  woven.changes = search.changes();
  woven.improvements = search.improvements();
  woven.plan = OrderPlayer(jobs, plans).time(search.order());
  return woven;
}

Compiled compile_woven(const JobSet &jobs, const Woven &woven) {
  return compile_plan(jobs.layers(), jobs.jobs(), jobs.layout(), woven.plan, jobs.npu());
}

} // namespace gradweave::compiler
