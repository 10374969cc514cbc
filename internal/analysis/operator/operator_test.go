package operator

import "testing"

func TestArithmeticOfOperators(t *testing.T) {
	for _, c := range []struct {
		name, dims, types, arguments string
		flop, bytes                  float64
	}{
		{"aten::mm", "[[2,3],[3,4]]", `["float","float"]`, "", 48, 4 * (6 + 12 + 8)},
		{"aten::addmm", "[[512],[141,512],[512,512],[],[]]", `["c10::BFloat16"]`, "", 73_996_800, 814_080}, // as TraceLens counts it
		{"aten::bmm", "[[5,2,3],[5,3,4]]", `["c10::Half"]`, "", 240, 2 * (30 + 60 + 40)},
		{"aten::linear", "[[1,141,512],[30522,512],[30522]]", `["c10::BFloat16"]`, "", 4_411_192_050, 40_067_160},
		{"aten::_flash_attention_forward", "[[1,141,8,64],[1,141,8,64],[1,141,8,64]]", `["c10::BFloat16"]`, "", 40_716_288, 577_536},
		{"aten::_scaled_dot_product_flash_attention", "[[1,8,141,64],[1,8,141,64],[1,8,141,64]]", `[]`, `["","","","0.","True"]`, 20_358_144, -1},
		{"aten::convolution", "[[10,256,14,14],[512,256,3,3],[]]", `["c10::BFloat16"]`, `["","","","[2, 2]","[1, 1]","[1, 1]","False"]`, 2 * 10 * 512 * 49 * 256 * 9, 2 * (10*256*196 + 512*256*9 + 10*512*49)},
		{"aten::miopen_convolution", "[[10,256,14,14],[512,256,3,3],[]]", `[]`, `["","","","[1, 1]","[2, 2]","[1, 1]"]`, 2 * 10 * 512 * 49 * 256 * 9, -1},
		{"aten::convolution_backward", "[[10,512,7,7],[10,256,14,14],[512,256,3,3]]", `[]`, `["","","","","","","","","","","[True, False, False]"]`, 2 * 10 * 512 * 49 * 256 * 9, -1},
		// What cannot be told, or is no shape at all.
		{"aten::add", "[[2,3],[2,3]]", `["float"]`, "", -1, -1},
		{"aten::mm", "[[2,3],[4,4]]", `["float"]`, "", -1, -1},
		{"aten::mm", "5", "", "", -1, -1},
		{"aten::mm", `{"a":1}`, "", "", -1, -1},
		{"aten::mm", `[["x"],[-1,2]]`, "", "", -1, -1},
		{"aten::mm", `[[[8816192]],[]]`, "", "", -1, -1},
		{"aten::convolution", "[[1,1,1,1],[1,1,3,3]]", `["float"]`, `["","","","[0, 0]"]`, -1, -1},
		{"aten::convolution", "[[],[]]", "", "", -1, -1},
	} {
		flop, bytes := Count(c.name, c.dims, c.types, c.arguments)
		if flop != c.flop || bytes != c.bytes {
			t.Errorf("%s %s: %v FLOP, %v bytes, want %v and %v", c.name, c.dims, flop, bytes, c.flop, c.bytes)
		}
	}
}

func TestPeaksAreFoundByName(t *testing.T) {
	for name, want := range map[string]float64{"NVIDIA H200": 4.8e12, "NVIDIA H100 80GB HBM3": 3.35e12, "NVIDIA H100 PCIe": 2e12, "AMD Instinct MI300X": 5.3e12, "NVIDIA A100-SXM4-40GB": 1.555e12} {
		if p, ok := PeakOf(name); !ok || p.Memory != want || p.Source == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if _, ok := PeakOf("Some Accelerator"); ok {
		t.Error("a device that nobody knows has peaks")
	}
}

func TestBusBandwidthIsNCCLs(t *testing.T) {
	for name, want := range map[string]float64{"allreduce": 1.75, "_allgather_base": 0.875, "broadcast": 1} {
		if got := (&Comm{Name: name, Size: 8}).Bus(); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
