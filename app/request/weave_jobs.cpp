#include "app/request/weave_jobs.hpp"

#include "app/request/work_arguments.hpp"
#include "base/text/split.hpp"
#include "compiler/cost/image_choice.hpp"
#include "graph/frontend/load_network.hpp"
#include "runtime/run/lookup.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <stdexcept>

namespace gradweave::cli {
namespace {

std::uint32_t number(const std::string &job, const char *field, const std::string &text, std::uint32_t most) {
  std::uint32_t value = 0;
  const char *end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || value == 0 || value > most)
    throw std::invalid_argument(
        fmt::format("--job {}: {} is '{}'; use a whole number from 1 to {}", job, field, text, most));
  return value;
}

compiler::NetworkSettings settings_of(const std::string &job, const std::vector<std::string> &words,
                                      std::uint32_t batch) {
  compiler::NetworkSettings settings(batch);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string::npos || equals == 0)
      throw std::invalid_argument(
          fmt::format("--job {}: '{}' sets no variable of the network; use NAME=VALUE, as layers=2", job, words[i]));
    if (!settings.values.emplace(words[i].substr(0, equals), words[i].substr(equals + 1)).second)
      throw std::invalid_argument(
          fmt::format("--job {}: {} has a value already; set it once", job, words[i].substr(0, equals)));
  }
  return settings;
}

} // namespace

std::vector<compiler::WeaveJob> parse_job(const std::string &text, const Machine &npu, bool images) {
  const std::vector<std::string> fields = split(text, ':');
  if (fields.size() < 3 || fields.size() > 4)
    throw std::invalid_argument(fmt::format("--job {}: a job is MODEL[,NAME=VALUE...]:BATCH:PASS[:COPIES], as "
                                            "bert_tiny:4:forward",
                                            text));
  compiler::WeaveJob job;
  const std::uint32_t batch = number(text, "the batch", fields[1], kMostSamples);
  try {
    job.pass = compiler::parse_pass(fields[2]);
  } catch (const std::invalid_argument &error) {
    throw std::invalid_argument(fmt::format("--job {}: {}", text, error.what()));
  }
  const std::uint32_t copies = fields.size() == 4 ? number(text, "copies", fields[3], kMostCopies) : 1;
  const std::vector<std::string> words = split(fields[0], ',');
  if (words.empty()) throw std::invalid_argument(fmt::format("--job {}: the model is missing", text));
  job.layers = compiler::load_network(runtime::find_model(words.front()), settings_of(text, words, batch)).layers;
  if (images) {
    compiler::read_images(job.layers, job.pass, npu);
    compiler::take_vector_unit(job.layers, job.pass, npu);
  }
  job.name = fmt::format("{}:{}:{}", fields[0], batch, compiler::to_string(job.pass));
  return std::vector<compiler::WeaveJob>(copies, job);
}

std::vector<compiler::WeaveJob> parse_jobs(const std::vector<std::string> &texts, const Machine &npu, bool images) {
  std::vector<compiler::WeaveJob> jobs;
  std::map<std::string, int> known;
  for (const std::string &text : texts)
    for (compiler::WeaveJob &job : parse_job(text, npu, images)) {
      if (const int before = known[job.name]++; before > 0) job.name += fmt::format("#{}", before + 1);
      jobs.push_back(std::move(job));
    }
  return jobs;
}

} // namespace gradweave::cli
