// Lists of arrivals of `gradweave serve`.
#include "app/request/arrivals.hpp"
#include "base/text/input_file.hpp"
#include "tests/fuzz/fuzz_target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using gradweave::fuzz::require;
  constexpr const char *kFile = "arrivals.csv";
  const std::vector<std::string> jobs{"mlp:4:forward", "lenet:1:both", "lenet:1:both#2"};
  try {
    const auto arrivals =
        gradweave::cli::parse_arrivals(std::string(gradweave::fuzz::text_of(data, size)), kFile, jobs);
    require(!arrivals.empty() && arrivals.size() <= size, "as many arrivals as a text has no lines for");
    for (const auto &arrival : arrivals) {
      require(arrival.job < jobs.size(), "a job that is not there");
      require(arrival.cycle <= std::uint64_t{1} << 48U, "a cycle that is never reached");
    }
  } catch (const gradweave::InputError &rejection) {
    gradweave::fuzz::require_place(rejection, kFile);
  }
  return 0;
}
