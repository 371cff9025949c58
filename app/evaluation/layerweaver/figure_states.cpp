// Figures 7 to 11: how a schedule comes about, on examples whose byte takes a second.
#include "app/evaluation/layerweaver/figures.hpp"
#include "weave_model/weaver.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace gradweave::evaluation::layerweaver {
namespace {

namespace model = weave_model;

model::Effect append(model::ScheduleState &state, const model::Layer &layer) {
  const model::Effect effect = state.effect_of(layer);
  state.append(layer, effect);
  return effect;
}

std::string number(double value) { return fmt::format("{:.4g}", value); }

/// A row for a number that the example gives, which needs no simulation.
const std::vector<std::string> kTimes{"layer",        "bytes",    "computes, s",
                                      "fetch begins", "fetched",  "computing begins",
                                      "computed",     "PEs idle", "memory idle"};

std::vector<std::string> times(std::string name, const model::Layer &layer, const model::Effect &e) {
  return {std::move(name),       std::to_string(layer.bytes), number(layer.seconds),
          number(e.fetch_begin), number(e.fetched),           number(e.compute_begin),
          number(e.computed),    number(e.compute_idle),      number(e.memory_idle)};
}

/// The two models of figures 5 and 7: one computes, the other fetches.
std::vector<model::Job> example() {
  return {{{"model 1", {{4, 1}, {5, 2}, {4, 1}}}, 14}, {{"model 2", {{1, 4}, {2, 5}, {1, 4}}}, 14}};
}

constexpr model::Npu kNpu{10, 1};

Table order_of(const std::vector<model::Job> &jobs, model::Policy policy) {
  const model::Outcome outcome = model::Weaver(jobs, kNpu, {policy}).serve({{0}, {1}}, true);
  Table table{fmt::format("{}: {} s", to_string(policy), number(outcome.seconds)), kTimes, {}};
  for (const model::Scheduled &s : outcome.order)
    table.rows.push_back(times(fmt::format("{}, layer {}", jobs[s.model].model.name, s.layer),
                               jobs[s.model].model.layers[s.layer], s.effect));
  return table;
}

/// ln of n over k.
double log_choices(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }

} // namespace

Figure figure7(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figures 5 and 7: the order of layers, one by one and by the greedy scheduler";
  figure.method =
      "Two models of three layers on a buffer of 10 bytes: layers in the order in which they are scheduled.";
  for (const model::Policy policy : {model::Policy::kOneByOne, model::Policy::kRoundRobin, model::Policy::kGreedy})
    figure.tables.push_back(order_of(example(), policy));
  // An exact fit: 53 of 128 layers are those of the first model.
  figure.rows.push_back(inputs.row("7", "orders", std::pow(10.0, log_choices(128, 53) / std::log(10.0) - 36)));
  return figure;
}

Figure figure8(const Inputs & /*inputs*/) {
  Figure figure;
  figure.title = "Figure 8: the state of a schedule";
  figure.method =
      "After each layer: when the last fetch ends (tm), when the last computation does (tc), and the layers "
      "in the buffer at tm, with their bytes and when they complete (l).";
  Table table{"A buffer of 10 bytes", {"layer", "tm", "tc", "l"}, {}};
  model::ScheduleState state(kNpu);
  const model::Layer layers[] = {{2, 3}, {2, 1}, {6, 2}, {3, 2}, {4, 2}};
  for (const model::Layer &layer : layers) {
    append(state, layer);
    std::string resident;
    for (const model::ScheduleState::Resident &r : state.resident())
      resident += fmt::format("{}({}, {})", resident.empty() ? "" : " ", r.bytes, number(r.completion));
    table.rows.push_back({fmt::format("{} bytes, {} s", layer.bytes, number(layer.seconds)), number(state.fetched()),
                          number(state.computed()), resident});
  }
  figure.tables.push_back(std::move(table));
  return figure;
}

namespace {

/// Two layers that leave 2 of 10 bytes free at 8, when the first completes at `first` and the second 5 s later.
model::ScheduleState half_full(double first) {
  model::ScheduleState state(kNpu);
  append(state, {first - 4, 4});
  append(state, {5, 4});
  return state;
}

Table fetch_of(const char *title, const model::ScheduleState &state, const model::Layer &layer) {
  return {title, kTimes, {times("the new layer", layer, state.effect_of(layer))}};
}

} // namespace

Figure figure9(const Inputs & /*inputs*/) {
  Figure figure;
  figure.title = "Figure 9: scheduling a fetch, step by step";
  figure.method =
      "Layers of 4 and 4 bytes are in a buffer of 10 at 8 s and complete at 12 and 17 s. A layer of 9 bytes "
      "takes the room there is, then that of each layer as it completes.";
  figure.tables.push_back({"Parts of the fetch",
                           {"into", "bytes", "from", "to"},
                           {{"what is free", "2", "8", "10"},
                            {"the first layer's", "4", "12", "16"},
                            {"the second layer's", "3", "17", "20"}}});
  figure.tables.push_back(fetch_of("What the model says of it", half_full(12), {1, 9}));
  return figure;
}

Figure figure10(const Inputs & /*inputs*/) {
  Figure figure;
  figure.title = "Figure 10: fetches with room and without";
  figure.method = "Layers of 4 and 4 bytes are in a buffer of 10 at 8 s; the first completes at 12 s.";
  figure.tables.push_back(fetch_of("(a) 2 bytes: there is room", half_full(12), {1, 2}));
  figure.tables.push_back(fetch_of("(b) 5 bytes: the memory waits for the first layer", half_full(12), {1, 5}));
  return figure;
}

Figure figure11(const Inputs & /*inputs*/) {
  Figure figure;
  figure.title = "Figure 11: computing after a fetch";
  figure.method = "A layer's computing begins when its weights are there and the layer before it is done.";
  model::ScheduleState late(kNpu), early(kNpu);
  append(late, {1, 2});
  append(early, {9, 2});
  figure.tables.push_back(fetch_of("(a) the weights come later: PEs are idle", late, {2, 4}));
  figure.tables.push_back(fetch_of("(b) the layer before takes longer: nothing is idle", early, {2, 4}));
  return figure;
}

} // namespace gradweave::evaluation::layerweaver
