// Programs in installations and build directories, where they were made, moved and copied.
#include "base/file/own_tree.hpp"
#include "tests/support/scratch_directory.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace gradweave {
namespace {

namespace fs = std::filesystem;

class OwnTreeTest : public ::testing::Test {
protected:
  /// A directory with models and configs.
  fs::path home(const fs::path &name) const {
    fs::create_directories(top_ / name / "models");
    fs::create_directories(top_ / name / "configs");
    return top_ / name;
  }

  /// A build directory that was made as `noted` for `source`; the command in it.
  fs::path command(const fs::path &name, const fs::path &noted, const fs::path &source) const {
    fs::create_directories(top_ / name / "bin");
    std::ofstream(top_ / name / "CMakeCache.txt")
        << fmt::format("# comment\nCMAKE_CACHEFILE_DIR:INTERNAL={}\nCMAKE_HOME_DIRECTORY:INTERNAL={}\n",
                       (top_ / noted).string(), (top_ / source).string());
    return top_ / name / "bin" / "gradweave";
  }

  const test::ScratchDirectory scratch_;
  const fs::path top_ = scratch_.path();
};

TEST_F(OwnTreeTest, AnInstallationHasItsShareWhereverItIs) {
  const fs::path share = home("prefix/share/gradweave");
  const OwnTree tree = tree_of(top_ / "prefix/bin/gradweave");
  EXPECT_EQ(tree.root, top_ / "prefix");
  EXPECT_EQ(tree.share, share);
  fs::rename(top_ / "prefix", top_ / "moved");
  EXPECT_EQ(tree_of(top_ / "moved/bin/gradweave").share, top_ / "moved/share/gradweave");
  const OwnTree gone = tree_of(top_ / "prefix/bin/gradweave");
  EXPECT_TRUE(gone.share.empty());
  EXPECT_NE(gone.problem.find("prefix/share/gradweave"), std::string::npos) << gone.problem;
  EXPECT_NE(gone.problem.find("GRADWEAVE_HOME"), std::string::npos) << gone.problem;
}

TEST_F(OwnTreeTest, ALibraryMayLieDeepBelowThePrefix) {
  const fs::path share = home("prefix/share/gradweave");
  const OwnTree tree = tree_of(top_ / "prefix/lib/python3/dist-packages/gradweave/_core.so");
  EXPECT_EQ(tree.root, top_ / "prefix");
  EXPECT_EQ(tree.share, share);
  // A build directory inside of an installation is the nearer one.
  const fs::path source = home("prefix/src/tree");
  command("prefix/src/tree/build", "prefix/src/tree/build", "prefix/src/tree");
  EXPECT_EQ(tree_of(top_ / "prefix/src/tree/build/python/gradweave/_core.so").share, source);
}

TEST_F(OwnTreeTest, ABuildHasTheSourceTreeThatItWasMadeFor) {
  const fs::path source = home("tree");
  EXPECT_EQ(tree_of(command("tree/build", "tree/build", "tree")).share, source);
  EXPECT_EQ(tree_of(command("tree/build", "tree/build", "tree")).root, top_ / "tree/build");
  EXPECT_EQ(tree_of(command("elsewhere", "elsewhere", "tree")).share, source);
  // Tests and nested build directories, as of the sanitizers, belong to the nearest.
  EXPECT_EQ(tree_of(top_ / "tree/build/tests/cosim/program").root, top_ / "tree/build");
  EXPECT_EQ(tree_of(command("tree/build/sanitize", "tree/build/sanitize", "tree")).root, top_ / "tree/build/sanitize");
}

TEST_F(OwnTreeTest, ACopyOfABuildNeverHasTheTreeThatItWasCopiedFrom) {
  home("tree");
  for (const char *noted : {"tree/build", "elsewhere"}) {
    const OwnTree copy = tree_of(command("copy/build", noted, "tree"));
    EXPECT_TRUE(copy.share.empty()) << copy.share;
    for (const std::string &part : {(top_ / noted).string(), (top_ / "tree").string(), (top_ / "copy/build").string(),
                                    std::string("cmake --install"), std::string("GRADWEAVE_HOME")})
      EXPECT_NE(copy.problem.find(part), std::string::npos) << part << " is not in: " << copy.problem;
  }
  const fs::path with_sources = home("copy");
  EXPECT_EQ(tree_of(command("copy/build", "tree/build", "tree")).share, with_sources);
}

TEST_F(OwnTreeTest, ModelsAndConfigsInSomeDirectoryAboveAreNoTree) {
  home("");
  EXPECT_TRUE(tree_of(top_ / "project/bin/gradweave").share.empty());
}

} // namespace
} // namespace gradweave
