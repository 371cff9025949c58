// Command lines that ask for help or make no sense: the message names what is wrong and what was probably meant.
#include "app/cli/common/subcommands.hpp"
#include "base/text/nearest.hpp"
#include "tests/cli/command_line.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace gradweave::test {
namespace {

using Words = std::vector<std::string>;

class CliUsage : public CommandLineTest {
protected:
  /// Nothing on standard output, exit code 2, and all parts on standard error.
  void refused(const Words &arguments, const Words &parts) const {
    const CommandResult r = run(arguments);
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_EQ(r.err.rfind("gradweave: error: ", 0), 0U) << r.err;
    for (const std::string &part : parts)
      EXPECT_NE(r.err.find(part), std::string::npos) << part << " is not in: " << r.err;
  }

  /// Succeeds without a word on standard error.
  std::string shown(const Words &arguments) const {
    const CommandResult r = run(arguments);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.err, "");
    return r.out;
  }

  /// Help of one option of a subcommand, with what follows up to the next option.
  std::string help_of(const std::string &subcommand, const std::string &option) const {
    const std::string help = shown({"help", subcommand});
    const std::size_t at = help.find("  " + option + " ");
    EXPECT_NE(at, std::string::npos) << option << " is not in: " << help;
    return at == std::string::npos ? "" : help.substr(at, help.find("\n  -", at + 1) - at);
  }
};

const Words kSubcommands{"cosim",  "simulate", "compile",   "validate", "disasm", "asm",  "timeline", "wavediff",
                         "models", "search",   "reproduce", "weave",    "serve",  "help", "version"};

TEST_F(CliUsage, UnknownSubcommandsAreNamedWithTheNearest) {
  refused({"cosm"}, {"'cosm'", "did you mean 'cosim'?", "there are: cosim, simulate"});
  refused({"COSIM"}, {"did you mean 'cosim'?"});
  refused({"sim"}, {"did you mean 'simulate'?"});
  refused({"model"}, {"did you mean 'models'?"});
  refused({"reprodcue"}, {"did you mean 'reproduce'?"});
  refused({"emulate"}, {"'emulate'", "there are: cosim"});
  refused({""}, {"unknown subcommand ''"});
  refused({"help", "cosm"}, {"did you mean 'cosim'?"});
  refused({}, {"a subcommand is required", "simulate", "gradweave help"});
  EXPECT_EQ(run({"frobnicate"}).err.find("did you mean"), std::string::npos);
}

TEST_F(CliUsage, HelpIsThatOfWhatItIsAskedFor) {
  const std::string all = shown({"help"});
  EXPECT_EQ(all, shown({"--help"}));
  EXPECT_EQ(all, shown({"-h"}));
  for (const std::string &name : kSubcommands) {
    EXPECT_NE(all.find("\n  " + name + " "), std::string::npos) << name << " is not in: " << all;
    EXPECT_EQ(shown({"help", name}), shown({name, "--help"}));
    EXPECT_NE(shown({"help", name}).find("Usage: gradweave " + name), std::string::npos);
    EXPECT_NE(shown({"--help-all"}).find("\n" + name + "\n"), std::string::npos) << name;
  }
}

/// The smallest program that can do it is asked.
TEST(CliPrograms, AreAskedForWhatTheyHave) {
  using cli::Program;
  const auto program = [](const Words &words) { return cli::program_for(words); };
  EXPECT_EQ(program({}), Program::kLayers);
  EXPECT_EQ(program({"--help"}), Program::kLayers);
  EXPECT_EQ(program({"cosim", "--model", "mlp"}), Program::kLayers);
  EXPECT_EQ(program({"cosim", "--model", "mlp", "--step"}), Program::kTraining);
  EXPECT_EQ(program({"simulate", "--html=page.html"}), Program::kTraining);
  EXPECT_EQ(program({"simulate", "--html", "page.html"}), Program::kTraining);
  EXPECT_EQ(program({"help", "train"}), Program::kTraining);
  EXPECT_EQ(program({"validate", "--html"}), Program::kAll);
  EXPECT_EQ(program({"--help-all"}), Program::kAll);
  EXPECT_EQ(program({"reference", "man"}), Program::kAll);
}

/// A larger program that is not there is named, with what makes it.
TEST_F(CliUsage, AProgramThatIsMissingIsNamed) {
  const std::string copy = work() / "gradweave";
  std::filesystem::copy(GW_COMMAND, copy);
  const CommandResult train = finish(start({"train", "--model", "mlp"}, {}, copy));
  EXPECT_EQ(train.code, 4) << train.err;
  EXPECT_NE(train.err.find("gradweave-training, which has this subcommand, cannot be run"), std::string::npos)
      << train.err;
  EXPECT_NE(train.err.find("ninja gradweave-training"), std::string::npos) << train.err;
  EXPECT_EQ(finish(start({"--help"}, {}, copy)).code, 0);
}

