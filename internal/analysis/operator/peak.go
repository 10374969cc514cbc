package operator

import "strings"

// A Peak is the peak performance of a device, as its maker states it: dense arithmetic per second by type, bytes per
// second of memory.
type Peak struct {
	Device             string
	Single, TF32, Half float64 // FP32 without matrix units, TF32, and FP16 or BF16 with them
	Memory             float64
	Source             string
}

// Of returns the arithmetic peak for a type.
func (p *Peak) Of(kind string) float64 {
	switch typeSize(kind) {
	case 2:
		return p.Half
	case 4:
		return max(p.TF32, p.Single)
	}
	return p.Single
}

// peaks are by a part of the device's name, narrow ones first. Rates with sparsity are left out.
var peaks = []struct {
	part string
	Peak
}{
	{"h200", Peak{"H200", 67e12, 494.7e12, 989.4e12, 4.8e12, "NVIDIA H200 data sheet"}},
	{"h100 pcie", Peak{"H100 PCIe", 51e12, 378e12, 756e12, 2.0e12, "NVIDIA H100 data sheet"}},
	{"h100", Peak{"H100 SXM", 67e12, 494.7e12, 989.4e12, 3.35e12, "NVIDIA H100 data sheet"}},
	{"a100-pcie-40", Peak{"A100 40 GB", 19.5e12, 156e12, 312e12, 1.555e12, "NVIDIA A100 data sheet"}},
	{"a100-sxm4-40", Peak{"A100 40 GB", 19.5e12, 156e12, 312e12, 1.555e12, "NVIDIA A100 data sheet"}},
	{"a100", Peak{"A100 80 GB", 19.5e12, 156e12, 312e12, 2.039e12, "NVIDIA A100 data sheet"}},
	{"v100-pcie", Peak{"V100 PCIe", 14e12, 0, 112e12, 0.9e12, "NVIDIA V100 data sheet"}},
	{"v100", Peak{"V100", 15.7e12, 0, 125e12, 0.9e12, "NVIDIA V100 data sheet"}},
	{"l40s", Peak{"L40S", 91.6e12, 183e12, 362e12, 0.864e12, "NVIDIA L40S data sheet"}},
	{"mi300x", Peak{"MI300X", 163.4e12, 653.7e12, 1307.4e12, 5.3e12, "AMD Instinct MI300X data sheet"}},
	{"mi250x", Peak{"MI250X", 47.9e12, 0, 383e12, 3.2768e12, "AMD Instinct MI250X data sheet"}},
}

// PeakOf finds the peaks of a device by its name; false if they are not known.
func PeakOf(device string) (Peak, bool) {
	device = strings.ToLower(device)
	for _, p := range peaks {
		if strings.Contains(device, p.part) {
			return p.Peak, true
		}
	}
	return Peak{}, false
}
