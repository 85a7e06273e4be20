// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this family.
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary.h"
#include "kernels_cpu/elementwise/cast.h"
#include "kernels_cpu/elementwise/clip.h"
#include "kernels_cpu/elementwise/unary.h"
#include "kernels_cpu/elementwise/where.h"

namespace intarsia::cpu {

extern const KernelList elementwise_kernels;
constinit const KernelList elementwise_kernels = kernel_list<
    EachPair<FastUnary,
             Types<EluOp, ErfOp, ExpOp, GeluOp, MishOp, SigmoidOp, SoftplusOp, SwishOp, TanhOp>,
             Types<float>>,
    EachPair<
        Unary,
        Types<AcosOp, AcoshOp, AsinOp, AsinhOp, AtanOp, AtanhOp, CeilOp, CeluOp, CosOp, CoshOp,
              EluOp, ErfOp, ExpOp, FloorOp, GeluOp, HardSigmoidOp, HardSwishOp, IsInfOp, IsNaNOp,
              LeakyReluOp, LogOp, MishOp, ReciprocalOp, RoundOp, SeluOp, SigmoidOp, SinOp, SinhOp,
              SoftplusOp, SoftsignOp, SqrtOp, SwishOp, TanOp, TanhOp, ThresholdedReluOp>,
        Floats>,
    EachPair<Unary, Types<AbsOp, SignOp>, Numbers>,
    EachPair<Unary, Types<NegOp, ReluOp>, Join<Floats, SignedIntegers>>, Unary<NotOp, bool>,
    EachPair<Unary, Types<BitwiseNotOp>, Integers>,
    EachPair<Binary,
             Types<AddOp, SubOp, MulOp, DivOp, ModOp, EqualOp, LessOp, LessOrEqualOp, GreaterOp,
                   GreaterOrEqualOp>,
             Numbers>,
    EachPair<Binary, Types<EqualOp, AndOp, OrOp, XorOp>, Types<bool>>,
    EachPair<Binary, Types<BitShiftOp, BitwiseAndOp, BitwiseOrOp, BitwiseXorOp>, Integers>,
    EachPair<Binary, Types<PReluOp>, WideNumbers>, EachPair<Variadic, Types<MinOp, MaxOp>, Numbers>,
    EachPair<Variadic, Types<SumOp, MeanOp>, Floats>,
    EachPair<Pow, Join<Floats, Types<int32_t, int64_t>>, Numbers>, Each<Where, Widths>,
    Each<Clip, Numbers>, EachPair<Cast, Join<Numbers, Types<bool>>, Join<Numbers, Types<bool>>>>();

}  // namespace intarsia::cpu
