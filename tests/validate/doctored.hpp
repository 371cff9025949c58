// Runs of a small stream whose times are known, for changing them on purpose.
#pragma once

#include "app/validate/verdict/compare.hpp"
#include "app/validate/verdict/explain.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::test {

/// Two LOADs, a GEMM that waits for both, and a STORE that waits for it.
inline std::vector<isa::Decoded> small_stream() {
  std::vector<isa::Decoded> stream(4);
  isa::DmaCommand load;
  load.rows = load.cols = 8;
  stream[0].op = load;
  stream[0].sync.posts[0] = 3;
  stream[1].op = load;
  stream[1].sync.posts[0] = 3;
  isa::GemmCommand gemm;
  gemm.m = gemm.n = gemm.k = 8;
  stream[2].op = gemm;
  stream[2].sync.waits[0] = {3, 2};
  stream[2].sync.posts[0] = 5;
  isa::DmaCommand store = load;
  store.store = true;
  stream[3].op = store;
  stream[3].sync.waits[0] = {5, 1};
  return stream;
}

inline runtime::TimedRun small_run() {
  runtime::TimedRun run;
  run.times = {{10, 12, 100}, {12, 40, 120}, {14, 121, 160}, {16, 161, 200}};
  for (std::size_t i = 0; i < run.counters.values.size(); ++i)
    run.counters.values[i] = 100 + i;
  return run;
}

inline runtime::DescribedStream describe(const std::vector<isa::Decoded> &stream) {
  runtime::DescribedStream described;
  described.label = [stream](std::size_t i) { return runtime::label_command("ffn1", isa::encode(stream.at(i))); };
  described.sync = [stream](std::size_t i) { return stream.at(i).sync; };
  return described;
}

inline std::string explain_small(const runtime::TimedRun &rtl, const runtime::TimedRun &model) {
  return runtime::explain(runtime::compare_runs(rtl, model), rtl, model, describe(small_stream()));
}

} // namespace gradweave::test
