package demo

import "github.com/parallax-hpc/parallax/internal/trace"

// A kernelSpec is a GPU kernel. The shape of a launch is a fact of the kernel here.
type kernelSpec struct {
	name      string
	cost      trace.Time
	grid      string // as JSON
	block     string
	registers int64
	shared    int64
}

// The kernels of the model, in the shapes of an accelerator of today.
var (
	kernelNorm = &kernelSpec{"void at::native::(anonymous " +
		"namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::BFloat16 const*, " +
		"c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)", 32_000, "[8192, 1, 1]",
		"[32, 4, 1]", 40, 24}
	kernelGemm = &kernelSpec{
		"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1" +
			"_execute_segment_k_off_kernel__5x_cublas",
		130_000, "[132, 1, 1]", "[384, 1, 1]", 168, 213_440,
	}
	kernelGemmWide = &kernelSpec{
		"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize256x128x64_warpgroupsize2x1x1" +
			"_execute_segment_k_off_kernel__5x_cublas",
		172_000, "[132, 1, 1]", "[384, 1, 1]", 168, 213_440,
	}
	kernelGemmGrad = &kernelSpec{
		"sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x128x64_warpgroupsize1x1x1" +
			"_execute_segment_k_off_kernel__5x_cublas",
		150_000, "[132, 1, 1]", "[384, 1, 1]", 168, 213_440,
	}
	kernelFlash = &kernelSpec{"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, " +
		"128, 128, 4, false, false, cutlass::bfloat16_t>, false, true, false>(pytorch_flash::Flash_fwd_params)",
		155_000, "[16, 4, 16]", "[128, 1, 1]", 255, 65_536}
	kernelFlashBack = &kernelSpec{
		"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<64, " +
			"128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t>, false, true>(pytorch_flash::Flash_bwd_params)",
		380_000, "[16, 4, 16]", "[256, 1, 1]", 255, 147_456,
	}
	kernelNormBack = &kernelSpec{"void at::native::(anonymous " +
		"namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float>(c10::BFloat16 const*, " +
		"c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*, int)", 61_000,
		"[8192, 1, 1]", "[128, 1, 1]", 48, 32}
	kernelGelu = &kernelSpec{"void at::native::vectorized_elementwise_kernel<4, " +
		"at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}, " +
		"std::array<char*, 2ul> >(int, std::array<char*, 2ul>)", 64_000, "[65536, 1, 1]", "[128, 1, 1]", 32, 0}
	kernelGeluBack = &kernelSpec{"void at::native::vectorized_elementwise_kernel<4, " +
		"at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}, " +
		"std::array<char*, 3ul> >(int, std::array<char*, 3ul>)", 92_000, "[65536, 1, 1]", "[128, 1, 1]", 38, 0}
	kernelAdd = &kernelSpec{"void at::native::vectorized_elementwise_kernel<4, " +
		"at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, " +
		"at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)", 36_000, "[16384, 1, 1]", "[128, 1, 1]",
		30, 0}
	kernelEmbed = &kernelSpec{"void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, " +
		"long, unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>)", 44_000,
		"[1056, 1, 1]", "[128, 1, 1]", 36, 0}
	kernelEmbedBack = &kernelSpec{"void at::native::(anonymous namespace)::compute_grad_weight<c10::BFloat16, " +
		"long>(long const*, c10::BFloat16 const*, long const*, long, long, long*, int)", 180_000, "[512, 1, 1]",
		"[128, 1, 1]", 40, 0}
	kernelHead = &kernelSpec{
		"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize256x128x64_warpgroupsize2x1x1" +
			"_execute_segment_k_off_kernel__head_cublas",
		1_150_000, "[132, 1, 1]", "[384, 1, 1]", 168, 213_440,
	}
	kernelLoss = &kernelSpec{"void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, " +
		"float, float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, " +
		"c10::BFloat16 const*, int)", 240_000, "[8192, 1, 1]", "[1024, 1, 1]", 32, 128}
	kernelLossBack = &kernelSpec{"void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, float, float, " +
		"c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(c10::BFloat16*, float const*, " +
		"float const*, long)", 260_000, "[8192, 1, 1]", "[1024, 1, 1]", 32, 128}
	kernelZero = &kernelSpec{"void at::native::(anonymous " +
		"namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<1>, " +
		"at::native::(anonymous namespace)::ZeroFunctor<float, 1, 1, 0> >()", 48_000, "[320, 1, 1]", "[512, 1, 1]", 32,
		0}
	kernelAdam = &kernelSpec{"void at::native::(anonymous " +
		"namespace)::multi_tensor_apply_kernel<at::native::(anonymous " +
		"namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous " +
		"namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false> >()", 210_000, "[320, 1, 1]",
		"[512, 1, 1]", 48, 0}
	kernelReduce = &kernelSpec{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 0,
		"[24, 1, 1]", "[544, 1, 1]", 96, 82_240}
)

