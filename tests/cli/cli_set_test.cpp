// --set: fields of machines and networks with other values than their files say.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

class CliSet : public CommandLineTest {
protected:
  static constexpr const char *kNetwork = "batch = 4\n[[layer]]\nname='a.b'\nk=8\nn=8\n[[layer]]\nname='c'\nk=8\nn=8\n";
  CommandResult simulate(const std::vector<std::string> &set, const std::string &npu = "test8") {
    std::vector<std::string> arguments{"simulate", "--model", write("net.toml", kNetwork), "--npu", npu,
                                       "--json",   "r.json"};
    for (const std::string &one : set)
      arguments.insert(arguments.end(), {"--set", one});
    return run(arguments);
  }
  nlohmann::json report() const { return nlohmann::json::parse(read_file(work() / "r.json")); }
  std::string error(const std::vector<std::string> &set, int code) {
    const CommandResult r = simulate(set);
    EXPECT_EQ(r.code, code) << r.out << r.err;
    return r.err;
  }
};

/// The same as a file that says so.
TEST_F(CliSet, IsAsIfTheFileSaidSo) {
  ASSERT_EQ(simulate({"npu.rows=4", "npu.cols=6", "npu.bus_bytes=8", "memory.latency_cycles=77"}).code, 0);
  const auto set = report();
  std::string text = read_file("configs/test8.toml");
  const auto replace = [&text](const std::string &key, const std::string &value) {
    const std::size_t at = text.find("\n" + key + " =") + 1;
    text.replace(at, text.find('\n', at) - at, key + " = " + value);
  };
  replace("rows", "4");
  replace("cols", "6");
  replace("bus_bytes", "8");
  replace("latency_cycles", "77");
  write("mine.toml", text);
  ASSERT_EQ(simulate({}, "./mine.toml").code, 0);
  const auto said = report();
  ASSERT_EQ(set["layers"].size(), 2U);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(set["layers"][i]["counters"], said["layers"][i]["counters"]);
  ASSERT_EQ(simulate({}).code, 0);
  EXPECT_NE(set["layers"][0]["cycles"], report()["layers"][0]["cycles"]);
}

TEST_F(CliSet, ReachesFieldsOfTheNetwork) {
  ASSERT_EQ(simulate({"net.batch=16", "net.a.b.n=24", "net.c.k=24"}).code, 0);
  const auto layers = report()["layers"];
  EXPECT_EQ(layers[0]["m"], 16);
  EXPECT_EQ(layers[0]["n"], 24);
  EXPECT_EQ(layers[1]["k"], 24);
}

TEST_F(CliSet, TheRepeatedCommandHasIt) {
  const CommandResult r = simulate({"npu.rows=4", "net.batch=2"});
  EXPECT_NE(r.out.find("--set npu.rows=4 --set net.batch=2"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("test8+rows=4"), std::string::npos) << r.out;
}

TEST_F(CliSet, IsCheckedAsTheFileIs) {
  const auto expect = [](const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(error({"npu.rows=1000"}, 3), "--set npu.rows=1000: rows = 1000 is out of range; use 2 to 512");
  expect(error({"npu.rowz=8"}, 3), "--set npu.rowz=8: unknown key 'rowz' in [npu]; known keys: name, rows");
  expect(error({"npu.rows=many"}, 3), "--set npu.rows=many: 'many' is no value; write a number, or text in \"quotes\"");
  expect(error({"memory.bandwidth_gb_s=\"x\""}, 3), "bandwidth_gb_s must be a number, but is of type string");
  expect(error({"net.batch=0"}, 3), "net.toml: batch = 0 is out of range");
  expect(error({"net.bach=2"}, 3), "net.toml: unknown key 'bach' in the network");
  expect(error({"net.d.n=2"}, 3), "net.toml: there is no layer 'd', of which n could be 2");
  expect(error({"rows=4"}, 2), "--set rows=4: no TABLE.FIELD=VALUE");
  expect(error({"dram.size=4"}, 2), "there is no table 'dram'; use npu, memory, energy or net");
  expect(error({"npu.rows=4", "npu.rows=8"}, 2), "npu.rows has a value already");
}

TEST_F(CliSet, AnotherNpuTakesAnRtlOfItsOwn) {
  ::setenv("GRADWEAVE_LIB_DIR", work().c_str(), 1); // else it would be built
  const CommandResult r =
      run({"cosim", "--model", write("net.toml", kNetwork), "--npu", "test8", "--set", "npu.rows=4"});
  ::unsetenv("GRADWEAVE_LIB_DIR");
  EXPECT_EQ(r.code, 4) << r.out;
  EXPECT_NE(r.err.find("no Verilated NPU for configuration 'test8+rows=4'"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("libgradweave_rtl_test8-rows-4.so"), std::string::npos) << r.err;
}

TEST_F(CliSet, VariablesOfGraphs) {
  const CommandResult r = run(
      {"simulate", "--model", "lenet", "--npu", "test8", "--set", "net.batch=2", "--layers", "0", "--json", "r.json"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(report()["layers"][0]["m"].get<int>() % 2, 0);
  const CommandResult unknown = run({"simulate", "--model", "lenet", "--set", "net.pixel=2"});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_NE(unknown.err.find("no variable 'pixel' that 2 could replace"), std::string::npos) << unknown.err;
}

} // namespace
} // namespace gradweave::test
