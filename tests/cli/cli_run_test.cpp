// Runs of the command that go well: tables, reports, streams.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace gradweave::test {
namespace {

using Json = nlohmann::json;

class CliRun : public CommandLineTest {
protected:
  std::vector<std::string> cosim(const std::vector<std::string> &more) const {
    std::vector<std::string> arguments{"cosim",     "--model",   write("t.csv", kLayers), "--npu", "test8",
                                       "--backend", "functional"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

std::string last_line(const std::string &text) {
  const std::size_t at = text.rfind('\n', text.size() - 2);
  return text.substr(at == std::string::npos ? 0 : at + 1);
}

TEST_F(CliRun, PassEndsTheTable) {
  const CommandResult r = run(cosim({}));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(last_line(r.out), "PASS\n");
  for (const char *text : {"20x30x40", "seed 1", "elements of dX", "every bit against the golden model", "reproduce"})
    EXPECT_NE(r.out.find(text), std::string::npos) << text << " is not in\n" << r.out;
}

TEST_F(CliRun, LayersStayInNetworkOrderWhateverTheJobs) {
  const CommandResult r = run(cosim({"--jobs", "3"}));
  EXPECT_LT(r.out.find("20x30x40"), r.out.find("33x17x50"));
  EXPECT_LT(r.out.find("33x17x50"), r.out.find("64x48x16"));
}

TEST_F(CliRun, ReportHasWhatTheTableHas) {
  const CommandResult r = run(cosim({"--schedule", "all", "--data", "special", "--pass", "both", "--json", "r.json"}));
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  const Json report = Json::parse(read_file(work() / "r.json"));
  EXPECT_EQ(report.at("report_version"), 2);
  EXPECT_EQ(report.at("verdict"), "PASS");
  EXPECT_EQ(report.at("seed"), 1);
  EXPECT_EQ(report.at("totals").size(), 6U);
  ASSERT_EQ(report.at("layers").size(), 18U);
  for (const Json &layer : report.at("layers")) {
    EXPECT_EQ(layer.at("outcome"), "pass");
    EXPECT_EQ(layer.at("outputs").size(), layer.at("name") == "a" ? 2U : 3U); // the first layer has no dX
  }
  EXPECT_EQ(files(), (std::vector<std::string>{"r.json", "t.csv"}));
}

TEST_F(CliRun, TuningSaysWhatItDid) {
  const CommandResult r = run({"simulate", "--model", write("t.csv", kLayers), "--npu", "test8", "--schedule", "ideal",
                               "--tune=30", "--json", "r.json"});
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  for (const char *text : {"ideal>", "bounds     compute", "tuning     ideal: ", "plans tried", "--tune 30"})
    EXPECT_NE(r.out.find(text), std::string::npos) << text << " is not in\n" << r.out;
  const Json report = Json::parse(read_file(work() / "r.json"));
  EXPECT_EQ(report.at("tune"), 30);
  std::uint64_t bound = 0;
  std::uint64_t before = 0;
  for (const Json &layer : report.at("layers")) {
    EXPECT_EQ(layer.at("cycles"), layer.at("predicted_cycles"));
    EXPECT_LE(layer.at("cycles"), layer.at("tuning").at("cycles_before"));
    EXPECT_EQ(layer.at("tuning").at("candidates"), layer.at("dx") ? 90 : 30);
    EXPECT_GT(layer.at("bound"), layer.at("compute_bound"));
    EXPECT_GT(layer.at("bound"), layer.at("traffic_bound"));
    EXPECT_LE(layer.at("bound"), layer.at("cycles"));
    bound += layer.at("bound").get<std::uint64_t>();
    before += layer.at("tuning").at("cycles_before").get<std::uint64_t>();
  }
  EXPECT_EQ(report.at("totals")[0].at("bound"), bound);
  EXPECT_EQ(report.at("totals")[0].at("tuning").at("cycles_before"), before);
}

TEST_F(CliRun, TuningTakesANumberOrNone) {
  const std::string model = write("t.csv", kLayers);
  const CommandResult usual = run({"compile", "--model", model, "--npu", "test8", "--layers", "0", "--tune"});
  EXPECT_EQ(usual.code, 0) << usual.err;
  EXPECT_NE(usual.out.find("tuning: 1000 plans tried"), std::string::npos) << usual.out;
  EXPECT_EQ(run({"compile", "--model", model, "--tune=many"}).code, 2);
}

TEST_F(CliRun, SchedulesAreExplainedLayerByLayer) {
  const std::string model = write("t.csv", "one,16,16,16\ntwo,16,16,16\n");
  const std::vector<std::string> compile{"compile", "--model", model,        "--npu",  "test8c2",
                                         "--pass",  "forward", "--schedule", "flexer", "--explain"};
  const auto to = [&](const std::string &file) {
    std::vector<std::string> words = compile;
    words.push_back(file);
    return words;
  };
  const CommandResult printed = run(to("-"));
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out.rfind("# 0 one: 16x16x16, flexer; ", 0), 0U) << printed.out;
  EXPECT_NE(printed.out.find("\n# 1 two: "), std::string::npos) << "equal layers are explained, too: " << printed.out;
  EXPECT_NE(printed.out.find("\nstep 1: "), std::string::npos) << printed.out;
  EXPECT_NE(printed.err.find(" cycles = "), std::string::npos) << "the summary gives way: " << printed.err;
  const CommandResult written = run(to("why.txt"));
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(read_file(work() / "why.txt"), printed.out);
  const CommandResult none = run({"compile", "--model", model, "--schedule", "search", "--explain", "no.txt"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("'search' does not explain itself; use one of: flexer"), std::string::npos) << none.err;
  EXPECT_FALSE(std::filesystem::exists(work() / "no.txt"));
}

TEST_F(CliRun, BatchIsThatOfTheCommandLine) {
  const std::string net = write("n.toml", "batch = 2\n[[layer]]\nname = 'a'\nk = 5\nn = 6\n");
  const CommandResult r = run({"compile", "--model", net, "--npu", "test8", "--batch", "7"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("7x5x6"), std::string::npos) << r.out;
  EXPECT_EQ(run({"compile", "--model", write("t.csv", kLayers), "--batch", "7"}).code, 3);
  EXPECT_EQ(run({"compile", "--model", net, "--batch", "0"}).code, 2);
}

TEST_F(CliRun, ReportOnStandardOutputLeavesTheTableToStandardError) {
  const CommandResult r = run(cosim({"--json", "-"}));
  ASSERT_EQ(r.code, 0);
  EXPECT_EQ(Json::parse(r.out).at("verdict"), "PASS");
  EXPECT_NE(r.err.find("PASS"), std::string::npos);
}

TEST_F(CliRun, ASubsetOfLayersHasTheSameData) {
  run(cosim({"--json", "all.json"}));
  run(cosim({"--json", "one.json", "--layers", "c"}));
  const Json all = Json::parse(read_file(work() / "all.json"));
  const Json one = Json::parse(read_file(work() / "one.json"));
  ASSERT_EQ(one.at("layers").size(), 1U);
  EXPECT_EQ(one.at("layers")[0].at("outputs"), all.at("layers")[2].at("outputs"));
}

TEST_F(CliRun, TheSeedChangesTheData) {
  run(cosim({"--json", "1.json"}));
  run(cosim({"--json", "2.json", "--seed", "18446744073709551615"}));
  EXPECT_NE(Json::parse(read_file(work() / "1.json")).at("layers")[0].at("outputs"),
            Json::parse(read_file(work() / "2.json")).at("layers")[0].at("outputs"));
}

TEST_F(CliRun, DryRunRunsNothing) {
  const CommandResult r = run(cosim({"--dry-run", "--json", "r.json"}));
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(files(), std::vector<std::string>{"t.csv"});
}

TEST_F(CliRun, TheReproducingCommandIsQuotedForTheShell) {
  write("it's $HOME.csv", kLayers);
  const CommandResult r = run({"cosim", "--model", "it's $HOME.csv", "--npu", "test8", "--backend", "functional"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("--model 'it'\\''s $HOME.csv'"), std::string::npos) << r.out;
  const CommandResult made =
      run({"cosim", "--model", "it's $HOME.csv", "--npu", "test8", "--backend", "functional", "--from-make"});
  EXPECT_NE(made.out.find("make cosim MODEL='it'\\''s $$HOME.csv'"), std::string::npos) << made.out;
}

TEST_F(CliRun, CompiledStreamsDisassembleAndAssembleToTheSameBits) {
  const CommandResult r = run(
      {"compile", "--model", write("t.csv", kLayers), "--npu", "test8", "--out", "s", "--listing", "--json", "s.json"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(Json::parse(read_file(work() / "s.json")).at("layers").size(), 3U);
  for (const std::string stem : {"0-a", "1-b", "2-c"}) {
    EXPECT_EQ(run({"disasm", "s/" + stem + ".gws", "-o", "text"}).code, 0);
    EXPECT_EQ(run({"asm", "text", "-o", "again.gws"}).code, 0);
    EXPECT_EQ(run({"asm", "s/" + stem + ".lst", "-o", "listed.gws"}).code, 0);
    EXPECT_EQ(read_file(work() / "again.gws"), read_file(work() / "s" / (stem + ".gws")));
    EXPECT_EQ(read_file(work() / "listed.gws"), read_file(work() / "s" / (stem + ".gws")));
  }
}

TEST_F(CliRun, ModelsListsAndShows) {
  const CommandResult all = run({"models"});
  EXPECT_EQ(all.code, 0);
  for (const char *text : {"bert_tiny", "small", "45 x 45"})
    EXPECT_NE(all.out.find(text), std::string::npos) << text;
  EXPECT_NE(run({"models", "bert_tiny"}).out.find("312"), std::string::npos);
  const std::string convolutions = run({"models", "mobilenet"}).out;
  for (const char *text :
       {"32 groups  conv 3 x 3 on 112 x 112 x 32", "X from dw1", "4,231,976 parameters", "arXiv:1704"})
    EXPECT_NE(convolutions.find(text), std::string::npos) << text;
  EXPECT_NE(run({"models", "faster_rcnn"}).out.find("W of rpn0.conv"), std::string::npos);
  EXPECT_NE(run({"models", "large"}).out.find("128 x 128"), std::string::npos);
}

TEST_F(CliRun, ModelsShowsGraphsAndOperators) {
  const std::string bert = run({"models", "bert_tiny"}).out;
  for (const char *text : {"MatMul", "multiply-adds", "626 parameters of a head that the loss brings"})
    EXPECT_NE(bert.find(text), std::string::npos) << text;
  const std::string table = run({"models", "--operators"}).out;
  for (const char *text : {"y = Gemm(x, w)", "strides=[1, 1]", "sums of the columns"})
    EXPECT_NE(table.find(text), std::string::npos) << text;
  EXPECT_EQ(run({"models", "lenet", "--dump-graph", "lenet.graph"}).code, 0);
  EXPECT_EQ(run({"models", "./lenet.graph", "--dump-graph", "-"}).out, read_file(work() / "lenet.graph"));
  EXPECT_EQ(run({"simulate", "--model", "./lenet.graph", "--npu", "test8", "--layers", "4"}).code, 0);
  EXPECT_EQ(run({"models", "--dump-graph", "-"}).code, 2);
  EXPECT_EQ(run({"models", "gemms", "--dump-graph", "-"}).code, 2);
  std::ofstream(work() / "bad.graph") << "input x bf16 [4, 8]\ny = Gem(x)\n";
  const CommandResult bad = run({"simulate", "--model", "./bad.graph", "--npu", "test8"});
  EXPECT_EQ(bad.code, 3);
  EXPECT_NE(bad.err.find("./bad.graph:2: there is no operator 'Gem' (node 'y')"), std::string::npos) << bad.err;
}

TEST_F(CliRun, ConvolutionsAreCheckedDirectly) {
  std::ofstream(work() / "net.toml") << "batch = 2\nlayer = [ { name = 'c', dx = true, conv = { height = 6, width = 5, "
                                        "channels = 4, out_channels = 6, kernel = 3, padding = 1, groups = 2 } } ]\n";
  const CommandResult r =
      run({"cosim", "--model", "./net.toml", "--npu", "test8", "--backend", "functional", "--data", "special"});
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  // dW has 2 groups of 18 x 3 elements, the image's gradient 2 x 6 x 5 x 4.
  EXPECT_NE(r.out.find("convolutions: 348 elements, dX as the image's gradient, against direct convolution"),
            std::string::npos)
      << r.out;
  EXPECT_NE(r.out.find("60x18x3 x2"), std::string::npos) << r.out;
}

TEST_F(CliRun, ReportsSayWhatConvolutionsRead) {
  std::ofstream(work() / "net.toml") << "batch = 2\nlayer = [\n"
                                        "{ name = 'wide', conv = { height = 6, width = 5, channels = 16, out_channels "
                                        "= 8, kernel = 3, padding = 1 } },\n"
                                        "{ name = 'stride', conv = { height = 6, width = 5, channels = 8, out_channels "
                                        "= 8, kernel = 5, stride = 4 } },\n"
                                        "{ name = 'narrow', conv = { height = 6, width = 5, channels = 1, out_channels "
                                        "= 8, kernel = 3, padding = 1 } }\n"
                                        "]\n";
  const auto simulate = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"simulate", "--model", "./net.toml", "--npu", "test8", "--schedule", "in_order"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const CommandResult images = simulate({});
  EXPECT_NE(images.out.find("convolutions: 1 read images; by im2col 1 (less to do), 1 (stride)"), std::string::npos)
      << images.out << images.err;
  const CommandResult none = simulate({"--convolution", "im2col", "--json", "-"});
  EXPECT_EQ(none.out.find("\"convolution\": \"image\""), std::string::npos) << none.out;
  EXPECT_NE(none.out.find("\"convolution\": \"im2col\""), std::string::npos) << none.out;
  EXPECT_NE(simulate({"--json", "-"}).out.find("\"convolution\": \"image\""), std::string::npos);
}

TEST_F(CliRun, EveryCommandHasHelpWithExamples) {
  for (const char *command : {"cosim", "simulate", "compile", "disasm", "asm", "models"}) {
    const CommandResult r = run({command, "--help"});
    EXPECT_EQ(r.code, 0);
    EXPECT_NE(r.out.find("Example"), std::string::npos) << command;
  }
  EXPECT_EQ(run({"version"}).out.rfind("gradweave ", 0), 0U);
}

} // namespace
} // namespace gradweave::test
