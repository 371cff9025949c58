// Evaluations (app/evaluation/*/*.toml).
#include "app/evaluation/memory/settings.hpp"
#include "app/evaluation/papers.hpp"
#include "app/evaluation/study/layer_study.hpp"
#include "sw_models/config/npu_config.hpp"
#include "tests/fuzz/fuzz_target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using gradweave::fuzz::require;
  constexpr const char *kFile = "study.toml";
  try {
    const auto read = gradweave::evaluation::parse_study(gradweave::fuzz::text_of(data, size), kFile);
    require(!read.published.empty(), "a study of nothing");
    if (gradweave::evaluation::paper_of(read).name == "memory") {
      const auto study = gradweave::evaluation::memory::read_memory_study(read, {});
      require(!study.networks.empty() && !study.machines.empty() && !study.capacities().empty(), "a study of nothing");
      return 0;
    }
    const auto study = gradweave::evaluation::read_layer_study(read);
    require(!study.networks.empty(), "a study without networks");
    require(!study.large_npus.empty() && !study.batches.empty(), "a study without NPUs or batches");
    require(study.small_batch >= 1 && study.large_batch >= 1 && study.plans >= 1, "a count of 0");
  } catch (const gradweave::ConfigError &rejection) {
    gradweave::fuzz::require_place(rejection, kFile);
  }
  return 0;
}
