#include "app/request/weave_jobs.hpp"
#include "base/process/stopwatch.hpp"
#include "bench/growth.hpp"
#include "bench/section.hpp"
#include "bench/work/workloads.hpp"
#include "compiler/weave/weave.hpp"

#include <fmt/format.h>

namespace gradweave::bench {
namespace {

constexpr const char *kRow = "{:<42} {:<6} {:>5} {:>7} {:>8} {:>8} {:>10} {:>8}\n";
constexpr std::uint64_t kPlans = 40; ///< as the command has it
constexpr double kMostSeconds = 30;  ///< for two networks of a hundred layers
constexpr const char *kGrowth = "jobs";

struct Search {
  std::string name, npu;
  std::vector<std::string> jobs; ///< as the command takes them
  std::uint64_t changes;
  double seconds;     ///< that it takes, roughly
  double limit;       ///< of seconds; 0: none
  const char *series; ///< whose growth is told
};

std::vector<Search> searches() {
  std::vector<Search> all{{"BERT-large, 17 encoders, 1 and 8 samples",
                           "large",
                           {"bert_large,layers=17:1:forward", "bert_large,layers=17:8:forward"},
                           300,
                           20,
                           kMostSeconds,
                           ""}};
  for (const std::uint32_t jobs : {1U, 2U, 4U, 8U})
    all.push_back({fmt::format("BERT-tiny, {} copies", jobs),
                   "small",
                   {fmt::format("bert_tiny:1:forward:{}", jobs)},
                   50,
                   2.0 * jobs,
                   0,
                   kGrowth});
  return all;
}

Json measure(const Search &search) {
  const Machine npu = load_npu(search.npu);
  const compiler::JobSet jobs(cli::parse_jobs(search.jobs, npu, false), npu);
  const Stopwatch for_plans;
  compiler::JobPlans plans(jobs, kPlans, 1);
  const double plan_seconds = for_plans.cpu_seconds();
  compiler::WeaveOptions options;
  options.changes = search.changes;
  const Stopwatch for_orders;
  const compiler::Woven woven = compiler::weave(jobs, plans, options);
  const double order_seconds = for_orders.cpu_seconds();
  const auto orders = static_cast<double>(woven.orders + woven.changes);
  return {{"name", search.name},
          {"npu", npu.name},
          {"series", search.series},
          {"limit", search.limit},
          {"jobs", jobs.size()},
          {"layers", jobs.layers().size()},
          {"orders", orders},
          {"plan_seconds", plan_seconds},
          {"order_seconds", order_seconds},
          {"seconds", order_seconds / orders}};
}

class WeaveSearchSection final : public Section {
public:
  std::string title() const override {
    return "Weaving several networks into one stream: plans of all shapes, then orders under the exact model; one "
           "thread, "
           "CPU time";
  }
  std::string head() const override {
    return fmt::format(kRow, "jobs", "NPU", "jobs", "layers", "orders", "plans s", "orders s", "ms/order");
  }

  std::vector<Measurement> measurements() const override {
    std::vector<Measurement> all;
    for (const Search &search : searches())
      all.push_back({search.name, search.seconds, [search](const auto &) { return measure(search); }});
    return all;
  }

  std::string rows(const Json &m, std::vector<std::string> &missed) const override {
    const double plans = m["plan_seconds"], orders = m["order_seconds"], limit = m["limit"];
    const auto name = m["name"].get<std::string>();
    if (limit > 0 && plans + orders > limit)
      missed.push_back(fmt::format("weaving {}: {:.1f} s, at most {}", name, plans + orders, limit));
    return fmt::format(kRow, name, m["npu"].get<std::string>(), m["jobs"].get<std::size_t>(),
                       m["layers"].get<std::size_t>(), fmt::format("{:.0f}", m["orders"].get<double>()),
                       fmt::format("{:.2f}", plans), fmt::format("{:.2f}", orders),
                       fmt::format("{:.2f}", 1e3 * m["seconds"].get<double>()));
  }

  std::string conclusion(const std::vector<Json> &measured) const override {
    const std::vector<const Json *> points = points_of(measured, kGrowth);
    if (points.size() < 2) return ""; // measurements failed
    return fmt::format("seconds of an order grow as jobs^{:.2f} (power 1: linear)\n", exponent(points, "jobs"));
  }
};

} // namespace

std::unique_ptr<Section> weave_search_section() { return std::make_unique<WeaveSearchSection>(); }

} // namespace gradweave::bench
