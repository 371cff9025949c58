// Long runs: what is recorded, how a run goes on after an interruption, and runs in the background.
#include "base/file/journal.hpp"
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

namespace gradweave::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Six jobs of about half a second each, and a place for records of their own.
class CliResume : public CommandLineTest {
protected:
  CliResume() { write_layers(4000); }
  /// Six layers of so many rows each: the time that a job takes.
  void write_layers(int rows) {
    std::string layers;
    for (const char *name : {"a", "b", "c", "d", "e", "f"})
      layers += std::string(name) + "," + std::to_string(rows) + ",300,300\n";
    write("t.csv", layers);
  }
  ~CliResume() override {
    for (const fs::path &record : records()) // a failed test leaves no process behind
      run({"cosim", "--stop", record.filename()});
  }

  fs::path state() const { return work().parent_path() / "state"; }
  std::vector<fs::path> records() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto &entry : fs::directory_iterator(state() / "gradweave/cosim", none))
      found.push_back(entry.path());
    return found;
  }
  fs::path journal() const { return records().at(0) / "journal.jsonl"; }
  std::string id() const { return records().at(0).filename(); }

  static std::vector<std::string> cosim(std::vector<std::string> more = {}) {
    std::vector<std::string> all{"cosim", "--model",   "t.csv",      "--npu",      "small",     "--jobs",
                                 "1",     "--backend", "functional", "--schedule", "sequential"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  std::size_t finished() const {
    if (records().empty()) return 0;
    const std::string text = read_file(journal());
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  bool wait_for(std::size_t jobs) const {
    for (int i = 0; i < 6000 && finished() < jobs; ++i)
      std::this_thread::sleep_for(10ms);
    return finished() >= jobs;
  }

  /// Starts a run and ends it by `signal` when some of its jobs have finished.
  CommandResult interrupt(int signal) {
    const pid_t pid = start(cosim({"--resume", "always"}));
    EXPECT_TRUE(wait_for(2));
    ::kill(pid, signal);
    CommandResult result = finish(pid);
    EXPECT_GE(finished(), 2U);
    EXPECT_LT(finished(), 6U) << "the jobs are too short for this test";
    return result;
  }

  nlohmann::ordered_json report() const { return nlohmann::ordered_json::parse(read_file(work() / "r.json")); }
  /// Hashes of all results, in order.
  std::string hashes() const {
    std::string text;
    const auto json = report();
    for (const auto &layer : json["layers"])
      for (const auto &output : layer["outputs"])
        text += layer["name"].get<std::string>() + output["hash"].get<std::string>() + ' ';
    return text;
  }
};

class CliResumeAfter : public CliResume, public ::testing::WithParamInterface<int> {};

TEST_P(CliResumeAfter, TakesFinishedJobsAndSaysSo) {
  const CommandResult interrupted = interrupt(GetParam());
  EXPECT_EQ(interrupted.code, GetParam() == SIGKILL ? -SIGKILL : 128 + GetParam()) << interrupted.err;
  const std::size_t kept = finished();

  const CommandResult r = run(cosim({"--resume", "always", "--json", "r.json"}));
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  const std::string count = std::to_string(kept) + " of 6 jobs";
  EXPECT_NE(r.err.find(count + " were finished by an interrupted run"), std::string::npos) << r.err;
  EXPECT_NE(r.out.find("resumed    " + count), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("PASS (" + count + " by an interrupted run)\n"), std::string::npos) << r.out;
  EXPECT_EQ(report()["kept_jobs"], kept);
  std::size_t marked = 0;
  const auto json = report();
  for (const auto &layer : json["layers"])
    marked += layer["kept_since"] == "" ? 0 : 1;
  EXPECT_EQ(marked, kept);

  const std::string resumed = hashes();
  const CommandResult whole = run(cosim({"--resume", "never", "--json", "r.json"}));
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(whole.out.find("resumed"), std::string::npos);
  EXPECT_EQ(hashes(), resumed);
}

INSTANTIATE_TEST_SUITE_P(Signals, CliResumeAfter, ::testing::Values(SIGINT, SIGTERM, SIGKILL));

TEST_F(CliResume, AResultThatWasEditedIsComputedAgain) {
  interrupt(SIGINT);
  const std::size_t kept = finished();
  std::string lines = read_file(journal());
  const std::string field = "\"read_bytes\":";
  const std::size_t digits = lines.find(field) + field.size();
  ASSERT_GT(digits, field.size()) << lines;
  lines.insert(digits, "1");
  std::ofstream(journal()) << lines;
  const CommandResult r = run(cosim({"--resume", "always"}));
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_NE(r.err.find("journal.jsonl: 1 lines are incomplete or were changed"), std::string::npos) << r.err;
  EXPECT_NE(r.out.find("resumed    " + std::to_string(kept - 1) + " of 6 jobs"), std::string::npos) << r.out;
}

TEST_F(CliResume, ARunThatPassedIsNotResumed) {
  ASSERT_EQ(run(cosim({"--resume", "always"})).code, 0);
  EXPECT_EQ(finished(), 0U);
  const CommandResult r = run(cosim({"--resume", "always", "--json", "r.json"}));
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(report()["kept_jobs"], 0);
}

TEST_F(CliResume, AnotherSelectionOfLayersGoesOnToo) {
  interrupt(SIGKILL);
  // b comes first: a needs no dX, so that it is shorter than the others.
  EXPECT_EQ(run(cosim({"--resume", "always", "--layers", "b,f", "--json", "r.json"})).code, 0);
  EXPECT_EQ(report()["kept_jobs"], 1);
}

TEST_F(CliResume, ResultsOfAnotherBuildAreRefused) {
  interrupt(SIGKILL);
  const std::size_t kept = finished();
  std::istringstream lines(read_file(journal()));
  std::string changed;
  for (std::string line; std::getline(lines, line);)
    if (const auto entry = Journal::parse_line(line)) {
      auto value = nlohmann::ordered_json::parse(entry->second);
      value["build"] = "another";
      changed += Journal::line(entry->first, value.dump());
    }
  std::ofstream(journal(), std::ios::binary) << changed;
  const CommandResult r = run(cosim({"--resume", "always", "--json", "r.json"}));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(report()["kept_jobs"], 0);
  EXPECT_NE(r.err.find(std::to_string(kept) + " finished jobs are not used: another build"), std::string::npos)
      << r.err;
}

TEST_F(CliResume, OtherDataSeedOrPassIsAnotherRun) {
  interrupt(SIGKILL);
  for (const std::vector<std::string> &option : {std::vector<std::string>{"--seed", "2"},
                                                 {"--data", "special"},
                                                 {"--pass", "forward"},
                                                 {"--backend", "timing"}}) {
    std::vector<std::string> arguments = cosim({"--resume", "always", "--layers", "a", "--json", "r.json"});
    if (option[0] == "--backend") arguments.erase(arguments.begin() + 7, arguments.begin() + 9);
    arguments.insert(arguments.end(), option.begin(), option.end());
    const CommandResult r = run(arguments);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(report()["kept_jobs"], 0) << option[0];
  }
}

TEST_F(CliResume, FreshRunsEverythingAgain) {
  interrupt(SIGKILL);
  EXPECT_EQ(run(cosim({"--resume", "always", "--fresh", "--layers", "a", "--json", "r.json"})).code, 0);
  EXPECT_EQ(report()["kept_jobs"], 0);
}

TEST_F(CliResume, AJournalThatIsNoneIsLeftOut) {
  interrupt(SIGKILL);
  std::ofstream(journal(), std::ios::binary) << "nonsense\n{\"key\":\"a\"}\n";
  EXPECT_EQ(run(cosim({"--resume", "always", "--layers", "a", "--json", "r.json"})).code, 0);
  EXPECT_EQ(report()["kept_jobs"], 0);
}

TEST_F(CliResume, ShortRunsLeaveNoRecord) {
  EXPECT_EQ(run(cosim({"--layers", "a"})).code, 0);
  EXPECT_TRUE(records().empty());
}

TEST_F(CliResume, StatusOfRecordedRuns) {
  CommandResult r = run({"cosim", "--status"});
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.out.find("no run is recorded in " + state().string()), std::string::npos) << r.out;
  r = run({"cosim", "--status", "nothing"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("no run is called 'nothing'"), std::string::npos) << r.err;

  interrupt(SIGKILL);
  r = run({"cosim", "--status"});
  for (int i = 0; i < 500 && r.code == 6;
       ++i) { // the job's process ends after its parent, and holds the lock until then
    std::this_thread::sleep_for(10ms);
    r = run({"cosim", "--status"});
  }
  EXPECT_EQ(r.code, 130);
  EXPECT_NE(r.out.find("interrupted at about"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("go on"), std::string::npos) << r.out;
  r = run({"cosim", "--stop", id()});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("not running"), std::string::npos) << r.err;

  ASSERT_EQ(run(cosim({"--resume", "always"})).code, 0);
  r = run({"cosim", "--status", id()});
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.out.find("PASS at"), std::string::npos) << r.out;
}

TEST_F(CliResume, StartsInTheBackgroundStopsAndGoesOn) {
  write_layers(40000); // it must still run after all that is asked of it
  CommandResult r = run(cosim({"--background", "--json", "r.json"}));
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("STARTED in the background"), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("PASS"), std::string::npos) << "nothing has been checked";
  EXPECT_NE(r.err.find("estimate: about"), std::string::npos) << r.err;
  ASSERT_TRUE(wait_for(1));

  r = run({"cosim", "--status", id()});
  EXPECT_EQ(r.code, 6) << r.out;
  EXPECT_NE(r.out.find("running in the background"), std::string::npos) << r.out;
  r = run(cosim({"--background"}));
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.out.find("this run goes on already"), std::string::npos) << r.out;

  r = run({"cosim", "--stop", id()});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(run({"cosim", "--status", id()}).code, 130);
  EXPECT_FALSE(fs::exists(work() / "r.json"));

  ASSERT_EQ(run(cosim({"--background", "--json", "r.json"})).code, 0);
  for (int i = 0; i < 6000 && run({"cosim", "--status", id()}).code == 6; ++i)
    std::this_thread::sleep_for(50ms);
  EXPECT_EQ(run({"cosim", "--status", id()}).code, 0);
  EXPECT_EQ(report()["verdict"], "PASS");
  EXPECT_GE(report()["kept_jobs"], 1);
  EXPECT_NE(read_file(records().at(0) / "report.txt").find("PASS ("), std::string::npos);
}

