package trace

import "testing"

func TestWhatDiffersByRankIsNoPartOfAName(t *testing.T) {
	for _, r := range nameRules {
		if got := FoldName(r.example); got != r.folded {
			t.Errorf("%q became %q, not %q", r.example, got, r.folded)
		}
		if got := FoldName(r.folded); got != r.folded {
			t.Errorf("%q, folded once, became %q", r.folded, got)
		}
	}
}

func TestWhatTheAuthorWroteStaysInAName(t *testing.T) {
	for _, name := range []string{
		"0x45ab12", "[libc.so.6+0x2a1b3]", "libcuda.so 0x7f00", "mask=0xff", "colour=0xff8000", "void gemm<float, 128, 4>(float*)",
		"aten::conv2d [1024×256×1×1]", "torch/nn/modules/module.py(1518): _wrapped_call_impl", "GET localhost:8080/user",
		"main.func1.2", "/tmp/solver/step.c: solve", "template.cpp:43512", "ProfilerStep#12", "timestep 4", "MPI_Send",
		"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8", "a-b-c", "tmpfile", "/tmp/tmpdir",
		"rk_step2(double)", "step_1_predict", "iteration 7", "step 1.5", "footsteps", "register 4 r",
	} {
		if got := FoldName(name); got != name {
			t.Errorf("%q became %q", name, got)
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
