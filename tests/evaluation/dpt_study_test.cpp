// The evaluation of deep partitioned training: study and figures know the same numbers, those that are to be had are,
// and what is wrong in a study is named.
#include "app/evaluation/dpt/figures.hpp"
#include "app/evaluation/papers.hpp"
#include "graph/frontend/load_network.hpp"
#include "graph/layers.hpp"
#include "sw_models/config/config_error.hpp"
#include "tests/cli/command_line.hpp"
#include "tests/evaluation/well_formed.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <set>

namespace gradweave::test {
namespace {

using namespace evaluation;
using nlohmann::json;

const std::filesystem::path kDptStudy = std::filesystem::path(GW_SOURCE_DIR) / "app/evaluation/dpt/dpt.toml";

class DptStudyTest : public CommandLineTest {
protected:
  /// What is said about the study with `from` replaced by `to`.
  static std::string problem(const std::string &from, const std::string &to) {
    std::string changed = read_file(kDptStudy);
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    try {
      dpt::read_dpt_study(parse_study(changed, kDptStudy), {});
    } catch (const ConfigError &error) {
      const std::string text = error.what(), file = kDptStudy.string();
      return text.rfind(file, 0) == 0 ? "study" + text.substr(file.size()) : text;
    }
    return {};
  }

  /// What is said about a list of cycles.
  static std::string cycles_problem(const std::string &text) {
    try {
      dpt::parse_cycles(text, "cycles.csv");
    } catch (const ConfigError &error) {
      return error.what();
    }
    return {};
  }

