#include "app/sweep/slurm.hpp"

#include "base/file/output_file.hpp"
#include "base/key/fingerprint.hpp"
#include "base/process/command.hpp"
#include "base/text/split.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <system_error>

namespace gradweave::sweep {
namespace {

namespace fs = std::filesystem;

constexpr const char *kCountLine = "# shares: ";

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  return text;
}

CommandEnd run_slurm(const std::vector<std::string> &words) {
  CommandEnd end = run_command(words);
  constexpr int kNotFound = 127;
  if (end.code == kNotFound)
    throw SlurmError(fmt::format("{}: there is no such command here: Slurm is not installed, or not in PATH; run the "
                                 "sweep without --slurm, or its shares by hand with --shard",
                                 words.front()));
  if (end.code != 0)
    throw SlurmError(fmt::format("`{}` failed with code {}: {}; nothing was submitted, and results are kept",
                                 fmt::join(words, " "), end.code, trimmed(end.errors + end.output)));
  return end;
}

std::size_t number(const std::string &text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// As one word of a POSIX shell.
std::string word(const std::string &text) {
  std::string quoted = "'";
  for (const char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

} // namespace

Shards::Shards(const fs::path &sweep_file)
    : directory_(fs::absolute(sweep_file).lexically_normal().replace_extension("shards")) {}

fs::path Shards::file(std::size_t share) const { return directory_ / fmt::format("share-{:04}.db", share); }

std::vector<fs::path> Shards::files() const {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory_, ignored))
    if (entry.path().extension() == ".db") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::size_t Shards::count() const {
  std::ifstream in(script());
  const std::string head = kCountLine;
  for (std::string line; std::getline(in, line);)
    if (line.rfind(head, 0) == 0) return number(line.substr(head.size()));
  return 0;
}

std::string Shards::job_name() const {
  return "gradweave-" + Fingerprint().add(directory_.string()).hex().substr(0, 12);
}

void Shards::make(const Study &study, const std::string &program, std::size_t count,
                  const SlurmOptions &options) const {
  make_output_directory(directory_.string(), "--out");
  OutputFile(this->study()).commit(to_toml(study));
  std::string text =
      fmt::format("#!/bin/sh\n# One share of a sweep; sbatch runs it for each number of its array.\n{}{}\n"
                  "#SBATCH --job-name={}\n#SBATCH --requeue\n#SBATCH --open-mode=append\n"
                  "#SBATCH --output=\"{}/log-%a.txt\"\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task={}\n",
                  kCountLine, count, job_name(), directory_.string(), options.cores);
  for (const auto &[option, value] : {std::pair("partition", options.partition),
                                      {"time", options.time},
                                      {"mem", options.memory},
                                      {"account", options.account}})
    if (!value.empty()) text += fmt::format("#SBATCH --{}={}\n", option, value);
  for (const std::string &option : options.further)
    text += fmt::format("#SBATCH {}\n", option);
  text += fmt::format("exec {} sweep {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" \\\n"
                      "  --out \"$(printf '%s/share-%04d.db' {} \"$SLURM_ARRAY_TASK_ID\")\" --jobs {} --quiet\n",
                      word(program), word(this->study().string()), count, word(directory_.string()), options.cores);
  OutputFile(script()).commit(text);
}

std::set<std::size_t> shares_in_queue(const Shards &shards) {
  std::set<std::size_t> shares;
  const CommandEnd end = run_slurm({"squeue", "--noheader", "--array", "--name=" + shards.job_name(), "--format=%K"});
  for (const std::string &line : split(end.output, '\n'))
    if (const std::size_t share = number(trimmed(line)); share != 0) shares.insert(share);
  return shares;
}

std::string submit(const Shards &shards, const std::set<std::size_t> &shares) {
  const CommandEnd end = run_slurm({"sbatch", "--parsable", "--array=" + ranges(shares), shards.script().string()});
  return trimmed(end.output.substr(0, end.output.find(';')));
}

std::string ranges(const std::set<std::size_t> &numbers) {
  std::string text;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const std::size_t first = *at;
    std::size_t last = first;
    while (++at != numbers.end() && *at == last + 1)
      last = *at;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (last != first) text += fmt::format("-{}", last);
  }
  return text;
}

} // namespace gradweave::sweep
