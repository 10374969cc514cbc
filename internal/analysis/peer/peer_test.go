package peer

import (
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// job makes GPUs that run four kernels a hundred times each, with the noise of a healthy machine.
func job(gpus int) []map[Kind]Sum {
	rnd := rand.New(rand.NewPCG(1, 2))
	out := make([]map[Kind]Sum, gpus)
	for g := range out {
		out[g] = map[Kind]Sum{}
		for k := range 4 {
			out[g][Kind{Region: trace.RegionID(k)}] = Sum{100, trace.Time(100 * 1000 * (k + 1) * (990 + rnd.IntN(20)) / 1000)}
		}
	}
	return out
}

func TestASlowGPUIsFoundByTheSameKernelsOnOtherGPUs(t *testing.T) {
	if list := Find(job(8)); list != nil {
		t.Errorf("a healthy job: %+v", list)
	}
	all := job(8)
	for k, s := range all[5] {
		all[5][k] = Sum{s.Count, s.Time * 14 / 10}
	}
	list := Find(all)
	if len(list) != 1 || list[0].GPU != 5 || list[0].Ratio < 1.37 || list[0].Ratio > 1.43 || len(list[0].Kernels) != 4 {
		t.Errorf("%+v", list)
	}
	one := job(8)
	s := one[2][Kind{Region: 3}]
	one[2][Kind{Region: 3}] = Sum{s.Count, s.Time * 3}
	if list = Find(one); len(list) != 1 || list[0].GPU != 2 || len(list[0].Kernels) != 1 || list[0].Kernels[0].Region != 3 {
		t.Errorf("%+v", list)
	}
}

// More calls, other shapes, or half of the GPUs slow: no GPU is to blame.
func TestDifferentWorkIsNoSlowGPU(t *testing.T) {
	more, shapes, half := job(8), job(8), job(8)
	for k, s := range more[1] {
		more[1][k] = Sum{2 * s.Count, 3 * s.Time}
	}
	for k, s := range shapes[1] {
		delete(shapes[1], k)
		shapes[1][Kind{k.Region, "[64,1,1]"}] = Sum{s.Count, 3 * s.Time}
	}
	for g := range 4 {
		for k, s := range half[g] {
			half[g][k] = Sum{s.Count, 2 * s.Time}
		}
	}
	for name, x := range map[string][]map[Kind]Sum{"more": more, "shapes": shapes, "half": half, "two": job(2)} {
		if list := Find(x); list != nil {
			t.Errorf("%s: %+v", name, list)
		}
	}
}