TEST_F(CliResume, ARunBesideTheSameOneIsNotRecorded) {
  write_layers(40000);
  ASSERT_EQ(run(cosim({"--background"})).code, 0);
  const CommandResult r = run(cosim({"--resume", "always", "--layers", "a"}));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("another process is at the same run"), std::string::npos) << r.err;
}

TEST_F(CliResume, SaysWhatContradicts) {
  const auto refused = [&](std::vector<std::string> more, const std::string &message) {
    const CommandResult r = run(cosim(std::move(more)));
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_NE(r.err.find(message), std::string::npos) << r.err;
    EXPECT_TRUE(records().empty());
  };
  refused({"--resume", "sometimes"}, "--resume");
  refused({"--background=perhaps"}, "--background");
  refused({"--background", "--resume", "never"}, "always recorded");
  refused({"--background", "--json", "-"}, "--json -: a run in the background has no standard output");
}

TEST_F(CliResume, NeedsAPlaceForTheRecordOfABackgroundRun) {
  std::ofstream(state()) << "a file";
  CommandResult r = run(cosim({"--background"}));
  EXPECT_EQ(r.code, 5) << r.err;
  EXPECT_NE(r.err.find("XDG_STATE_HOME"), std::string::npos) << r.err;
  fs::remove(state());
}

} // namespace
} // namespace gradweave::test
