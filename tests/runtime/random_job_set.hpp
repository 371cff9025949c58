// Random sets of jobs to be woven: networks of a few layers, inference and training mixed, under any policy.
#pragma once

#include "base/random/dice.hpp"
#include "runtime/run/woven_run.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/sw_models/random_convolution.hpp"

#include <fmt/format.h>

#include <string>

namespace gradweave::runtime {

/// One to three layers: products in a chain, each of which reads the Y of the one before, or a convolution of images.
inline compiler::WeaveJob random_weave_job(Dice &dice, std::size_t number) {
  compiler::WeaveJob job;
  job.name = fmt::format("job{}", number);
  const compiler::Pass passes[] = {compiler::Pass::kForward, compiler::Pass::kBackward, compiler::Pass::kBoth};
  job.pass = passes[dice.below(3)];
  if (dice.chance(0.25)) {
    job.layers = {compiler::image_layer(random_image_convolution(dice))};
    job.layers.front().dx = dice.chance(0.5);
    return job;
  }
  const std::uint32_t m = dice.between(1, 40), layers = dice.between(1, 3);
  std::uint32_t k = dice.between(1, 40);
  for (std::uint32_t i = 0; i < layers; ++i) {
    compiler::Layer layer;
    layer.name = fmt::format("fc{}", i);
    layer.m = m;
    layer.k = k;
    layer.n = k = dice.between(1, 40);
    layer.dx = i > 0 || dice.chance(0.5);
    layer.index = i;
    if (i > 0 && dice.chance(0.7)) layer.input = fmt::format("fc{}", i - 1);
    job.layers.push_back(layer);
  }
  return job;
}

/// A depthwise layer that the vector unit takes, mostly between products that compute its image and read its result.
inline compiler::WeaveJob random_depthwise_job(Dice &dice, std::size_t number, const Machine &npu) {
  compiler::WeaveJob job;
  job.name = fmt::format("job{}", number);
  const compiler::Pass passes[] = {compiler::Pass::kForward, compiler::Pass::kBackward, compiler::Pass::kBoth};
  job.pass = dice.chance(0.4) ? compiler::Pass::kForward : passes[dice.below(3)]; // in which layers are fused
  for (;;) {
    Convolution conv = random_strided_convolution(dice, 4);
    conv.groups = conv.channels = conv.out_channels = dice.between(2, 21);
    compiler::Layer depthwise = compiler::image_layer(conv), before, after;
    depthwise.name = "depthwise";
    depthwise.dx = dice.chance(0.8);
    before.name = depthwise.input = "expand";
    before.m = conv.batch * conv.height * conv.width;
    before.k = dice.between(1, 20);
    before.n = conv.channels;
    after.name = "project";
    after.input = "depthwise";
    after.m = conv.m();
    after.k = conv.channels;
    after.n = dice.between(1, 20);
    job.layers = {depthwise};
    if (dice.chance(0.7)) job.layers.insert(job.layers.begin(), before);
    if (dice.chance(0.7)) job.layers.push_back(after);
    compiler::take_vector_unit(job.layers, job.pass, npu);
    for (std::size_t i = 0; i < job.layers.size(); ++i)
      job.layers[i].index = static_cast<std::uint32_t>(i);
    for (const compiler::Layer &layer : job.layers)
      if (layer.vector) return job;
  }
}

/// Two to four jobs.
inline WovenRequest random_job_set(const std::string &npu, std::uint64_t seed) {
  using compiler::WeavePolicy;
  Dice dice(seed);
  WovenRequest request;
  request.npu = load_machine("configs/" + npu + ".toml");
  const std::size_t jobs = 2 + dice.below(3);
  for (std::size_t i = 0; i < jobs; ++i)
    request.jobs.push_back(random_weave_job(dice, i));
  const WeavePolicy policies[] = {WeavePolicy::kOneByOne,    WeavePolicy::kRoundRobin, WeavePolicy::kAiMt,
                                  WeavePolicy::kLayerweaver, WeavePolicy::kBounded,    WeavePolicy::kTiles,
                                  WeavePolicy::kTiles};
  request.weave.policy = policies[dice.below(7)];
  request.weave.changes = 10;
  request.weave.seed = request.seed = seed;
  request.plans = 2;
  request.data = dice.chance(0.5) ? DataKind::kSpecial : DataKind::kNormal;
  return request;
}

/// The same, some of whose layers are the vector unit's.
inline WovenRequest random_vector_job_set(const std::string &npu, std::uint64_t seed) {
  WovenRequest request = random_job_set(npu, seed);
  Dice dice(seed + 0x5EED);
  for (std::size_t i = 0; i < request.jobs.size(); ++i)
    if (i == 0 || dice.chance(0.5)) request.jobs[i] = random_depthwise_job(dice, i, request.npu);
  return request;
}

inline std::string describe(const WovenRequest &request) {
  return fmt::format("seed {}, {} jobs on {}, {}", request.seed, request.jobs.size(), request.npu.name,
                     to_string(request.weave.policy));
}

/// What is not the same in the woven run as in one of the job alone: a line for each result whose bits differ. Sums of
/// images that take channels in other blocks have other bits (N25), and are left to the golden model.
inline std::string differences_alone(const WovenRequest &request, const WovenRun &woven, std::size_t job) {
  WovenRequest alone = request;
  alone.jobs = {request.jobs[job]};
  const WovenRun run = run_woven(alone);
  std::string found;
  std::size_t compared = 0;
  for (const OutputCheck &mine : run.result.outputs)
    for (const OutputCheck &other : woven.result.outputs) {
      const std::string &name = run.result.layers[mine.layer].name;
      if (name != woven.result.layers[other.layer].name || mine.tensor != other.tensor) continue;
      ++compared;
      if (mine.block == other.block && mine.hash != other.hash)
        found += fmt::format("{} of {}\n", compiler::to_string(mine.tensor), name);
    }
  if (compared != run.result.outputs.size())
    found += fmt::format("{} results of {}\n", compared, run.result.outputs.size());
  return found;
}

} // namespace gradweave::runtime