  json results(const std::vector<std::string> &more = {}) {
    std::vector<std::string> all{"reproduce", "dpt", "--out", "out", "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    const CommandResult r = run(all);
    EXPECT_EQ(r.code, 0) << r.err;
    return json::parse(read_file(work() / "out/results.json"));
  }
};

/// A field of the rows by figure and key.
std::map<std::string, double> column(const json &results, const std::string &field) {
  std::map<std::string, double> found;
  for (const json &row : results.at("rows"))
    if (row.at(field).is_number())
      found[row.at("figure").get<std::string>() + " " + row.at("key").get<std::string>()] = row.at(field);
  return found;
}

} // namespace

TEST_F(DptStudyTest, EveryPublishedNumberHasARow) {
  const Study study = load_study(kDptStudy);
  const Paper &paper = paper_of(study);
  ASSERT_EQ(paper.name, "dpt");
  const std::unique_ptr<Repetition> repetition = paper.open(study, {{}, "", "gradweave reproduce dpt", 1});
  WantedUnits wanted;
  std::set<std::string> rows;
  for (const std::string_view id : paper.figures())
    for (const Row &row : repetition->figure(id, wanted, true).rows) {
      EXPECT_EQ(row.command, "gradweave reproduce dpt --figure " + std::string(id));
      EXPECT_TRUE(rows.insert(row.figure + " " + row.key).second) << row.key;
    }
  for (const Published &p : study.published)
    EXPECT_EQ(rows.count(p.figure + " " + p.key), 1U) << p.figure << ' ' << p.key;
  EXPECT_EQ(study.published.size(), 14 + 120 + 4 + 9U);
  EXPECT_EQ(wanted.works().size(), 3U);
}

TEST_F(DptStudyTest, MakesAPageInWhichEachPublishedNumberHasBothAccountings) {
  const json all = results();
  EXPECT_EQ(xml_problem(read_file(work() / "out/index.html")), "");
  EXPECT_EQ(all.at("figures").size(), dpt::figures().size());
  for (const json &figure : all.at("figures"))
    for (const char *kind : {"charts", "plots"})
      for (const json &drawing : figure.value(kind, json::array()))
        EXPECT_EQ(xml_problem(read_file(work() / "out" / (drawing.at("name").get<std::string>() + ".svg"))), "");
  for (const json &row : all.at("rows")) {
    if (!row.at("paper").is_number()) continue;
    EXPECT_TRUE(row.at("ours").is_number() && row.at("true_gradient").is_number()) << row.at("key");
  }
  const std::string page = read_file(work() / "out/index.html");
  results();
  EXPECT_EQ(read_file(work() / "out/index.html"), page) << "the same from kept results";
}

/// Limits that issue and docs/partitioned-training.md state.
TEST_F(DptStudyTest, HasTheNumbersOfThePaper) {
  const json all = results({"--figure", "table3,table4,5,text"});
  const std::map<std::string, double> ours = column(all, "ours"), paper = column(all, "paper");
  for (const char *network : {"ResNet-50", "Faster R-CNN"}) {
    const std::string key = std::string("table3 ") + network;
    EXPECT_NEAR(ours.at(key + ".a") / paper.at(key + ".a"), 1, 0.01) << network;
    EXPECT_NEAR(ours.at(key + ".w") / paper.at(key + ".w"), 1, 0.01) << network;
  }
  double squares = 0, worst = 0;
  unsigned entries = 0, within_one = 0;
  for (const auto &[key, value] : paper) {
    if (key.rfind("table4 ", 0) != 0) continue;
    const double difference = ours.at(key) - value;
    if (key.find(".cut") != std::string::npos) {
      within_one += std::abs(difference) <= 1 ? 1 : 0;
      continue;
    }
    ++entries;
    squares += difference * difference;
    worst = std::max(worst, std::abs(difference));
  }
  EXPECT_EQ(entries, 60U);
  EXPECT_LE(std::sqrt(squares / entries), 0.8);
  EXPECT_LE(worst, 1.8);
  EXPECT_GE(within_one, 54U);
  EXPECT_NEAR(ours.at("table4 rms"), std::sqrt(squares / entries), 1e-9);
  for (const char *dimension : {"5 128", "5 256", "5 512"})
    EXPECT_NEAR(ours.at(dimension), paper.at(dimension), 0.05) << dimension;
  EXPECT_NEAR(ours.at("5 memory"), 39.3, 0.05);
  EXPECT_EQ(ours.at("text layers.ResNet-50"), 54);
  EXPECT_EQ(ours.at("text layers.Faster R-CNN"), 46);
}

/// Table 3 is a B + w but for one digit.
TEST_F(DptStudyTest, NamesTheMisprint) {
  const json all = results({"--figure", "table3"});
  const auto paper = column(all, "paper");
  for (const json &row : all.at("rows")) {
    const std::string key = row.at("key"), note = row.at("note");
    EXPECT_EQ(note.find("a misprint of 232873338") != std::string::npos, key == "ResNet-50.128") << key;
    const std::size_t dot = key.rfind('.');
    if (!std::isdigit(static_cast<unsigned char>(key.back())) || key == "ResNet-50.128") continue;
    const std::string network = "table3 " + key.substr(0, dot);
    EXPECT_EQ(paper.at("table3 " + key),
              paper.at(network + ".a") * std::stod(key.substr(dot + 1)) + paper.at(network + ".w"))
        << key;
  }
}

/// The simplest baseline, the NPU alone and any assignment at all stand on either side.
TEST_F(DptStudyTest, PipelinesAreNoSlowerThanSimplerOnes) {
  const auto savings = column(results({"--figure", "beyond"}), "true_gradient");
  EXPECT_EQ(savings.size(), 3 * 2 * 3 * 3 * 3U) << "three tables of cases, devices, mini-batches and ways";
  for (const auto &[key, value] : savings) {
    const std::size_t dot = key.rfind('.');
    if (key.substr(dot) != ".pipeline") continue;
    EXPECT_GE(value, 0) << key;
    EXPECT_GE(value, savings.at(key.substr(0, dot) + ".shares")) << key;
  }
  for (const auto &[key, least] : std::initializer_list<std::pair<const char *, double>>{{"1.4.512", 48},
                                                                                         {"2.4.512", 48},
                                                                                         {"3.4.512", 40},
                                                                                         {"1.2.512", 33},
                                                                                         {"2.2.512", 33},
                                                                                         {"3.2.512", 28},
                                                                                         {"1.4.32", 20},
                                                                                         {"2.4.32", 20},
                                                                                         {"3.4.32", 20},
                                                                                         {"1.2.32", 20},
                                                                                         {"2.2.32", 20},
                                                                                         {"3.2.32", 20}})
    EXPECT_GE(savings.at(fmt::format("beyond exact.ResNet-50.{}.pipeline", key)), least) << key;
}

/// The list of cycles is what the commands in its head give, of some layers that compile soon.
TEST_F(DptStudyTest, CyclesAreThoseOfTheTimingModel) {
  const dpt::MeasuredCycles cycles = dpt::parse_cycles(read_file(kDptStudy.parent_path() / "cycles.csv"), "cycles.csv");
  const auto simulated = [&](const std::string &npu, const std::string &batch, const std::string &pass) {
    const CommandResult r = run({"simulate", "--model", "resnet50", "--batch", batch, "--npu", npu, "--pass", pass,
                                 "--layers", "conv5_2.reduce,fc", "--plan-cache", "off", "--quiet", "--json", "-"});
    EXPECT_EQ(r.code, 0) << r.err;
    return json::parse(r.out).at("layers");
  };
  for (const auto &[npu, batch] : {std::pair{"near32x16", 4}, {"host128x128", 16}})
    for (const bool forward : {true, false})
      for (const json &layer : simulated(npu, std::to_string(batch), forward ? "forward" : "backward")) {
        const partitioned::LayerCycles &c = cycles.at(npu).at(batch).at(layer.at("name"));
        EXPECT_EQ((forward ? c.forward : c.dx) * batch, layer.at("cycles").get<double>())
            << npu << ' ' << layer.at("name") << ": make app/evaluation/dpt/cycles.csv again, as its head says";
      }
}

TEST_F(DptStudyTest, ErrorsOfStudiesNameFileLineAndRemedy) {
  EXPECT_EQ(problem("devices = [2, 4] ", "devices = [2, 4] "), "");
  EXPECT_EQ(problem("devices = [2, 4] ", "devices = [3, 4] "),
            "study:7: a mini-batch of 32 is not divisible by 3 devices; take a multiple of these");
  EXPECT_EQ(problem("devices = [2, 4] ", "devices = [0] "), "study:9: devices must be above 0");
  EXPECT_EQ(problem("device_rate = 4 ", "device_rate = 0 ").find("device_rate must be above 0") != std::string::npos,
            true);
  EXPECT_NE(problem("link_rate = 4e9 ", "link_rate = 0.0 ").find("link_rate must be above 0"), std::string::npos);
  EXPECT_NE(problem("storage = [32, 16]", "storage = [32]").find("storage has 1 numbers; write [rows, columns]"),
            std::string::npos);
  EXPECT_NE(problem("baseline = \"2\"", "baseline = \"4\"").find("no case '4'; there are: 1, 2, 3"), std::string::npos);
  EXPECT_NE(problem("name = \"Faster R-CNN\"", "name = \"ResNet-50\"").find("a second network"), std::string::npos);
  EXPECT_NE(
      problem("host_npu = \"host48x48\"", "host_npu = \"host4\"").find("no cycles of NPU 'host4', which case 1 names"),
      std::string::npos);
  EXPECT_NE(problem("cycles_group = 16", "cycles_group = 6")
                .find("no cycles of 6 images at a time on NPU 'host48x48'; add them"),
            std::string::npos);
  EXPECT_NE(problem("most_depth", "most_deph").find("has no 'most_depth'; add it"), std::string::npos);
}

TEST_F(DptStudyTest, ErrorsOfCyclesNameFileLineAndRemedy) {
  EXPECT_EQ(cycles_problem("# a comment\n\na,4,l,8,16\n"), "");
  EXPECT_EQ(dpt::parse_cycles("a,4,l,8,16\n", "")["a"][4]["l"].dx, 4);
  EXPECT_EQ(cycles_problem("a,4,l,8\n"), "cycles.csv:1: 4 fields; write npu,batch,layer,forward,backward");
  EXPECT_EQ(cycles_problem("# c\na,4,l,8,x\n"), "cycles.csv:2: backward = 'x' must be a whole number above 0");
  EXPECT_EQ(cycles_problem("a,0,l,8,9\n"), "cycles.csv:1: batch = '0' must be a whole number above 0");
  EXPECT_EQ(cycles_problem("a,4,l,8,9\na,4,l,8,9\n"),
            "cycles.csv:2: a second line of layer 'l', 4 images at a time, on NPU 'a'; leave one out");
}

TEST_F(DptStudyTest, RefusesWhatSaysNothingAboutIt) {
  const CommandResult r = run({"reproduce", "dpt", "--network", "res"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("no network 'res' in dpt; there are: ResNet-50, Faster R-CNN"), std::string::npos) << r.err;
  EXPECT_EQ(run({"reproduce", "dpt", "--rtl"}).code, 2);
}

/// Of ResNet-50: what its files say, and what passes cuts inside and between blocks.
TEST_F(DptStudyTest, LayersAreThoseOfTheGraph) {
  const std::filesystem::path file = std::filesystem::path(GW_SOURCE_DIR) / "models/resnet50.graph";
  const graph::Graph graph = compiler::load_graph(file);
  std::vector<partitioned::LayerShape> shapes;
  for (const compiler::Layer &layer : graph::network_of(graph, file).layers) {
    shapes.push_back(dpt::shape_of(layer, file.string()));
    EXPECT_EQ(partitioned::weights_of(shapes.back()), 1.0 * layer.k * layer.n) << layer.name;
    const partitioned::LayerShape &s = shapes.back();
    EXPECT_EQ(partitioned::output_side(s, s.height, s.pad_height, partitioned::Outputs::kPadded) *
                  partitioned::output_side(s, s.width, s.pad_width, partitioned::Outputs::kPadded),
              layer.m)
        << layer.name;
  }
  ASSERT_EQ(shapes.size(), 54U);
  const std::vector<double> maps = dpt::maps_of(graph);
  ASSERT_EQ(maps.size(), 55U);
  EXPECT_EQ(maps[0], 224 * 224 * 3) << "the image";
  EXPECT_EQ(maps[1], 56 * 56 * 64) << "what was pooled";
  EXPECT_EQ(maps[2], 56 * 56 * (64 + 64)) << "and what the shortcut reads";
  EXPECT_EQ(maps[5], 56 * 56 * 256) << "between blocks";
  EXPECT_EQ(maps[6], 56 * 56 * (64 + 256)) << "inside of one";
  EXPECT_EQ(maps[53], 2048);
  EXPECT_EQ(maps[54], 1000);
  const std::vector<partitioned::LayerShape> late = dpt::with_late_strides(shapes);
  EXPECT_EQ(late[11].stride, 1U);
  EXPECT_EQ(late[12].stride, 2U);
  EXPECT_EQ(late[12].height, 56U);
  EXPECT_EQ(late[14].stride, 2U) << "the projection keeps its own";
  EXPECT_EQ(late[13].height, shapes[13].height);
}

TEST_F(DptStudyTest, ConvolutionsThatTheModelDoesNotKnowAreNamed) {
  compiler::Layer layer;
  layer.name = "dw";
  layer.conv.emplace();
  layer.conv->groups = 2;
  try {
    dpt::shape_of(layer, "net.graph");
    FAIL();
  } catch (const ConfigError &error) {
    EXPECT_EQ(std::string(error.what()),
              "net.graph: layer 'dw' has sides that differ, groups or dilation, which this model "
              "does not know; take another network");
  }
}

} // namespace gradweave::test