// A launchSpec is an operator that launches one kernel.
type launchSpec struct {
	op     string
	kernel *kernelSpec
}

// An opSpec is an operator of the forward pass and its backward pass by autograd.
type opSpec struct {
	op, inner string
	kernel    *kernelSpec
	node      string // of the autograd graph
	back      []launchSpec
	weight    bool // its gradient is accumulated after it
}

var (
	gradLinear = []launchSpec{{"aten::mm", kernelGemm}, {"aten::mm", kernelGemmGrad}}
	gradWide   = []launchSpec{{"aten::mm", kernelGemmWide}, {"aten::mm", kernelGemmGrad}}

	opNorm = &opSpec{"aten::layer_norm", "aten::native_layer_norm", kernelNorm, "NativeLayerNormBackward0",
		[]launchSpec{{"aten::native_layer_norm_backward", kernelNormBack}}, true}
	opLinear = &opSpec{"aten::linear", "aten::addmm", kernelGemm, "AddmmBackward0", gradLinear, true}
	opWide   = &opSpec{"aten::linear", "aten::addmm", kernelGemmWide, "AddmmBackward0", gradWide, true}
	opFlash  = &opSpec{"aten::scaled_dot_product_attention", "aten::_flash_attention_forward", kernelFlash,
		"ScaledDotProductFlashAttentionBackward0", []launchSpec{{"aten::_flash_attention_backward", kernelFlashBack}},
		false}
	opGelu = &opSpec{"aten::gelu", "", kernelGelu, "GeluBackward0",
		[]launchSpec{{"aten::gelu_backward", kernelGeluBack}}, false}
	opAdd   = &opSpec{"aten::add", "", kernelAdd, "AddBackward0", nil, false}
	opEmbed = &opSpec{"aten::embedding", "aten::index_select", kernelEmbed, "EmbeddingBackward0",
		[]launchSpec{{"aten::embedding_dense_backward", kernelEmbedBack}}, true}
	opHead = &opSpec{"aten::linear", "aten::addmm", kernelHead, "AddmmBackward0",
		[]launchSpec{{"aten::mm", kernelHead}, {"aten::mm", kernelHead}}, false}
	opLoss = &opSpec{"aten::cross_entropy_loss", "aten::log_softmax", kernelLoss, "NllLossBackward0",
		[]launchSpec{{"aten::_log_softmax_backward_data", kernelLossBack}}, false}

	layerOps = []*opSpec{opNorm, opLinear, opFlash, opLinear, opAdd, opNorm, opWide, opGelu, opWide, opAdd}
)

const modelLayers = 4

// modelOps is the forward pass; loss comes after it.
func modelOps() []*opSpec {
	ops := []*opSpec{opEmbed}
	for range modelLayers {
		ops = append(ops, layerOps...)
	}
	return append(ops, opNorm, opHead)
}

// A bucket is a set of gradients reduced together as soon as backward has passed
// operator first of the forward pass.
type bucket struct {
	first    int
	elements int64
}

// modelBuckets are in the order in which backward completes them.
func modelBuckets() []bucket {
	var b []bucket
	for layer := modelLayers - 1; layer >= 0; layer-- {
		b = append(b, bucket{1 + layer*len(layerOps), 12_596_224})
	}
	return append(b, bucket{0, 32_768_000})
}
