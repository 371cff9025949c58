// The subcommands of gradweave, free of argument parsing. Each returns the process's exit code and throws what
// exit_code_of() in main.cpp knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::cli {

/// Exit codes, documented in docs/cli.md.
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,   ///< a result bit or a counter is wrong
  kUsage = 2,    ///< the command line is wrong
  kBadInput = 3, ///< a file is wrong, or does not fit the NPU
  kDevice = 4,   ///< the NPU stopped with an error, timed out, or its simulation could not run
  kOutput = 5,   ///< an output cannot be written
  kRunning = 6,  ///< of --status: a run has not ended yet
  kInterrupted = 130
};

/// What cosim, simulate and compile have in common: the work.
struct WorkArguments {
  std::string model = "bert_tiny", npu = "small", schedule = "rearrange", pass = "backward", layers;
  std::uint32_t batch = 0; ///< 0: as the network says
  std::uint64_t tune = 0;  ///< plans that the compiler tries beyond its usual search
  std::string partition = "none", reduction = "chain";
  std::uint32_t parts = 0; ///< 0: one a core, or two on one core
};

struct CosimArguments {
  std::string program = "gradweave"; ///< how the command was called
  WorkArguments work;
  std::string backend = "rtl", data = "normal", json;
  std::string times, timeline; ///< file, or directory if it is one or ends in '/'; empty: none
  std::uint64_t seed = 1;
  unsigned jobs = 0; ///< 0: one a core
  bool trace = false;
  std::string trace_file, trace_dir = "gradweave-trace";
  std::uint64_t trace_from = 0, trace_to = ~std::uint64_t{0};
  std::uint64_t stress_seed = 1;
  double stall_probability = 0;
  bool quiet = false, dry_run = false, from_make = false;
  std::string resume = "auto", background = "no";
  bool fresh = false;
  std::optional<std::string> status; ///< tell about this run, all if empty, instead of running
  std::string stop;                  ///< end this run in the background instead of running; empty: do not
};
int cosim(const CosimArguments &arguments);

struct SimulateArguments {
  std::string program = "gradweave"; ///< how the command was called
  WorkArguments work;
  std::string stream; ///< a stream file to be simulated instead; empty: none
  std::string json;
  std::string times, timeline; ///< file, or directory if it is one or ends in '/'; empty: none
  bool quiet = false, from_make = false;
};
int simulate(const SimulateArguments &arguments);

struct CompileArguments {
  WorkArguments work;
  std::string out; ///< directory; empty: only the summary
  bool listing = false;
  std::string json;
};
int compile(const CompileArguments &arguments);

struct SearchArguments {
  WorkArguments work;
  std::uint64_t plans = 100, step_plans = 300;
  std::string backend; ///< that runs and checks the step; empty: none
  std::string data = "normal", json;
  std::uint64_t seed = 1;
  bool quiet = false;
};
/// Searches plans for layers and for the whole step (docs/search.md).
int search(const SearchArguments &arguments);

/// Exactly one of streams, work.model, random, corpus and compare is given.
struct ValidateArguments {
  std::string program = "gradweave";                          ///< how the command was called
  std::vector<std::string> command_line;                      ///< all of it
  WorkArguments work{"", "", "rearrange", "backward", "", 0}; ///< NPU empty: small, or all of a corpus
  std::vector<std::string> streams, compare;
  std::string corpus, profile = "both", json;
  std::uint64_t random = 0, seed = 1;
  std::uint32_t commands = 40, watchdog = 0; ///< watchdog 0: as the mode chooses
  std::int64_t stream_offset = -1;           ///< likewise if negative
  unsigned jobs = 0;                         ///< 0: one a core
  bool quiet = false;
};
int validate(const ValidateArguments &arguments);

/// Binary stream to text; `out` empty: standard output.
int disassemble(const std::string &file, const std::string &out);
/// Text to binary stream.
int assemble(const std::string &file, const std::string &out);

struct TimelineArguments {
  std::vector<std::string> streams; ///< files, one behind another on the time axis
  std::string rtl, model;           ///< timing traces of these streams; empty: none
  std::string npu = "small", out;
};
/// Draws timing traces (docs/timeline.md).
int timeline(const TimelineArguments &arguments);

struct WavediffArguments {
  std::string a, b;                          ///< FST files
  std::vector<std::string> signals, exclude; ///< patterns
  std::string scope_a, scope_b, clock, json, save;
  std::uint64_t from = 0, to = ~std::uint64_t{0}, period = 0;
  std::int64_t offset = 0;
  bool common = false, ignore_unknown = false;
  std::size_t limit = 20; ///< signals listed
};
/// Compares two waveform files (docs/waves.md).
int wavediff(const WavediffArguments &arguments);

struct ReproduceArguments {
  std::string study;             ///< name or path
  std::string figures, networks; ///< comma-separated; empty: all
  std::string out = "reproduce";
  std::string policy; ///< of the baseline as the paper describes it; empty: the default
  unsigned jobs = 0;  ///< 0: one a core
  bool rtl = false;
  std::optional<std::uint32_t> sample; ///< empty: one of each network, if there is a Verilated NPU
  std::uint64_t sample_cycles = 1000000;
  std::uint64_t seed = 1;
  bool quiet = false;
};
/// Repeats a published evaluation (docs/reproduce.md).
int reproduce(const ReproduceArguments &arguments);

/// Lists networks and NPUs, or shows one of them.
int models(const std::string &name);

} // namespace gradweave::cli
