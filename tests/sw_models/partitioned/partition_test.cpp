// Equation 3, against numbers computed by hand, and what holds of any workload.
#include "sw_models/partitioned/partition.hpp"
#include "tests/sw_models/partitioned/random_workload.hpp"

#include <gtest/gtest.h>

namespace gradweave::partitioned {
namespace {

System two_devices() {
  System system;
  system.devices = 2;
  system.exchange_cycles = 2;
  system.map_cycles = 1;
  return system;
}

} // namespace

TEST(Partition, PhasesByHand) {
  Phases p = phases(two_layers(), two_devices(), 4, 1, Accounting::kReduced);
  EXPECT_EQ(p.forward_storage, 2 * 10);
  EXPECT_EQ(p.forward_host, 4 * 6);
  EXPECT_EQ(p.forward(), 24);
  EXPECT_EQ(p.hidden(), 20);
  EXPECT_EQ(p.map, 4 * 3);
  EXPECT_EQ(p.backward_host, 4 * 9);
  EXPECT_EQ(p.backward_storage, 0);
  EXPECT_EQ(p.update_host, 3);
  EXPECT_EQ(p.update_storage, 4);
  EXPECT_EQ(p.exchange, 200);
  EXPECT_EQ(p.total(), 24 + 12 + 36 + 3 + 4 + 200);
  p = phases(two_layers(), two_devices(), 4, 1, Accounting::kPerImage);
  EXPECT_EQ(p.update_host, 4 * 3);
  EXPECT_EQ(p.update_storage, 2 * 4);
  p = phases(two_layers(), two_devices(), 4, 2, Accounting::kReduced);
  EXPECT_EQ(p.forward_storage, 2 * 30);
  EXPECT_EQ(p.forward_host, 0);
  EXPECT_EQ(p.map, 0) << "nothing crosses a cut behind all layers";
  EXPECT_EQ(p.backward_storage, 2 * 30);
  EXPECT_EQ(p.update_storage, 12);
  EXPECT_EQ(p.exchange, 300);
  System both_ways = two_devices();
  both_ways.backward_map = true;
  EXPECT_EQ(phases(two_layers(), both_ways, 4, 1, Accounting::kReduced).map, 24);
}

TEST(Partition, AloneByHand) {
  EXPECT_EQ(alone(two_layers(), 4, Accounting::kReduced), 4 * (5 + 6 + 9) + 2 + 3);
  EXPECT_EQ(alone(two_layers(), 4, Accounting::kPerImage), 4 * (5 + 6 + 9 + 2 + 3));
}

TEST(Partition, BestCutByHand) {
  System system = two_devices();
  system.exchange_cycles = system.map_cycles = 0;
  const Cut cut = best_cut(two_layers(), system, 4, Accounting::kReduced);
  EXPECT_EQ(cut.index, 1U);
  EXPECT_NEAR(cut.saving, 100 * (1 - 67 / 85.0), kClose);
  system.exchange_cycles = 2;
  EXPECT_EQ(best_cut(two_layers(), system, 4, Accounting::kReduced).index, 0U) << "the NPU alone is a cut";
}

TEST(Partition, ExchangesByHand) {
  EXPECT_EQ(exchange_factor(Exchange::kRing, 1), 0);
  EXPECT_EQ(exchange_factor(Exchange::kRing, 2), 1);
  EXPECT_EQ(exchange_factor(Exchange::kRing, 4), 1.5);
  EXPECT_EQ(exchange_factor(Exchange::kGather, 4), 6);
  EXPECT_EQ(exchange_factor(Exchange::kOnce, 4), 1);
  EXPECT_EQ(exchange_factor(Exchange::kOnce, 1), 0);
}

TEST(Partition, WorkloadsOfShapesHaveBothArrays) {
  const std::vector<LayerShape> layers{{"a", 6, 6, 2, 3, 3, 1, 2, 2}};
  const Workload workload = workload_of(layers, {72, 48}, {4, 3}, {8, 3}, {});
  EXPECT_EQ(workload.storage[0].forward, 5 * (16 + 4));
  EXPECT_EQ(workload.host[0].forward, 3 * (16 + 8));
  EXPECT_EQ(workload.weights[0], 54);
}

TEST(Partition, AtRandom) {
  constexpr unsigned kSeed = 3;
  std::mt19937 random(kSeed);
  SCOPED_TRACE(kSeed);
  for (int i = 0; i < 500; ++i) {
    const Workload workload = random_workload(random);
    System system = two_devices();
    const std::uint32_t batch = 8;
    for (const Accounting accounting : {Accounting::kReduced, Accounting::kPerImage}) {
      const Cut best = best_cut(workload, system, batch, accounting);
      EXPECT_GE(best.saving, 0) << "never slower than the NPU alone";
      for (std::size_t cut = 0; cut <= workload.layers(); ++cut) {
        const Phases p = phases(workload, system, batch, cut, accounting);
        EXPECT_GE(p.total(), best.phases.total());
        EXPECT_NEAR(p.forward() + p.hidden(), p.forward_storage + p.forward_host, kClose);
        // All products of the true gradient are computed somewhere, as many in all as there are images.
        System more = system;
        more.devices = 4;
        more.exchange = Exchange::kOnce;
        system.exchange = Exchange::kOnce;
        EXPECT_LE(phases(workload, more, batch, cut, accounting).total(),
                  phases(workload, system, batch, cut, accounting).total())
            << "more devices are not slower if the exchange is not";
        system.exchange = Exchange::kRing;
      }
      EXPECT_EQ(phases(workload, system, batch, 0, accounting).total(), alone(workload, batch, accounting));
    }
    EXPECT_LE(alone(workload, batch, Accounting::kReduced), alone(workload, batch, Accounting::kPerImage));
    EXPECT_EQ(alone(workload, 1, Accounting::kReduced), alone(workload, 1, Accounting::kPerImage));
    const double two = alone(workload, 2, Accounting::kReduced), three = alone(workload, 3, Accounting::kReduced),
                 four = alone(workload, 4, Accounting::kReduced);
    EXPECT_EQ(three - two, four - three) << "a B + w, as table 3";
  }
}

TEST(Partition, BadInputIsNamed) {
  const auto problem = [](const Workload &workload, std::uint32_t devices, std::uint32_t batch, std::size_t cut) {
    System system;
    system.devices = devices;
    return problem_of([&] { phases(workload, system, batch, cut, Accounting::kReduced); });
  };
  EXPECT_EQ(problem(two_layers(), 4, 8, 2), "accepted");
  EXPECT_EQ(problem(two_layers(), 4, 8, 3),
            "a cut before layer 3 is beyond the network; it has 2 layers, cuts are 0 to 2");
  EXPECT_EQ(problem(two_layers(), 0, 8, 1), "0 near-storage devices; give at least 1");
  EXPECT_EQ(problem(two_layers(), 4, 6, 1),
            "a mini-batch of 6 is not divisible by 4 devices; take a multiple of these");
  EXPECT_EQ(problem(two_layers(), 4, 0, 1),
            "a mini-batch of 0 is not divisible by 4 devices; take a multiple of these");
  EXPECT_EQ(problem({}, 4, 8, 0), "a workload without layers; give it at least one");
  Workload uneven = two_layers();
  uneven.maps.pop_back();
  EXPECT_EQ(problem(uneven, 4, 8, 0),
            "2 layers on the NPU, 2 and 2 of whole images, 2 near storage, 2 with weights, 2 cuts; layers must be as "
            "many, and one cut more");
}

} // namespace gradweave::partitioned
