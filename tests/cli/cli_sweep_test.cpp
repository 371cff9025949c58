// gradweave sweep: the points of simulate, each once, kept whatever happens.
#include "tests/cli/command_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <sys/stat.h>

namespace gradweave::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class CliSweep : public CommandLineTest {
protected:
  CliSweep() { write("net.csv", kLayers); }

  static Words with(Words words, const Words &more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Words grid() const {
    return {"sweep",
            "--model",
            "./net.csv",
            "--npu",
            "test8",
            "--set",
            "npu.rows,npu.cols=8,16",
            "--set",
            "memory.bandwidth_gb_s=4,8",
            "--schedule",
            "rearrange,sequential",
            "--quiet"};
  }
  CommandResult sweep(const Words &more) const { return run(with(grid(), more)); }
  std::string csv(const std::string &file = "t.csv") const { return read_file(work() / file); }
  void expect_error(const CommandResult &r, int code, const std::string &part) const {
    EXPECT_EQ(r.code, code) << r.err;
    EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
  }
  /// A program of this name that comes first in PATH.
  void fake(const std::string &name, const std::string &script) const {
    fs::create_directories(work() / "bin");
    write("bin/" + name, "#!/bin/sh\n" + script + "\n");
    ::chmod((work() / "bin" / name).c_str(), 0755);
    ::setenv("PATH", ((work() / "bin").string() + ":/usr/bin:/bin").c_str(), 1);
  }
};

TEST_F(CliSweep, PointsAreThoseOfSimulate) {
  ASSERT_EQ(sweep({"--json", "t.json"}).code, 0);
  const auto table = nlohmann::json::parse(read_file(work() / "t.json"));
  ASSERT_EQ(table["points"].size(), 8U);
  for (const auto &point : table["points"]) {
    Words words{"simulate", "--json", "s.json"};
    for (const auto &[field, value] : point["point"].items()) {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      const bool setting = field.find('.') != std::string::npos;
      words = with(words, setting ? Words{"--set", fmt::format("{}={}", field, text)}
                                  : Words{fmt::format("--{}", field), text});
    }
    ASSERT_EQ(run(words).code, 0);
    const auto total = nlohmann::json::parse(read_file(work() / "s.json"))["totals"][0];
    for (const char *field : {"cycles", "milliseconds", "macs", "compute_bound", "traffic_bound", "bound",
                              "spill_bytes", "dram_read_bytes", "dram_write_bytes"})
      EXPECT_EQ(point[field], total[field]) << field;
    EXPECT_EQ(point["array_use"], total["array_utilisation"]);
  }
}

TEST_F(CliSweep, AStudySaysTheSame) {
  write("study.toml", "model = './net.csv'\nnpu = 'test8'\nschedule = ['rearrange', 'sequential']\n[set]\n"
                      "'npu.rows,npu.cols' = [8, 16]\n'memory.bandwidth_gb_s' = [4, 8]\n");
  ASSERT_EQ(sweep({"--csv", "t.csv"}).code, 0);
  ASSERT_EQ(run({"sweep", "study.toml", "--out", "u.db", "--csv", "u.csv", "--quiet"}).code, 0);
  const auto rows = [](const std::string &text) { // fields have another order: compare the numbers
    std::vector<std::string> numbers;
    for (std::size_t at = 0; (at = text.find(",ok,", at)) != std::string::npos; ++at)
      numbers.push_back(text.substr(at, text.find('\n', at) - at));
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  };
  EXPECT_EQ(rows(csv()).size(), 8U);
  EXPECT_EQ(rows(csv()), rows(csv("u.csv")));
}

TEST_F(CliSweep, ASecondRunKnowsAll) {
  ASSERT_EQ(sweep({"--csv", "t.csv"}).code, 0);
  const std::string before = csv();
  Words again = grid();
  again.pop_back(); // --quiet
  const CommandResult r = run(with(again, {"--csv", "t.csv", "--html", "t.html"}));
  EXPECT_NE(r.err.find("8 results were there, 0 are new"), std::string::npos) << r.err;
  EXPECT_EQ(csv(), before);
  EXPECT_NE(read_file(work() / "t.html").find("</html>"), std::string::npos);
}

TEST_F(CliSweep, SharesCollectToTheWhole) {
  ASSERT_EQ(sweep({"--csv", "t.csv"}).code, 0);
  for (const char *i : {"1", "2", "3"})
    ASSERT_EQ(sweep({"--shard", std::string(i) + "/3", "--out", std::string("share-") + i + ".db"}).code, 0);
  EXPECT_EQ(run({"sweep", "collect", "share-1.db", "--csv", "-"}).code, 6) << "five or so points are missing";
  ASSERT_EQ(
      run({"sweep", "collect", "share-1.db", "share-2.db", "share-3.db", "--out", "all.db", "--csv", "u.csv"}).code, 0);
  EXPECT_EQ(csv(), csv("u.csv"));
  expect_error(run({"sweep", "collect", "share-1.db", "share-2.db"}), 2, "name it with --out");
  expect_error(run({"sweep", "collect", "nosuch.db"}), 3, "there is no such file");
  fs::create_directory(work() / "empty");
  expect_error(run({"sweep", "collect", "empty"}), 3, "no file of a sweep");
}

TEST_F(CliSweep, GoesOnAfterItWasKilled) {
  const Words words{"sweep",          "--model", "./net.csv",
                    "--npu",          "test8",   "--set",
                    "npu.rows=2..20", "--set",   "memory.bandwidth_gb_s=2,4,8",
                    "--quiet",        "--plans", "300",
                    "--csv",          "t.csv"};
  const pid_t pid = start(words);
  const auto kept = [this] {
    const CommandResult r =
        fs::exists(work() / "sweep.db") ? run({"sweep", "collect", "sweep.db", "--csv", "-"}) : CommandResult{};
    std::size_t count = 0;
    for (std::size_t at = 0; (at = r.out.find(",ok,", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  while (kept() < 10)
    ::usleep(5000);
  ::kill(pid, SIGKILL);
  finish(pid);
  const std::size_t before = kept();
  EXPECT_GE(before, 10U);
  Words again = words;
  again.erase(std::find(again.begin(), again.end(), "--quiet"));
  const CommandResult r = run(again);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find(std::to_string(before) + " results were there, " + std::to_string(57 - before) + " are new"),
            std::string::npos)
      << before << r.err;
}

TEST_F(CliSweep, ASignalEndsItAndKeepsWhatIsDone) {
  const Words words{"sweep", "--model", "bert_tiny,resnet50", "--plans", "300", "--quiet", "--set", "npu.rows=8..64"};
  const pid_t pid = start(words);
  while (!fs::exists(work() / "sweep.db"))
    ::usleep(1000);
  ::usleep(100'000);
  ::kill(pid, SIGTERM);
  const CommandResult r = finish(pid);
  EXPECT_EQ(r.code, 128 + SIGTERM) << r.err;
}

TEST_F(CliSweep, PointsThatCannotBeAreAnswers) {
  // A bus of 32 bytes is too wide for 8 lanes, and the scratchpad of 64 bytes has no rows.
  const CommandResult r = run({"sweep", "--model", "./net.csv", "--npu", "test8", "--quiet", "--set",
                               "npu.bus_bytes=16,64", "--set", "npu.rows,npu.cols=8,64", "--csv", "t.csv"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("4 points: 3 with numbers, 1 infeasible"), std::string::npos) << r.out;
  EXPECT_NE(csv().find("bus_bytes = 64 is more than 16"), std::string::npos) << csv();
}

TEST_F(CliSweep, ValuesThatNoPointCanHaveAreMistakes) {
  expect_error(sweep({"--set", "npu.rowz=4"}), 3, "rowz");
  expect_error(sweep({"--set", "npu.spm_banks=4,none"}), 3, "none");
  expect_error(run({"sweep", "--model", "mlp", "--batch", "4,x"}), 2, "batch: 'x' is not a whole number");
  expect_error(sweep({"--pass", "sideways"}), 2, "sideways");
  expect_error(sweep({"--set", "npu.outstanding"}), 2, "no TABLE.FIELD=VALUE");
  expect_error(sweep({"--shard", "3/2"}), 2, "write I/N");
  expect_error(run({"sweep", "--model", "nosuch"}), 3, "no network 'nosuch'");
  expect_error(run({"sweep", "nosuch.toml"}), 3, "nosuch.toml");
  write("bad.toml", "model = 'mlp'\nfield = 3\n");
  expect_error(run({"sweep", "bad.toml"}), 2, "there is no field 'field'");
  EXPECT_FALSE(fs::exists(work() / "sweep.db"));
}

TEST_F(CliSweep, AnotherStudyInTheFileIsRefused) {
  ASSERT_EQ(sweep({"--csv", "t.csv"}).code, 0);
  const CommandResult r = run({"sweep", "--model", "./net.csv", "--npu", "test8", "--quiet"});
  expect_error(r, 3, "sweep.db: holds the points of another study");
  ASSERT_EQ(sweep({"--csv", "u.csv"}).code, 0);
  EXPECT_EQ(csv(), csv("u.csv"));
  write("text.db", std::string(5000, 'x'));
  expect_error(sweep({"--out", "text.db"}), 3, "file is not a database");
}

TEST_F(CliSweep, AFullDiskIsToldAndCostsNothing) {
  const Words words{"sweep",          "--model", "./net.csv",
                    "--npu",          "test8",   "--set",
                    "npu.rows=2..20", "--set",   "memory.bandwidth_gb_s=2,4,8",
                    "--quiet"};
  expect_error(run_limited(40'000, words), 5, "sweep.db");
  const CommandResult r = run(words);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("57 points: 57 with numbers"), std::string::npos) << r.out;
}

TEST_F(CliSweep, WithoutSlurmItSaysSo) {
  fs::create_directories(work() / "bin");
  ::setenv("PATH", (work() / "bin").c_str(), 1);
  expect_error(sweep({"--slurm"}), 4, "Slurm is not installed");
  fake("squeue", "exit 0");
  fake("sbatch", "echo 'sbatch: error: invalid partition specified: fast' >&2; exit 1");
  expect_error(sweep({"--slurm", "--slurm-partition", "fast"}), 4, "invalid partition specified: fast");
  fake("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
  expect_error(sweep({"--slurm"}), 4, "Unable to contact slurm controller");
  EXPECT_EQ(sweep({"--csv", "t.csv"}).code, 0);
}

/// Each task of the array runs at once, as sbatch here does.
TEST_F(CliSweep, SlurmGetsAnArrayOfShares) {
  fake("squeue", "cat queue 2>/dev/null || true");
  fake("sbatch",
       "echo \"$@\" >>calls\nfor i in $(seq 3); do case $2 in *$i*) SLURM_ARRAY_TASK_ID=$i sh \"$3\";; esac; done\n"
       "echo 77");
  ASSERT_EQ(sweep({"--csv", "t.csv", "--out", "local.db"}).code, 0);
  write("queue", "2\n"); // somebody is at it
  const Words slurm{"--slurm", "--slurm-tasks", "3", "--slurm-time", "5:00", "--slurm-option=--qos=x"};
  ASSERT_EQ(sweep(slurm).code, 0);
  EXPECT_EQ(read_file(work() / "calls").rfind("--parsable --array=1,3 ", 0), 0U) << read_file(work() / "calls");
  const std::string script = read_file(work() / "sweep.shards/job.sh");
  for (const char *line : {"#SBATCH --requeue\n", "#SBATCH --time=5:00\n", "#SBATCH --qos=x\n"})
    EXPECT_NE(script.find(line), std::string::npos) << script;
  fs::remove(work() / "queue");
  const CommandResult r = sweep(with(slurm, {"--slurm-wait", "--csv", "u.csv"}));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(read_file(work() / "calls").find("--parsable --array=2 "), std::string::npos)
      << read_file(work() / "calls");
  EXPECT_EQ(csv(), csv("u.csv"));
  expect_error(sweep({"--slurm", "--slurm-tasks", "4"}), 2, "has the work in 3 shares already");
  ASSERT_EQ(sweep({"--slurm"}).code, 0); // nothing is left to submit
  EXPECT_EQ(read_file(work() / "calls").find('\n', read_file(work() / "calls").find("--array=2 ")),
            read_file(work() / "calls").size() - 1);
}

} // namespace
} // namespace gradweave::test
