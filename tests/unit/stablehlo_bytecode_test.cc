// Bytecode with the stablehlo dialect itself, as MLIR's Operation.write_bytecode writes it.
#include <gtest/gtest.h>

#include <charconv>

#include "formats/stablehlo/read.h"
#include "formats/text/printer.h"

namespace shoal::internal {
namespace {

// A reduce, a gather, a dot with precisions, a slice, a compare and a token.
constexpr std::string_view kModule =
    "4d4cef520d4d4c495232332e302e3067697400012d070105091701030f030507130511171b1f23272b2f130371431b01370b130b130b0b0b"
    "130f0b07131f13332f1353131313535353131313050d2b1f0b0b0b0b0119070f0f1717131717270b0f1705030702ea0305191701072f051b"
    "170103030d11051d051f170103231d131505211f170103932503090000003f1701050f230503110000000000000000250f11010000000300"
    "00001701090f230505210100000000000000020000000000000017010b0f01053b3d17010d0f230505210200000000000000020000000000"
    "00002305052100000000000000000100000000000000230505210100000000000000010000000000000017010f0f1701110f170113050f03"
    "05030101010301050b010103050301110311010703050b0b1b01010102041b050909011b051109011b0309011b050905131b050905150505"
    "0919090b0d071901090102021b050905010104e905015007010704d903010503500f030704c503132305131133170007421b050303095603"
    "07030b05010507042d03070b0507030703001306030303050103150403030507422109030f0b46250b03070501090d46290d0307050b0b0f"
    "46310f0317030d11463311030d050f0f0504350907110d030603010501000a0223050f0b0d0509110d190f0f130f0f150b116275696c7469"
    "6e0066756e6300737461626c65686c6f006d6f64756c650072657475726e00636f6e7374616e74007265647563650067617468657200646f"
    "745f67656e6572616c00736c69636500636f6d7061726500616464002d00736d616c6c006d61696e007075626c6963007800084113050b01"
    "0d010901010b1b0319031d031f073701230701394f072b2d2f057f41";

TEST(StablehloBytecode, ReadsTheDialectItself) {
  std::string bytes;
  for (size_t i = 0; i < kModule.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(kModule.data() + i, kModule.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  auto source = Source::FromString("module", bytes);
  Diags diags;
  const std::unique_ptr<Module> module = ReadStablehlo(source, /*strict=*/true, diags);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(PrintModule(*module, PrintOptions::Short()), R"(HloModule small, entry_computation_layout={(f32[4,2]{1,0}, token[])->(f32[2]{0}, pred[2,1]{1,0}, f32[2,2]{1,0}, token[])}

region_0 {
  Arg_0 = f32[] parameter(0)
  Arg_1.1 = f32[] parameter(1)
  ROOT add.1 = f32[] add(Arg_0, Arg_1.1)
}

ENTRY main {
  x = f32[4,2]{1,0} parameter(0)
  constant.1 = f32[] constant(0.5)
  reduce.1 = f32[2]{0} reduce(x, constant.1), dimensions={0}, to_apply=region_0
  constant.2 = s32[2,1]{1,0} constant({ {1}, {3} })
  gather.1 = f32[2,2]{1,0} gather(x, constant.2), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}
  dot.1 = f32[2,2]{1,0} dot(gather.1, gather.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,default}
  slice.1 = f32[2,1]{1,0} slice(dot.1), slice={[0:2], [1:2]}
  compare.1 = pred[2,1]{1,0} compare(slice.1, slice.1), direction=LT
  Arg_1 = token[] parameter(1)
  ROOT tuple.1 = (f32[2]{0}, pred[2,1]{1,0}, f32[2,2]{1,0}, token[]) tuple(reduce.1, compare.1, dot.1, Arg_1)
}

)");
}

}  // namespace
}  // namespace shoal::internal
