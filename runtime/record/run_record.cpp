#include "runtime/record/run_record.hpp"

#include "base/file/journal.hpp"
#include "base/file/json_field.hpp"
#include "base/file/output_file.hpp"
#include "runtime/record/job_key.hpp"
#include "runtime/record/result_json.hpp"
#include "sw_models/config/machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/file.h>
#include <system_error>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace gradweave::runtime {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char *kJournalFile = "journal.jsonl";
constexpr const char *kStatusFile = "status.json";
constexpr double kStatusSeconds = 2;

std::string now_text() { return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr))); }

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), HOST_NAME_MAX) == 0 ? name.data() : "";
}

/// A process has the journal of this record open.
bool is_open(const fs::path &directory) {
  const int fd = ::open((directory / kJournalFile).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool open = ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return open;
}

Json to_json(const RecordedRun &run) {
  Json json = {{"state", run.state == RunState::kEnded ? "ended" : "running"},
               {"command", run.command},
               {"host", run.host},
               {"pid", run.pid},
               {"background", run.background},
               {"started", run.started},
               {"updated", run.updated},
               {"jobs", run.progress.jobs},
               {"finished", run.progress.finished},
               {"fraction", run.progress.fraction},
               {"elapsed_seconds", run.progress.elapsed_seconds},
               {"outcome", std::string(to_string(run.outcome))},
               {"npu", run.npu},
               {"backend", run.backend},
               {"cycles_per_second", run.cycles_per_second}};
  if (run.progress.seconds_left) json["seconds_left"] = *run.progress.seconds_left;
  return json;
}

/// Throws nlohmann::json::exception or std::invalid_argument if the file is no status.
RecordedRun read_record(const fs::path &directory) {
  std::ifstream in(directory / kStatusFile);
  std::ostringstream text;
  text << in.rdbuf();
  RecordedRun run = parse_status(text.str());
  run.id = directory.filename();
  run.directory = directory;
  if (is_open(directory)) run.state = RunState::kRunning;
  return run;
}

/// A killed run's simulations, which share its lock, end a moment after it.
std::unique_ptr<Journal> open_journal(const fs::path &file) {
  constexpr int kTries = 20;
  const std::string remedy = "set XDG_STATE_HOME to another directory";
  for (int i = 1;; ++i) {
    try {
      return std::make_unique<Journal>(file, remedy);
    } catch (const JournalInUse &) {
      if (i == kTries) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

/// Copies the NPU's library and has this process use the copy; the copy's path.
fs::path keep_library(const NpuConfig &npu, const fs::path &directory) {
  const fs::path library = find_rtl_library(npu);
  fs::path copy = directory / library.filename();
  if (library != copy) fs::copy_file(library, copy, fs::copy_options::overwrite_existing);
  ::setenv("GRADWEAVE_LIB_DIR", directory.c_str(), 1);
  return copy;
}

} // namespace

fs::path records_directory() {
  for (const auto &[variable, below] : {std::pair("XDG_STATE_HOME", ""), std::pair("HOME", ".local/state")})
    if (const char *value = std::getenv(variable); value != nullptr && *value == '/')
      return fs::path(value) / below / "gradweave/cosim";
  throw OutputError("long runs keep their state in $XDG_STATE_HOME/gradweave, else $HOME/.local/state/gradweave, but "
                    "neither variable has the path of a directory; set one");
}

RecordedRun parse_status(const std::string &text) {
  const Json json = Json::parse(text);
  RecordedRun run;
  read_field(json, "command", run.command);
  read_field(json, "host", run.host);
  read_field(json, "pid", run.pid);
  if (run.pid == 0) throw std::invalid_argument("0 is no process"); // signals would go to the whole group
  read_field(json, "background", run.background);
  read_field(json, "started", run.started);
  read_field(json, "updated", run.updated);
  read_field(json, "jobs", run.progress.jobs);
  read_field(json, "finished", run.progress.finished);
  read_field(json, "fraction", run.progress.fraction);
  read_field(json, "elapsed_seconds", run.progress.elapsed_seconds);
  if (json.contains("seconds_left")) run.progress.seconds_left = json["seconds_left"].get<double>();
  run.outcome = parse_outcome(json.at("outcome").get<std::string>());
  read_field(json, "npu", run.npu);
  read_field(json, "backend", run.backend);
  read_field(json, "cycles_per_second", run.cycles_per_second);
  run.state = json.at("state") == "ended" ? RunState::kEnded : RunState::kInterrupted;
  return run;
}

std::vector<RecordedRun> recorded_runs() {
  std::vector<RecordedRun> runs;
  std::error_code none;
  for (const auto &entry : fs::directory_iterator(records_directory(), none)) {
    try {
      runs.push_back(read_record(entry.path()));
    } catch (const Json::exception &) { // no record
    } catch (const std::invalid_argument &) {
    }
  }
  std::sort(runs.begin(), runs.end(), [](const RecordedRun &a, const RecordedRun &b) {
    return std::tie(a.started, a.id) < std::tie(b.started, b.id);
  });
  return runs;
}

RecordedRun recorded_run(const std::string &id) {
  std::string known;
  for (RecordedRun &run : recorded_runs()) {
    if (run.id == id) return std::move(run);
    known += (known.empty() ? "" : ", ") + run.id;
  }
  throw std::invalid_argument(
      fmt::format("no run is called '{}'; there {}", id, known.empty() ? "are none" : "is: " + known));
}

void stop_run(const RecordedRun &run) {
  if (run.host != host_name()) throw std::runtime_error(fmt::format("{} runs on {}; stop it there", run.id, run.host));
  if (::kill(run.pid, SIGTERM) != 0)
    throw std::runtime_error(
        fmt::format("process {} of {} cannot be ended: {}", run.pid, run.id, std::strerror(errno)));
  for (int i = 0; i < 300; ++i) {
    if (!is_open(run.directory)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  throw std::runtime_error(fmt::format("process {} of {} was told to end 30 s ago and has not", run.pid, run.id));
}

SimulationSpeed known_speed(const Machine &npu, Backend backend) {
  try {
    const std::vector<RecordedRun> runs = recorded_runs();
    const std::string key = fingerprint(npu).hex();
    for (auto run = runs.rbegin(); run != runs.rend(); ++run)
      if (run->npu == key && run->backend == to_string(backend) && run->host == host_name() &&
          run->cycles_per_second > 0)
        return {run->cycles_per_second, "measured on " + run->updated};
  } catch (const OutputError &) { // no place for records
  }
  return built_in_speed(npu, backend);
}

std::string run_id(const RunOptions &options) {
  return fmt::format("{}-{}-{}", file_name_part(options.network.name), options.config.name, run_key(options));
}

RunRecord::RunRecord(const RunOptions &options, bool fresh) {
  now_.id = run_id(options);
  now_.directory = records_directory() / now_.id;
  now_.command = options.reproduce;
  now_.host = host_name();
  now_.npu = fingerprint(options.config).hex();
  now_.backend = to_string(options.backend);
  try {
    fs::create_directories(now_.directory);
    journal_ = open_journal(now_.directory / kJournalFile);
    const bool rtl = options.backend == Backend::kRtl;
    build_ = build_key(rtl ? keep_library(options.config, now_.directory).string() : std::string());
  } catch (const fs::filesystem_error &error) {
    throw OutputError(fmt::format("{}; set XDG_STATE_HOME to another directory", error.what()));
  }
  if (fresh) journal_->clear();
}

RunRecord::~RunRecord() = default;

void RunRecord::begin(bool background, std::size_t jobs) {
  now_.pid = ::getpid();
  now_.background = background;
  now_.progress.jobs = jobs;
  now_.state = RunState::kRunning;
  now_.started = now_text();
  write();
}

std::optional<JobResult> RunRecord::kept(const JobSpec &spec) const {
  const std::string *value = journal_->find(job_key(spec));
  if (value == nullptr) return std::nullopt;
  try {
    const Json json = Json::parse(*value);
    if (json.value("build", "") != build_) return std::nullopt;
    JobResult result = result_from_json(json.at("result"));
    result.layers = spec.layers;
    return result;
  } catch (const Json::exception &) { // the file was changed
  } catch (const std::invalid_argument &) {
  }
  return std::nullopt;
}

std::size_t RunRecord::foreign(const std::vector<JobSpec> &specs) const {
  return static_cast<std::size_t>(std::count_if(specs.begin(), specs.end(), [&](const JobSpec &spec) {
    return journal_->find(job_key(spec)) != nullptr && !kept(spec);
  }));
}

std::size_t RunRecord::damaged_lines() const { return journal_->damaged_lines(); }

void RunRecord::ended(const JobSpec &spec, const JobResult &result) {
  cycles_ += result.cycles();
  cpu_seconds_ += result.process_seconds;
  if (cycles_ != 0 && cpu_seconds_ > 0) now_.cycles_per_second = static_cast<double>(cycles_) / cpu_seconds_;
  if (result.outcome != Outcome::kPass) return;
  JobResult kept = result;
  kept.kept_since = now_text();
  kept.trace.clear(); // files are the run's that wrote them
  kept.times_file.clear();
  kept.timeline_file.clear();
  journal_->append(job_key(spec), Json{{"build", build_}, {"result", to_json(kept)}}.dump());
}

void RunRecord::progress(const Progress &progress) {
  now_.progress = progress;
  if (written_ < 0 || steady_seconds() - written_ >= kStatusSeconds) write();
}

void RunRecord::end(Outcome outcome, const Progress &progress) {
  now_.progress = progress;
  now_.state = RunState::kEnded;
  now_.outcome = outcome;
  write();
  if (outcome == Outcome::kPass) journal_->clear();
}

void RunRecord::write() {
  written_ = steady_seconds();
  now_.updated = now_text();
  OutputFile(now_.directory / kStatusFile)
      .commit(to_json(now_).dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
}

} // namespace gradweave::runtime
