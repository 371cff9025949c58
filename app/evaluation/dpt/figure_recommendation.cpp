// Figure 5: DLRM with its tables in storage.
#include "app/evaluation/dpt/figures.hpp"

#include <fmt/format.h>

#include <utility>

namespace gradweave::evaluation::dpt {
namespace {

using partitioned::Recommendation;
using partitioned::RecommendationTimes;

constexpr double kMicro = 1e6; // microseconds a second
constexpr double kNpuHertz = 200e6;

struct Component {
  const char *name;
  double RecommendationTimes::*seconds;
};
constexpr Component kComponents[] = {
    {"rows read", &RecommendationTimes::read},      {"to the host", &RecommendationTimes::up},
    {"sums", &RecommendationTimes::reduce},         {"perceptrons and loss", &RecommendationTimes::fixed},
    {"to the storage", &RecommendationTimes::down}, {"rows written", &RecommendationTimes::write}};

double saving(double from, double to) { return 100 * (1 - to / from); }

/// The baseline when memory computes the perceptrons in no time at all: no other can be faster.
RecommendationTimes with_memory(const Recommendation &parameters, std::uint32_t dimension) {
  RecommendationTimes times = partitioned::recommendation_times(parameters, dimension, false);
  times.fixed = 0;
  return times;
}

void add_breakdown(const DptStudy &study, Figure &figure) {
  Chart chart{"figure5b", fmt::format("Microseconds of a mini-batch, dimension {}", study.breakdown_dimension),
              "us",       {"on the host", "near storage", "on the host, processing in memory"},
              {},         {},
              true};
  const Recommendation &r = study.recommendation;
  const std::uint32_t dimension = study.breakdown_dimension;
  for (const Component &part : kComponents) {
    Series series{part.name, {}};
    for (const RecommendationTimes &times :
         {partitioned::recommendation_times(r, dimension, false), partitioned::recommendation_times(r, dimension, true),
          with_memory(r, dimension)})
      series.values.push_back(kMicro * times.*part.seconds);
    chart.series.push_back(std::move(series));
  }
  figure.charts.push_back(std::move(chart));
}

/// The curve that the paper's three numbers lie on, and the fixed time as cycles.
void add_notes(const DptStudy &study, Figure &figure) {
  const Recommendation &r = study.recommendation;
  const double grows = partitioned::recommendation_times(r, 1, false).total() - r.fixed_seconds,
               near = partitioned::recommendation_times(r, 1, true).total() - r.fixed_seconds;
  figure.notes.push_back(fmt::format("A baseline of u d + F seconds and v d + F near storage save d / (x d + y), x = u "
                                     "/ (u - v), y = F / (u - v). The three "
                                     "numbers fix x and y: 2.160 and 38.7. With the link of table 5 and 26 rows each "
                                     "way against one these ask for storage "
                                     "of {:.2f} GB/s and {:.1f} us of perceptrons; here x = {:.3f}, y = {:.1f}.",
                                     r.storage_rate / 1e9, kMicro * r.fixed_seconds, grows / (grows - near),
                                     r.fixed_seconds / (grows - near)));
  figure.notes.push_back(
      "37.9 % against processing in memory contradicts the curve: even if the perceptrons of the baseline took no "
      "time, the "
      "saving would be above it. The paper would have to take more from the baseline than all that does not grow with "
      "the dimension.");
  Recommendation blocks = r;
  blocks.block_bytes = study.recommendation_block;
  std::string text =
      fmt::format("If each vector were read and written as whole blocks of {} bytes (section 3.4), savings "
                  "would be",
                  study.recommendation_block);
  for (const std::uint32_t dimension : study.dimensions)
    text += fmt::format(" {:.1f} % (dimension {})", partitioned::recommendation_saving(blocks, dimension), dimension);
  figure.notes.push_back(text + ": blocks cannot be in figure 5.");
}

} // namespace

Figure figure5(const Inputs &inputs) {
  Figure figure;
  const DptStudy &study = inputs.study;
  const Recommendation &r = study.recommendation;
  figure.title = "Figure 5: a recommendation model";
  figure.method =
      fmt::format("{} requests of {} vectors. On the host all rows cross the link, and their new values back; near "
                  "storage one sum, and one gradient back. Sums take no time. Both accountings are one here: "
                  "the update is that of rows.",
                  r.batch, r.vectors);
  const std::string fitted = "storage bandwidth and fixed time are fitted";
  for (const std::uint32_t dimension : study.dimensions)
    figure.rows.push_back(inputs.row("5", fmt::format("{}", dimension),
                                     in_both(partitioned::recommendation_saving(r, dimension)), fitted));
  const double near = partitioned::recommendation_times(r, study.breakdown_dimension, true).total();
  const double memory = with_memory(r, study.breakdown_dimension).total();
  figure.rows.push_back(inputs.row("5", "memory", in_both(saving(memory, near)),
                                   "perceptrons of the baseline in no time: the least there can be"));
  const RecommendationTimes host = partitioned::recommendation_times(r, study.breakdown_dimension, false);
  Row overlapped =
      inputs.row("5", "overlapped", in_both(saving(host.total(), near - r.fixed_seconds)), "not in the paper");
  overlapped.text =
      fmt::format("Dimension {}: if look-ups of the next mini-batch hid the perceptrons", study.breakdown_dimension);
  overlapped.unit = "%";
  figure.rows.push_back(std::move(overlapped));

  Plot plot{"figure5a", "Milliseconds of a mini-batch by dimension", "dimension", "ms", false, {}};
  for (const bool near_storage : {false, true}) {
    Plot::Points points{near_storage ? "near storage" : "on the host", {}, {}};
    for (const std::uint32_t dimension : study.dimensions) {
      points.x.push_back(dimension);
      points.y.push_back(1e3 * partitioned::recommendation_times(r, dimension, near_storage).total());
    }
    plot.series.push_back(std::move(points));
  }
  figure.plots.push_back(std::move(plot));
  add_breakdown(study, figure);
  add_notes(study, figure);
  const Subject perceptrons = subject(inputs.evaluations, study.recommendation_model, r.batch);
  if (perceptrons.known()) {
    const partitioned::Array array = study.cases.front().host;
    double cycles = 0;
    for (const auto &c : partitioned::network_cycles(perceptrons.layers, array, partitioned::Reading{}))
      cycles += c.forward + c.dx + c.dw;
    figure.notes.push_back(fmt::format("The paper gives no sizes of its perceptrons. Those of {} on {} x {} take "
                                       "{:.0f} cycles: {:.0f} us at {:.0f} MHz, "
                                       "beside the fitted {:.1f} us.",
                                       study.recommendation_model, array.rows, array.cols, cycles,
                                       kMicro * cycles / kNpuHertz, kNpuHertz / 1e6, kMicro * r.fixed_seconds));
  }
  return figure;
}

} // namespace gradweave::evaluation::dpt
