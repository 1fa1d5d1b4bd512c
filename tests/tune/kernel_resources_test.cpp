#include "kolmo/tune/kernel_resources.hpp"

#include <gtest/gtest.h>

namespace kolmo::tune {
namespace {

// Output of nvcc 13.0.
constexpr std::string_view log = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN5kolmo46_GLOBAL__N__c9b0f542_13_vector_add_cu_ff88aa8c3addIfLi0EEEvPKT_S4_PS2_l' for 'sm_90a'
ptxas info    : Function properties for _ZN5kolmo46_GLOBAL__N__c9b0f542_13_vector_add_cu_ff88aa8c3addIfLi0EEEvPKT_S4_PS2_l
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 28 registers, used 0 barriers
ptxas info    : Compile time = 17.221 ms
mine.cu(3): warning #177-D: variable "x" was declared but never referenced
ptxas info    : Compiling entry function '_Z1bPd' for 'sm_80'
ptxas info    : Function properties for _Z1bPd
    1504 bytes stack frame, 1720 bytes spill stores, 1912 bytes spill loads
ptxas info    : Function properties for _Z6helperd
    16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 32 registers, used 2 barriers, 1504 bytes cumulative stack size, 400 bytes smem, 360 bytes cmem[0]
ptxas info    : Compiling entry function '_Z1bPd' for 'sm_100'
ptxas info    : Used 30 registers, used 1 barriers
)";

TEST(KernelResources, ReadsWhatTheCompilerPrints) {
  const ResourceTable table(log);
  ASSERT_EQ(table.kernels().size(), 3u);
  const KernelResources& b = table.kernels()[1];
  EXPECT_EQ(b.entry, "_Z1bPd");
  EXPECT_EQ(b.capability, "8.0");
  EXPECT_EQ(b.registers, 32);
  EXPECT_EQ(b.barriers, 2);
  EXPECT_EQ(b.shared, 400u);
  EXPECT_EQ(b.stack, 1504u);
  EXPECT_EQ(b.spill_stores, 1720u);
  EXPECT_EQ(b.spill_loads, 1912u);
  EXPECT_EQ(table.kernels()[2].stack, 0u);
  EXPECT_EQ(table.capabilities(), (std::vector<std::string>{"8.0", "9.0", "10.0"}));
}

TEST(KernelResources, OtherTextIsNoTable) {
  EXPECT_TRUE(ResourceTable("").kernels().empty());
  EXPECT_TRUE(ResourceTable("ptxas info    : Used 3 registers\n").kernels().empty());
  EXPECT_TRUE(ResourceTable("ptxas info    : Compiling entry function '_Z1b").kernels().empty());
  EXPECT_TRUE(ResourceTable(std::string(1000, '\'')).kernels().empty());
}

TEST(KernelResources, FindsAKernelByTheSymbolOfAnotherCompiler) {
  const ResourceTable table(log);
  const Symbol add{"_ZN5kolmo12_GLOBAL__N_13addIfLi0EEEvPKT_S4_PS2_l", "vector_add.cu.cpp"};
  ASSERT_NE(table.find(add, "9.0"), nullptr);
  EXPECT_EQ(table.find(add, "9.0")->registers, 28);
  EXPECT_EQ(table.find(add, "8.0"), nullptr);
  EXPECT_EQ(table.find({"_ZN5kolmo12_GLOBAL__N_13addIfLi1EEEvPKT_S4_PS2_l", ""}, "9.0"), nullptr);
  EXPECT_EQ(table.find({"_Z1bPd", ""}, "10.0")->registers, 30);
  EXPECT_EQ(table.find({}, "9.0"), nullptr);
}

TEST(KernelResources, KernelsOfOneNameAreToldApartByTheirSource) {
  const auto entry = [](const std::string& source, int registers) {
    const std::string unnamed =
        "_GLOBAL__N__01234567_" + std::to_string(source.size()) + "_" + source + "_89abcdef";
    return "ptxas info : Compiling entry function '_ZN" + std::to_string(unnamed.size()) + unnamed +
           "3runEv' for 'sm_90'\nptxas info : Used " + std::to_string(registers) + " registers\n";
  };
  const ResourceTable table(entry("softmax_cu", 10) + entry("fused_softmax_cu", 20) + entry("sum_cu", 30));
  ASSERT_EQ(table.kernels().size(), 3u);
  const auto registers = [&](const char* file) {
    const KernelResources* k = table.find({"_ZN12_GLOBAL__N_13runEv", file}, "9.0");
    return k ? k->registers : -1;
  };
  EXPECT_EQ(registers("softmax.cu.cpp"), 10);
  EXPECT_EQ(registers("fused_softmax.cu.cpp"), 20);
  EXPECT_EQ(registers("tmpxft_00000a3b_00000000-6_sum.cudafe1.cpp"), 30);
  EXPECT_EQ(registers("other.cu.cpp"), -1);
}

TEST(KernelResources, DependentParametersMayBeSpelledDifferently) {  // by nvcc 13.0 and g++ 12
  const ResourceTable table(
      "ptxas info : Compiling entry function '_Z3sumIdEvPNSt11conditionalIL_ZSt9is_same_vEdfE4typeE' for "
      "'sm_90'\n"
      "ptxas info : Used 8 registers\n");
  EXPECT_NE(table.find({"_Z3sumIdEvPNSt11conditionalIX9is_same_vIT_dEEdfE4typeE", ""}, "9.0"), nullptr);
  EXPECT_EQ(table.find({"_Z3sumIfEvPNSt11conditionalIX9is_same_vIT_dEEdfE4typeE", ""}, "9.0"), nullptr);
}

TEST(KernelResources, HalfPrecisionOfTheEmulatedGpuIsCudas) {
  const ResourceTable table(
      "ptxas info : Compiling entry function '_Z1cP6__half' for 'sm_90'\nptxas info : Used 8 registers\n");
  EXPECT_NE(table.find({"_Z1cPN4simt10SmallFloatINS_8Binary16EEE", ""}, "9.0"), nullptr);
}

TEST(KernelResources, ShortNames) {
  EXPECT_EQ(short_name("_ZN5kolmo12_GLOBAL__N_13addIfLi0EEEvPKT_S4_PS2_l"), "add<float, 0>");
  EXPECT_EQ(short_name("_Z1bPd"), "b");
  EXPECT_EQ(short_name("plain"), "plain");
}

void some_function() {}

TEST(KernelResources, SymbolsOfThisProgram) {
  const Symbol symbol = symbol_of(reinterpret_cast<const void*>(&some_function));
  EXPECT_EQ(short_name(symbol.name), "tune::some_function");
  EXPECT_EQ(symbol.file, "kernel_resources_test.cpp");
  int here = 0;
  EXPECT_EQ(symbol_of(&here).name, "");
}

}  // namespace
}  // namespace kolmo::tune
