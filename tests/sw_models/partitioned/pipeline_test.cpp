// Pipelines both ways and images by speed, against numbers computed by hand, and what holds of any workload.
#include "sw_models/partitioned/pipeline.hpp"
#include "tests/sw_models/partitioned/random_workload.hpp"

#include <gtest/gtest.h>

namespace gradweave::partitioned {
namespace {

/// 4 bytes a cycle for a device, 16 for all; maps and flash in no time.
Links quick_links() {
  Links links;
  links.latency = links.flash_latency = 0;
  links.map_bytes = 1e-18;
  return links;
}

} // namespace

TEST(Pipelined, OneMicroBatchKeptByHand) {
  const PipelineRun run = pipeline(two_layers(), 2, quick_links(), 4, {1, 1, 1});
  // Devices 10 forwards, 4 back; the NPU 12 and 24: 46 until gradients are back, 50 for a micro-batch.
  EXPECT_NEAR(run.cycles - run.exchange, 100, kClose);
  EXPECT_EQ(run.exchange, 100) << "100 weights of 4 bytes over 4 bytes a cycle, once";
  EXPECT_EQ(run.storage_busy, 2 * (10 + 4));
  EXPECT_EQ(run.host_busy, 2 * (12 + 24));
  EXPECT_NEAR(run.storage_bubble(), 72, kClose);
  EXPECT_NEAR(run.host_bubble(), 28, kClose);
}

TEST(Pipelined, TwoMicroBatchesKeptByHand) {
  const PipelineRun run = pipeline(two_layers(), 2, quick_links(), 4, {1, 1, 2});
  EXPECT_NEAR(run.cycles - run.exchange, 10 + 2 * (12 + 24) + 4, kClose);
  EXPECT_NEAR(run.saving, 100 * (1 - 186 / 100.0), kClose);
}

TEST(Pipelined, LinksByHand) {
  Links links = quick_links();
  links.map_bytes = 2; // 3 elements of 2 images over 8 bytes a cycle: 1.5
  links.latency = 5;
  PipelineRun run = pipeline(two_layers(), 2, links, 4, {1, 1, 1});
  EXPECT_NEAR(run.cycles - run.exchange, 100 + 2 * 2 * (1.5 + 5), kClose);
  EXPECT_NEAR(run.up_busy, 3, kClose);
  EXPECT_NEAR(run.down_busy, 3, kClose);
  EXPECT_EQ(run.exchange, 100 + 2 * 5);
  links.loss_cycles = 7;
  run = pipeline(two_layers(), 2, links, 4, {1, 1, 1});
  EXPECT_NEAR(run.cycles - run.exchange, 100 + 2 * (2 * (1.5 + 5) + 7), kClose);
  links.loss_cycles = 0;
  links.root_rate = 4; // shared by both
  run = pipeline(two_layers(), 2, links, 4, {1, 1, 1});
  EXPECT_NEAR(run.cycles - run.exchange, 100 + 2 * 2 * (3 + 5), kClose);
  EXPECT_EQ(run.exchange, 200 + 2 * 5);
}

TEST(Pipelined, FlashByHand) {
  Links links = quick_links();
  links.flash_rate = 4;
  links.flash_latency = 100;
  links.image_bytes = 5000; // two blocks of 4096: 2048 cycles
  const PipelineRun run = pipeline(two_layers(), 2, links, 4, {1, 1, 2});
  EXPECT_EQ(run.flash_busy, 2 * 2048);
  EXPECT_NEAR(run.cycles - run.exchange, 100 + 2 * 2048 + 10 + 12 + 24 + 4, kClose);
}

TEST(Pipelined, ImagesOfTheNpusOwnByHand) {
  const PipelineRun run = pipeline(two_layers(), 2, quick_links(), 6, {1, 1, 1, 1, 2});
  // Its own two take 10, 12, 24 and 4. The NPU does the first until a micro-batch is there at 10, which it has done at
  // 46; the next is there at 60, when it is in the third until 82; gradients of that are back at 118.
  EXPECT_NEAR(run.cycles - run.exchange, 118 + 4, kClose);
  EXPECT_EQ(run.host_busy, 2 * (12 + 24) + 50);
  EXPECT_NEAR(run.exchange, 100 * (4.0 / 3), kClose) << "in a ring of three";
  Workload slow = two_layers();
  slow.own = {{50, 0, 20}, {60, 90, 30}};
  slow.whole = {{4, 0, 2}, {6, 8, 3}};
  EXPECT_EQ(pipeline(slow, 2, quick_links(), 6, {1, 1, 1, 1, 2}).host_busy, 2 * (12 + 24) + 500);
  EXPECT_EQ(alone(slow, 6, Accounting::kPerImage), 6 * 23);
  EXPECT_EQ(best_shares(slow, 2, free_links(), 6).cycles, 4 * 23) << "beside 72 of the devices";
}

TEST(Pipelined, ACutBeforeAllLayersIsTheNpuAlone) {
  const PipelineRun run = pipeline(two_layers(), 2, quick_links(), 4, {0, 1, 1});
  EXPECT_EQ(run.cycles, alone(two_layers(), 4, Accounting::kPerImage));
  EXPECT_EQ(run.host_busy, run.cycles);
  EXPECT_EQ(run.saving, 0);
}

TEST(ImagesBySpeed, ByHand) {
  Links links = quick_links();
  links.weight_bytes = 0.004;
  const Shares shares = best_shares(two_layers(), 2, links, 4);
  EXPECT_EQ(shares.share, 1U);
  EXPECT_NEAR(shares.exchange, 150 * 0.004 * (4.0 / 3) / 4, kClose) << "in a ring of three";
  EXPECT_NEAR(shares.cycles, 72 + shares.exchange, kClose);
  EXPECT_NEAR(shares.saving, 100 - 72.2, kClose);
  links.weight_bytes = 4;
  EXPECT_EQ(best_shares(two_layers(), 2, links, 4).share, 0U) << "an exchange of 200 cycles is more than it saves";
}

TEST(MostSaving, ByHand) { EXPECT_NEAR(most_saving(two_layers(), 2), 46, kClose); }

TEST(Pipelined, AtRandom) {
  constexpr unsigned kSeed = 25;
  std::mt19937 random(kSeed);
  SCOPED_TRACE(kSeed);
  for (int i = 0; i < 300; ++i) {
    const Workload workload = random_workload(random);
    const std::uint32_t devices = 1 + i % 4, batch = devices * 12;
    Links links;
    links.latency = 20;
    links.flash_latency = 50;
    links.image_bytes = 500;
    const double bound = most_saving(workload, devices) + kClose;
    Search search;
    search.micros = {1, 2, 3, 5};
    search.most_depth = 4;
    const PipelineRun best = best_pipeline(workload, devices, links, batch, search);
    EXPECT_GE(best.saving, 0);
    EXPECT_LE(best.saving, bound);
    EXPECT_GE(best_pipeline(workload, devices, free_links(), batch, search).saving, best.saving - kClose);
    search.group = 2;
    const PipelineRun with_own = best_pipeline(workload, devices, links, batch, search);
    EXPECT_GE(with_own.saving, best.saving);
    EXPECT_LE(with_own.saving, bound);
    const Shares shares = best_shares(workload, devices, links, batch);
    EXPECT_GE(shares.saving, 0);
    EXPECT_LE(shares.saving, bound);
    for (std::size_t cut = 1; cut <= workload.layers(); ++cut) {
      const PipelineRun run = pipeline(workload, devices, links, batch, {cut, 2, 3});
      EXPECT_GE(run.cycles, best.cycles);
      EXPECT_GE(run.cycles - run.exchange, std::max(run.storage_busy, run.host_busy));
      const Phases p = phases(workload, {devices, 0, Exchange::kRing, 0, false}, batch, cut, Accounting::kPerImage);
      EXPECT_NEAR(run.storage_busy, p.forward_storage + p.backward_storage + p.update_storage, kClose)
          << "each product of each image once";
      EXPECT_NEAR(run.host_busy, p.forward_host + p.backward_host + p.update_host, kClose);
      const PipelineRun own = pipeline(workload, devices, links, batch, {cut, 2, 3, 2, devices});
      EXPECT_NEAR(own.host_busy,
                  run.host_busy * (batch - 2 * devices) / batch + alone(workload, 2 * devices, Accounting::kPerImage),
                  1e-6);
      EXPECT_GE(own.cycles - own.exchange, std::max(own.storage_busy, own.host_busy));
      Links slower = links;
      slower.device_rate /= 2;
      slower.latency *= 3;
      EXPECT_GE(pipeline(workload, devices, slower, batch, {cut, 2, 3}).cycles, run.cycles);
    }
  }
}

TEST(Pipelined, BadInputIsNamed) {
  const auto problem = [](std::uint32_t devices, const Links &links, std::uint32_t batch, const Schedule &schedule) {
    return problem_of([&] { pipeline(two_layers(), devices, links, batch, schedule); });
  };
  EXPECT_EQ(problem(2, {}, 4, {3, 1, 1}), "a cut before layer 3 is beyond the network of 2 layers");
  EXPECT_EQ(problem(0, {}, 4, {1, 1, 1}), "0 near-storage devices; give at least 1");
  EXPECT_EQ(problem(3, {}, 4, {1, 1, 1}), "a mini-batch of 4 is not divisible by 3 devices; take a multiple of these");
  EXPECT_EQ(problem(2, {}, 4, {1, 4, 1}),
            "a mini-batch of 4 is not divisible by 2 devices x 4 images; take a multiple of these");
  EXPECT_EQ(problem(2, {}, 4, {1, 0, 1}),
            "a mini-batch of 4 is not divisible by 2 devices x 0 images; take a multiple of these");
  EXPECT_EQ(problem(2, {}, 4, {1, 1, 1, 2, 2}),
            "the NPU takes 4 images of its own out of 4; leave some to the devices");
  EXPECT_EQ(problem(2, {}, 4, {1, 1, 1, 1, 3}),
            "a mini-batch of 1 is not divisible by 2 devices x 1 images; take a multiple of these");
  EXPECT_EQ(problem(2, {}, 4, {1, 1, 0}), "a depth of 0 micro-batches; a device keeps at least 1");
  const auto with = [&](double Links::*field, double value) {
    Links links;
    links.*field = value;
    return problem(2, links, 4, {1, 1, 1});
  };
  EXPECT_EQ(with(&Links::device_rate, 0), "a bandwidth of a device's link of 0; it must be above 0");
  EXPECT_EQ(with(&Links::root_rate, 0), "a bandwidth of the root port of 0; it must be above 0");
  EXPECT_EQ(with(&Links::flash_rate, -1), "a bandwidth of the flash of -1; it must be above 0");
  EXPECT_EQ(with(&Links::block_bytes, 0), "a flash block of 0; it must be above 0");
  EXPECT_EQ(with(&Links::latency, -1), "a latency or size of -1; it must not be negative");
}

} // namespace gradweave::partitioned