TEST_F(CliUsage, TheVersionIsToldHoweverItIsAskedFor) {
  const std::string version = shown({"version"});
  EXPECT_EQ(version.rfind("gradweave ", 0), 0U) << version;
  EXPECT_EQ(shown({"--version"}), version);
  EXPECT_EQ(shown({"-V"}), version);
}

TEST_F(CliUsage, UnknownOptionsAndArgumentsAreNamed) {
  refused({"cosim", "--sede", "1"}, {"cosim has no option '--sede'", "did you mean '--seed'?", "gradweave help cosim"});
  refused({"cosim", "--sede=1"}, {"'--sede'", "did you mean '--seed'?"});
  refused({"simulate", "--modle", "mlp"}, {"did you mean '--model'?"});
  refused({"cosim", "--frobnicate"}, {"no option '--frobnicate'"});
  refused({"cosim", "mlp"}, {"cosim takes no further argument 'mlp'", "--model NETWORK"});
  refused({"models", "mlp", "small"}, {"models takes no further argument 'small'"});
  refused({"version", "please"}, {"'please'"});
  refused({"--model", "mlp", "cosim"}, {"'--model' stands before the subcommand", "gradweave cosim --model"});
  refused({"--frobnicate"}, {"unknown option '--frobnicate'", "a subcommand comes first"});
  refused({"disasm"}, {"FILE is required", "gradweave help disasm"});
  refused({"validate", "--random", "0"}, {"--random"});
}

TEST_F(CliUsage, ANetworkWhereAStreamIsExpectedIsTold) {
  refused({"simulate", "bert_tiny"}, {"'bert_tiny' is a network", "--model bert_tiny"});
  refused({"validate", "mlp"}, {"'mlp' is a network", "--model mlp"});
}

/// The names that an error lists after `use one of: `, `there are: ` or `use `.
Words names_in(const std::string &error) {
  Words names;
  for (const std::string_view before : {"use one of: ", "there are: ", "use "}) {
    const std::size_t at = error.find(before);
    if (at == std::string::npos) continue;
    std::string list = error.substr(at + before.size());
    list = list.substr(0, list.find('\n'));
    for (std::size_t end = 0; !list.empty(); list.erase(0, end == std::string::npos ? list.size() : end + 2)) {
      end = list.find(", ");
      const std::string name = list.substr(0, end);
      names.push_back(name.rfind("or ", 0) == 0 ? name.substr(3) : name);
    }
    break;
  }
  return names;
}

TEST_F(CliUsage, LongListsOfOptionsHaveHeadings) {
  for (const std::string subcommand :
       {"cosim", "simulate", "compile", "validate", "search", "memory", "train", "weave", "serve", "sweep"}) {
    const std::string help = shown({"help", subcommand});
    std::size_t under = 0, at = help.find("\nOptions:\n");
    ASSERT_NE(at, std::string::npos) << help;
    const std::size_t end = help.find("\n\n", at);
    while ((at = help.find("\n  -", at + 1)) < end)
      ++under;
    EXPECT_EQ(under, 2U) << "beside --help and --help-all, options without a heading: " << help;
    EXPECT_NE(help.find(subcommand == "sweep" ? "\nReports:\n" : "\nNetwork and NPU:\n"), std::string::npos) << help;
  }
  EXPECT_EQ(shown({"help", "timeline"}).find("Network and NPU"), std::string::npos);
}

TEST_F(CliUsage, HelpHasEveryNameThatIsAccepted) {
  const std::vector<std::tuple<std::string, std::string, std::size_t>> enumerations{
      {"cosim", "--schedule", 8},     {"simulate", "--schedule", 8},  {"compile", "--schedule", 7},
      {"validate", "--schedule", 8},  {"cosim", "--pass", 3},         {"simulate", "--pass", 3},
      {"compile", "--pass", 3},       {"validate", "--pass", 3},      {"search", "--pass", 3},
      {"cosim", "--partition", 4},    {"simulate", "--partition", 4}, {"compile", "--partition", 4},
      {"validate", "--partition", 4}, {"cosim", "--reduction", 2},    {"simulate", "--reduction", 2},
      {"compile", "--reduction", 2},  {"validate", "--reduction", 2}, {"cosim", "--backend", 3},
      {"cosim", "--data", 2},         {"search", "--check", 3},       {"search", "--data", 2},
      {"validate", "--profile", 3},   {"validate", "--corpus", 2},    {"reproduce", "--policy", 19},
      {"reproduce", "--figure", 10},
  };
  for (const auto &[subcommand, option, least] : enumerations) {
    SCOPED_TRACE(fmt::format("{} {}", subcommand, option));
    Words arguments{subcommand, option, "frobnicate"};
    if (subcommand == "reproduce") arguments.insert(arguments.begin() + 1, "igo");
    if (subcommand == "validate" && option != "--corpus")
      for (const char *word : option == "--profile" ? std::array{"--random", "1"} : std::array{"--model", "mlp"})
        arguments.emplace_back(word);
    const CommandResult r = run(arguments);
    EXPECT_EQ(r.code, 2) << r.err;
    const Words names = names_in(r.err);
    EXPECT_GE(names.size(), least) << r.err;
    const std::string help = help_of(subcommand, option);
    for (const std::string &name : names)
      EXPECT_NE(help.find(name), std::string::npos) << name << " is not in: " << help;
  }
}

