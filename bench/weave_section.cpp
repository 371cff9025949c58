#include "bench/section.hpp"
#include "bench/work/run_timer.hpp"
#include "graph/frontend/load_network.hpp"
#include "runtime/run/lookup.hpp"
#include "weave_model/profile.hpp"
#include "weave_model/weaver.hpp"

#include <fmt/format.h>

namespace gradweave::bench {
namespace {

constexpr const char *kWeaveRow = "{:<34} {:>8} {:>11} {:>10} {:>12}\n";
constexpr double kWeaveSeconds = 0.2;   ///< of repeated runs, at least
constexpr double kMostMicroseconds = 1; ///< of the paper's policy, a layer
constexpr const char *kComputes[] = {"inception_v3", "mobilenet_v2", "resnet50", "resnext50"};
constexpr const char *kFetches[] = {"bert_base", "bert_large", "ncf", "xlnet_large"};
/// An NPU like the NNP-I, batch 16, 4 tokens a sequence: app/evaluation/layerweaver/layerweaver.toml.
constexpr weave_model::Arrays kArrays{48, 32, 32, 0.93587e9, 1, weave_model::Stationary::kResults};
constexpr weave_model::Npu kNpu{std::uint64_t{32} << 20U, 68e9};

weave_model::Job job_of(const std::string &name) {
  compiler::NetworkSettings settings(16U);
  if (name.find("bert") == 0 || name.find("xlnet") == 0) settings.values.emplace("sequence", "4");
  weave_model::Job job{weave_model::profile_of(compiler::load_network(runtime::find_model(name), settings), kArrays),
                       0};
  job.alone = weave_model::alone_seconds(job.model, kNpu, 10);
  return job;
}

/// Ten times the longer model, endless queues.
Json weave(const std::vector<weave_model::Job> &jobs, weave_model::Policy policy) {
  double seconds = 0;
  for (const weave_model::Job &job : jobs)
    seconds = std::max(seconds, 10 * job.alone);
  weave_model::Rule rule{policy};
  rule.lead = seconds / 100;
  const weave_model::Weaver weaver(jobs, kNpu, rule);
  RunTimer timer;
  std::uint64_t layers = 0;
  timer.repeat_for(kWeaveSeconds, [&] { layers = weaver.saturate(seconds).layers; });
  return {{"jobs", jobs.size()}, {"layers", layers}, {"seconds", timer.seconds()}};
}

class WeaveSection final : public Section {
public:
  std::string title() const override {
    return "Layerweaver's model: what it takes to schedule a layer; one thread, CPU time";
  }
  std::string head() const override { return fmt::format(kWeaveRow, "what", "jobs", "layers", "s", "us/layer"); }

  std::vector<Measurement> measurements() const override {
    std::vector<Measurement> all;
    const auto add = [&all](const std::string &name, double limit, const std::vector<std::string> &networks,
                            weave_model::Policy policy) {
      all.push_back({name, 1, [=](const auto &) {
                       std::vector<weave_model::Job> jobs;
                       for (const std::string &network : networks)
                         jobs.push_back(job_of(network));
                       Json measured = weave(jobs, policy);
                       measured["name"] = name;
                       measured["limit"] = limit;
                       return measured;
                     }});
    };
    for (const char *computes : kComputes)
      for (const char *fetches : kFetches)
        add(fmt::format("{} + {}", computes, fetches), kMostMicroseconds, {computes, fetches},
            weave_model::Policy::kGreedy);
    std::vector<std::string> networks;
    for (const std::size_t count : {2U, 4U, 8U}) {
      while (networks.size() < count)
        networks.emplace_back(networks.size() % 2 == 0 ? kComputes[networks.size() / 2]
                                                       : kFetches[networks.size() / 2]);
      add(fmt::format("{} networks, bounded lead", count), 0, networks, weave_model::Policy::kBounded);
    }
    return all;
  }

  std::string rows(const Json &m, std::vector<std::string> &missed) const override {
    const double microseconds = 1e6 * m["seconds"].get<double>() / m["layers"].get<double>(), limit = m["limit"];
    const auto name = m["name"].get<std::string>();
    if (limit > 0 && microseconds > limit)
      missed.push_back(fmt::format("{}: {:.3g} us a layer, at most {}", name, microseconds, limit));
    return fmt::format(kWeaveRow, name, m["jobs"].get<std::size_t>(), m["layers"].get<std::uint64_t>(),
                       fmt::format("{:.5f}", m["seconds"].get<double>()), fmt::format("{:.3f}", microseconds));
  }

  std::string conclusion(const std::vector<Json> & /*measured*/) const override { return ""; }
};

} // namespace

std::unique_ptr<Section> weave_section() { return std::make_unique<WeaveSection>(); }

} // namespace gradweave::bench
