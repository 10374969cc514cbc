package quantile

import (
	"math/rand/v2"
	"testing"
)

func TestBucketsHoldEveryValueOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 5, ExactSize, ExactSize + 1, 5000} {
		var s Sketch
		values := make([]int64, n)
		for i := range values {
			values[i] = int64(random.ExpFloat64() * 1e6)
			if i%7 == 0 {
				values[i] = 42
			}
			s.Add(values[i])
		}
		total, last := int64(0), int64(-1)
		s.Buckets(func(low, high, count int64) {
			if low <= last || high < low {
				t.Fatalf("n = %d: bucket %d … %d after %d", n, low, high, last)
			}
			if float64(high-low) > 2*RelativeError*float64(low)+1 {
				t.Errorf("n = %d: bucket %d … %d is wider than stated", n, low, high)
			}
			inside := int64(0)
			for _, v := range values {
				if v >= low && v <= high {
					inside++
				}
			}
			if inside != count {
				t.Errorf("n = %d: bucket %d … %d says %d values, has %d", n, low, high, count, inside)
			}
			total, last = total+count, high
		})
		if total != int64(n) {
			t.Errorf("n = %d: buckets hold %d values", n, total)
		}
	}
}
