// Evaluations (app/evaluation/*/*.toml).
#include "app/evaluation/study/study.hpp"
#include "sw_models/config/npu_config.hpp"
#include "tests/fuzz/fuzz_target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using gradweave::fuzz::require;
  constexpr const char *kFile = "study.toml";
  try {
    const auto study = gradweave::evaluation::parse_study(gradweave::fuzz::text_of(data, size), kFile);
    require(!study.networks.empty() && !study.published.empty(), "a study of nothing");
    require(!study.large_npus.empty() && !study.batches.empty(), "a study without NPUs or batches");
    require(study.small_batch >= 1 && study.large_batch >= 1 && study.plans >= 1, "a count of 0");
  } catch (const gradweave::ConfigError &rejection) {
    gradweave::fuzz::require_place(rejection, kFile);
  }
  return 0;
}