TEST_F(CliUsage, ModelsShowsFilesOfBothKindsAndNamesBothKinds) {
  const CommandResult shown = run({"models", write("n.toml", R"([npu]
name = "my-own"
rows = 8
cols = 8
cores = 1
spm_bytes = 8192
spm_banks = 4
bus_bytes = 16
clock_ghz = 1.0
queue_depth = 8
semaphores = 64
outstanding = 64
[memory]
size_bytes = 1073741824
bandwidth_gb_s = 8
latency_cycles = 20
turnaround_cycles = 8
batch_bytes = 8192
)")});
  EXPECT_EQ(shown.out.rfind("my-own: 8 x 8 PEs", 0), 0U) << shown.out << shown.err;
  EXPECT_EQ(run({"models", write("t.csv", kLayers)}).code, 0);
  const CommandResult unknown = run({"models", "nonesuch"});
  EXPECT_EQ(unknown.code, 3);
  for (const char *name : {"'nonesuch'", "bert_tiny", "small"})
    EXPECT_NE(unknown.err.find(name), std::string::npos) << unknown.err;
}

TEST_F(CliUsage, MisspeltNetworksAndNpusAreGuessed) {
  const CommandResult network = run({"simulate", "--model", "bert_tyni"});
  EXPECT_EQ(network.code, 3);
  EXPECT_NE(network.err.find("; did you mean 'bert_tiny'? There are: bert_base, "), std::string::npos) << network.err;
  const CommandResult npu = run({"simulate", "--model", "mlp", "--npu", "smal"});
  EXPECT_EQ(npu.code, 3);
  EXPECT_NE(npu.err.find("; did you mean 'small'? There are: "), std::string::npos) << npu.err;
}

TEST_F(CliUsage, AFileOfANetworkIsNoStream) {
  write("net.onnx", std::string("\x08\x08:\x01", 4));
  write("net.graph", "graph \"net\"\n");
  for (const std::string file : {"net.onnx", "net.graph"}) {
    const CommandResult r = run({"simulate", file});
    EXPECT_EQ(r.code, 2) << file;
    EXPECT_EQ(r.err, "gradweave: error: '" + file +
                         "' is the file of a network; a command stream is expected there, else "
                         "--model " +
                         file + "\n");
  }
}

TEST_F(CliUsage, WholeNumbersAreRefusedWithTheirLimits) {
  for (const std::string number : {"-1", "0", "16777217", "4x", "99999999999999999999"}) {
    const CommandResult r = run({"simulate", "--model", "mlp", "--batch", number});
    EXPECT_EQ(r.code, 2) << number;
    EXPECT_NE(r.err.find("--batch: '" + number + "' is not a whole number from 1 to 16777216"), std::string::npos)
        << r.err;
  }
}

TEST_F(CliUsage, HelpIsAsWideAsTheTerminal) {
  const auto lines_of = [this](const char *columns) {
    ::setenv("COLUMNS", columns, 1);
    const CommandResult r = run({"help", "cosim"});
    ::unsetenv("COLUMNS");
    EXPECT_EQ(r.code, 0);
    std::vector<std::string> lines;
    std::istringstream in(r.out);
    for (std::string line; std::getline(in, line);)
      lines.push_back(line);
    return lines;
  };
  for (const std::size_t width : {60U, 80U, 120U})
    for (const std::string &line : lines_of(std::to_string(width).c_str())) {
      const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
      EXPECT_TRUE(line.size() <= width || line.find(' ', begin) == std::string::npos) << width << ": " << line;
    }
  const std::vector<std::string> narrow = lines_of("80");
  const auto model = std::find_if(narrow.begin(), narrow.end(),
                                  [](const std::string &line) { return line.rfind("  --model ", 0) == 0; });
  ASSERT_NE(model, narrow.end());
  EXPECT_EQ(model->find("Network: a name"), 30U);
  EXPECT_EQ((model + 1)->find_first_not_of(' '), 30U) << "what follows stands below the description";
}

TEST(Nearest, IsTheNearestOrNone) {
  const Words names{"cosim", "simulate", "asm", "disasm", "search"};
  EXPECT_EQ(nearest("cosin", names), "cosim");
  EXPECT_EQ(nearest("dis", names), "disasm");
  EXPECT_EQ(nearest("serach", names), "search");
  EXPECT_EQ(nearest("a", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("quit", names), "");
}

} // namespace
} // namespace gradweave::test
