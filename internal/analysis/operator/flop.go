package operator

import "strings"

// Count returns the arithmetic (a multiplication and an addition are two) and the bytes that a call must move, from the
// shapes, types and arguments of its inputs as the profiler writes them. Both are negative where they are unknown.
//
//	matrix product   2·M·N·K, with a bias M·N more
//	convolution      2 · output · ∏ weight[1:], as much for each gradient on the way back
//	attention        4·B·H·Nq·Nkv·d, half where causal, 2.5 times for the way back
func Count(name, dims, types, arguments string) (flop, bytes float64) {
	in := shapes(dims)
	if len(in) == 0 {
		return -1, -1
	}
	size := 0.0
	for _, t := range texts(types) {
		if size = typeSize(t); size > 0 {
			break
		}
	}
	op := strings.TrimPrefix(name, "aten::")
	elements := -1.0 // that are read and written
	flop = -1
	switch op {
	case "mm", "addmm", "addmm_", "_scaled_mm", "bmm", "baddbmm", "matmul", "linear", "_addmm_activation":
		flop, elements = matrix(op, in)
	case "convolution", "_convolution", "conv1d", "conv2d", "conv3d", "cudnn_convolution", "miopen_convolution",
		"mkldnn_convolution":
		flop, elements = convolution(op, in, texts(arguments))
	case "convolution_backward":
		flop, elements = convolutionBack(in, texts(arguments))
	default:
		if strings.Contains(op, "scaled_dot_product") || strings.HasPrefix(op, "_flash_attention") ||
			strings.HasPrefix(op, "_efficient_attention") || strings.HasPrefix(op, "_cudnn_attention") {
			flop, elements = attention(op, in, texts(arguments))
		}
	}
	bytes = -1
	if elements >= 0 && size > 0 {
		bytes = elements * size
	}
	return flop, bytes
}

// matrix is a product of the last two matrices that the operator has.
func matrix(op string, in [][]float64) (flop, elements float64) {
	var a, b, bias []float64
	switch {
	case strings.HasPrefix(op, "addmm") || op == "baddbmm" || op == "_addmm_activation":
		if len(in) < 3 {
			return -1, -1
		}
		bias, a, b = in[0], in[1], in[2]
	case len(in) < 2:
		return -1, -1
	default:
		a, b = in[0], in[1]
		if op == "linear" && len(in) > 2 {
			bias = in[2]
		}
	}
	if len(a) < 1 || len(b) < 2 {
		return -1, -1
	}
	k := a[len(a)-1]
	n, inner := b[len(b)-1], b[len(b)-2]
	if op == "linear" {
		n, inner = b[0], b[1]
	}
	if inner != k || k == 0 {
		return -1, -1
	}
	out := product(a) / k * n
	flop = 2 * out * k
	elements = product(a) + product(b) + out
	if len(bias) > 0 {
		flop += out
		elements += product(bias)
	}
	return flop, elements
}

// convolution of an input by a weight; the places of its arguments differ from one operator to the next.
func convolution(op string, in [][]float64, arguments []string) (flop, elements float64) {
	if len(in) < 2 || len(in[0]) < 3 || len(in[0]) != len(in[1]) {
		return -1, -1
	}
	stride, padding, dilation := 3, 4, 5
	switch op {
	case "cudnn_convolution":
		stride, padding, dilation = 3, 2, 4
	case "miopen_convolution", "mkldnn_convolution":
		stride, padding, dilation = 4, 3, 5
	}
	argument := func(i int, otherwise float64) []float64 {
		var list []float64
		if i < len(arguments) {
			list = numbers(arguments[i])
		}
		for len(list) < len(in[0])-2 {
			if len(list) == 0 {
				list = append(list, otherwise)
			} else {
				list = append(list, list[len(list)-1])
			}
		}
		return list
	}
	if len(arguments) > 6 && (op == "convolution" || op == "_convolution") && strings.EqualFold(arguments[6], "true") {
		return -1, -1 // transposed
	}
	s, p, d := argument(stride, 1), argument(padding, 0), argument(dilation, 1)
	x, w := in[0], in[1]
	out := x[0] * w[0]
	for i := range len(x) - 2 {
		if s[i] <= 0 {
			return -1, -1
		}
		side := (x[i+2]+2*p[i]-d[i]*(w[i+2]-1)-1)/s[i] + 1
		if side < 1 {
			return -1, -1
		}
		out *= float64(int64(side))
	}
	flop, elements = 2*out*product(w[1:]), product(x)+product(w)+out
	if len(in) > 2 && len(in[2]) == 1 {
		flop += out
		elements += in[2][0]
	}
	return flop, elements
}

// convolutionBack is the way back: as much as the way there for each of the gradients, of the input and of the weight,
// that are asked for.
func convolutionBack(in [][]float64, arguments []string) (flop, elements float64) {
	if len(in) < 3 || len(in[0]) < 3 || len(in[2]) != len(in[0]) {
		return -1, -1
	}
	asked := 2.0
	if n := len(arguments); n > 10 {
		if mask := strings.Split(strings.Trim(arguments[10], "[]"), ","); len(mask) == 3 {
			asked = 0
			for _, m := range mask[:2] {
				if strings.EqualFold(strings.TrimSpace(m), "true") {
					asked++
				}
			}
		}
	}
	return asked * 2 * product(in[0]) * product(in[2][1:]), product(in[0]) + 2*product(in[1]) + 2*product(in[2])
}

// attention of queries by keys and values, B × H × N × d each.
func attention(op string, in [][]float64, arguments []string) (flop, elements float64) {
	first := 0
	if strings.HasSuffix(op, "_backward") {
		first = 1 // after the gradient
	}
	if len(in) < first+3 || len(in[first]) != 4 || len(in[first+1]) != 4 {
		return -1, -1
	}
	q, k := in[first], in[first+1]
	heads, queries, keys := q[1], q[2], k[2]
	if strings.HasPrefix(op, "_flash") || strings.HasPrefix(op, "_efficient") { // B × N × H × d
		heads, queries, keys = q[2], q[1], k[1]
	}
	flop = 4 * q[0] * heads * queries * keys * q[3]
	for i, name := range map[string]int{"scaled_dot_product_attention": 5, "_scaled_dot_product_flash_attention": 4,
		"_scaled_dot_product_efficient_attention": 6, "_scaled_dot_product_cudnn_attention": 6} {
		if i == op && name < len(arguments) && strings.EqualFold(arguments[name], "true") {
			flop /= 2
		}
	}
	elements = 2*product(q) + product(k) + product(in[first+2])
	if first > 0 {
		flop *= 2.5
		elements *= 2
	}
	return flop, elements
}
