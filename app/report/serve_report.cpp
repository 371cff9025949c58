#include "app/report/serve_report.hpp"

#include "app/report/text_format.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::runtime {
namespace {

void print_networks(std::FILE *out, const ServeRequest &request, const ServeRun &run) {
  std::size_t width = 3;
  for (const ServedNetwork &network : run.networks)
    width = std::max(width, network.name.size());
  fmt::print(out, "{:{}} {:>6} {:>9} {:>8} {:>12} {:>12} {:>12} {:>12} {:>12} {:>6}\n", "job", width, "quanta",
             "commands", "requests", "alone", "latency p50", "p90", "p99", "largest", "late");
  for (const ServedNetwork &n : run.networks) {
    fmt::print(out, "{:{}} {:>6} {:>9} {:>8} {:>12}", n.name, width, n.quanta, grouped(n.commands), n.latencies.size(),
               grouped(n.alone_cycles));
    for (const double percent : {50.0, 90.0, 99.0, 100.0})
      fmt::print(out, " {:>12}",
                 n.latencies.empty() || !has_time(request.backend) ? "-" : grouped(percentile(n.latencies, percent)));
    fmt::print(out, " {:>6}\n", n.late);
  }
}

void print_totals(std::FILE *out, const ServeRequest &request, const ServeRun &run) {
  const Service &service = run.service;
  fmt::print(out, "\nserved     {} requests in {} quanta\n", grouped(service.requests.size()), grouped(service.quanta));
  if (has_time(request.backend)) {
    const std::uint64_t cycles = run.counters[isa::Counter::CYCLES];
    const double ghz = request.npu.clock_ghz;
    fmt::print(out, "cycles     {}: {:.1f} requests/s at {} GHz; array busy {}, loads {}, stores {}\n", grouped(cycles),
               static_cast<double>(service.requests.size()) * ghz * 1e9 / static_cast<double>(cycles), ghz,
               percent(static_cast<double>(run.counters[isa::Counter::COMPUTE_ACTIVE]) / static_cast<double>(cycles)),
               percent(static_cast<double>(run.counters[isa::Counter::LOAD_ACTIVE]) / static_cast<double>(cycles)),
               percent(static_cast<double>(run.counters[isa::Counter::STORE_ACTIVE]) / static_cast<double>(cycles)));
  }
  fmt::print(out, "passed     {} times at most, with {} requests there at most; bound {} (patience {})\n",
             service.most_passed, service.most_present, request.patience + service.most_present - 1, request.patience);
}

} // namespace

void print_served(std::FILE *out, const ServeRequest &request, const ServeRun &run, const std::string &reproduce) {
  if (!run.service.requests.empty()) {
    print_networks(out, request, run);
    print_totals(out, request, run);
  }
  if (has_data(request.backend))
    for (const ServedNetwork &n : run.networks)
      fmt::print(out, "checked    {}: {} elements of its results against the golden model, {} differ\n", n.name,
                 grouped(n.elements), grouped(n.mismatches));
  else
    fmt::print(out, "no data    the {} backend computes nothing: no bit was checked\n", to_string(request.backend));
  fmt::print(out, "reproduce  {}\n", reproduce);
  for (const std::string &failure : run.failures)
    fmt::print(out, "error      {}\n", failure);
  fmt::print(out, "{}\n", verdict(run.outcome));
  std::fflush(out);
}

} // namespace gradweave::runtime
