package trace

import "testing"

func TestNamesAreFoldedWithoutRankAndAddress(t *testing.T) {
	for _, r := range nameRules {
		if got := foldName(r.example, r.runs); got != r.folded {
			t.Errorf("%q became %q, not %q", r.example, got, r.folded)
		}
		if got := foldName(r.folded, r.runs); got != r.folded {
			t.Errorf("%q, folded once, became %q", r.folded, got)
		}
		if got := FoldName(r.example); r.runs && got != r.example {
			t.Errorf("%q became %q within a run", r.example, got)
		}
	}
}

func TestNumbersOfTheAuthorStayInAName(t *testing.T) {
	for _, name := range []string{
		"0x45ab12", "[libc.so.6+0x2a1b3]", "libcuda.so 0x7f00", "mask=0xff", "colour=0xff8000", "void gemm<float, 128, 4>(float*)",
		"aten::conv2d [1024×256×1×1]", "torch/nn/modules/module.py(1518): _wrapped_call_impl", "GET localhost:8080/user",
		"main.func1.2", "/tmp/solver/step.c: solve", "template.cpp:43512", "MPI_Send",
		"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8", "a-b-c", "tmpfile", "/tmp/tmpdir",
		"rk_step2(double)", "pid 7", "android:8", "hid=12", "step_1_predict", "step 1.5", "Optimizer.step#SGD.step", "conv 3", "block#4", "footsteps", "register 4 r",
	} {
		if got := FoldName(name); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
}

func TestNamesLoseWhatChangesFromRunToRun(t *testing.T) {
	for name, want := range map[string]string{
		"ProfilerStep#12":      "ProfilerStep#…",
		"iteration 7":          "iteration …",
		"train_step_41":        "train_step_…",
		"lambda at 0x7ffd1234": "lambda at …",
		"fetch 3fa85f64-5717-4562-b3fc-2c963f66afa6": "fetch …",
		"worker pid=4711":             "worker pid=…",
		"GET localhost:8080/items":    "GET localhost:…/items",
		"object a1b2c3d4e5f6 loaded":  "object … loaded",
		"0x42ed43":                    "(no symbol)",
		"[0x45ab12]":                  "(no symbol)",
		"libcuda.so 0x7f00":           "libcuda.so …",
		"MPI_Send":                    "MPI_Send",
		"conv2d":                      "conv2d",
		"gemm_128x64_tn":              "gemm_128x64_tn",
		"sm80_xmma_gemm_f16f16_f16":   "sm80_xmma_gemm_f16f16_f16",
		"aten::cudnn_convolution":     "aten::cudnn_convolution",
		"pthread_create":              "pthread_create",
		"HPL_pdgesv0":                 "HPL_pdgesv0",
		"step: data loading":          "step: data loading",
		"feedback":                    "feedback",
		"dgemm_kernel_4x8_haswell":    "dgemm_kernel_4x8_haswell",
		"volta_sgemm_128x128_nt":      "volta_sgemm_128x128_nt",
		"Optimizer.step#SGD.step":     "Optimizer.step#SGD.step",
		"std::vector<int>::push_back": "std::vector<int>::push_back",
	} {
		if got := FoldAcrossRuns(name, RoleCompute); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	if got := FoldAcrossRuns("phase 3", RoleAnnotation); got != "phase …" {
		t.Errorf("an annotation with a number is %q", got)
	}
}

func TestStepsAreOneRegionAndTheirStemIsTheSameInStoresOfBefore(t *testing.T) {
	for name, want := range map[string]string{
		"ProfilerStep#12": "ProfilerStep#…", "ProfilerStep 3": "ProfilerStep …", "iteration 7": "iteration …",
		"timestep 4": "timestep …", "Epoch: 2": "Epoch: …",
	} {
		if got := FoldName(name); got != want || !FoldedStep(got) || Stem(got) != Stem(name) {
			t.Errorf("%q became %q, a step: %v, stems %q and %q", name, got, FoldedStep(got), Stem(got), Stem(name))
		}
	}
	for _, name := range []string{"load ….pt", "solve (iteration …)", "next…", "Worker@…", "conv 3"} {
		if FoldedStep(name) {
			t.Errorf("%q stands for steps", name)
		}
	}
}

func FuzzFoldingTwiceIsFoldingOnce(f *testing.F) {
	for _, r := range nameRules {
		f.Add(r.example)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if once := FoldName(name); FoldName(once) != once {
			t.Errorf("%q: %q, then %q", name, once, FoldName(once))
		}
	})
}
