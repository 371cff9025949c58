// A sweep as a job array of Slurm: each task works at a share of the points in a file of its own.
#pragma once

#include "app/sweep/study.hpp"

#include <cstddef>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradweave::sweep {

/// Slurm is not there or refuses. what() has its words and the remedy; files stay as they are.
class SlurmError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

struct SlurmOptions {
  std::string partition, time, memory, account; ///< as sbatch takes them; empty: its defaults
  std::vector<std::string> further;             ///< options of sbatch, as they are
  unsigned tasks = 0;                           ///< of the array; 0: one a minute of the work
  unsigned cores = 1;                           ///< of a task
  bool wait = false;
};

/// The directory beside a sweep's file that has the shares: the study, a file and a log a share, and the script.
class Shards {
public:
  explicit Shards(const std::filesystem::path &sweep_file);

  const std::filesystem::path &directory() const { return directory_; }
  std::filesystem::path file(std::size_t share) const; ///< `share` from 1
  std::filesystem::path study() const { return directory_ / "study.toml"; }
  std::filesystem::path script() const { return directory_ / "job.sh"; }
  /// Files of shares that are there.
  std::vector<std::filesystem::path> files() const;
  /// Into how many shares the work was cut; 0: there is no directory yet.
  std::size_t count() const;
  /// What its jobs are called.
  std::string job_name() const;

  /// Makes the directory with script and study. `program`: the command that tasks run. Throws OutputError.
  void make(const Study &study, const std::string &program, std::size_t count, const SlurmOptions &options) const;

private:
  std::filesystem::path directory_;
};

/// Shares that jobs wait for or work at. Throws SlurmError.
std::set<std::size_t> shares_in_queue(const Shards &shards);
/// Submits an array for these shares; the job's number. Throws SlurmError.
std::string submit(const Shards &shards, const std::set<std::size_t> &shares);
/// "1-3,7"
std::string ranges(const std::set<std::size_t> &numbers);

} // namespace gradweave::sweep
