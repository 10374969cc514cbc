package sealed

import (
	"bytes"
	"fmt"
	"testing"
)

// A bit that is turned anywhere costs the one message that it is in; in a length it costs none.
func TestAFlippedBitCostsAtMostItsMessage(t *testing.T) {
	var log []byte
	var starts []int
	for i := range 20 {
		starts = append(starts, len(log))
		log = Append(log, fmt.Appendf(nil, "message %d %s", i, bytes.Repeat([]byte{byte(i)}, i*7)))
	}
	inLength := func(at int) bool {
		for _, s := range starts {
			if at >= s && at < s+4 {
				return true
			}
		}
		return false
	}
	for bit := range len(log) * 8 {
		bad := bytes.Clone(log)
		bad[bit/8] ^= 1 << (bit % 8)
		messages := 0
		for rest := bad; len(rest) > 0; {
			r, ok := Next(rest)
			if !ok {
				break
			}
			if rest = rest[r.Size:]; r.Message != nil {
				messages++
			}
		}
		want := 19
		if inLength(bit / 8) {
			want = 20
		}
		if messages != want && bit/8 < starts[19] {
			t.Fatalf("bit %d of byte %d: %d of 20 messages", bit%8, bit/8, messages)
		}
	}
}

func TestARecordThatWasNotFinishedIsNone(t *testing.T) {
	whole := Append(nil, []byte("a message"))
	for n := range whole {
		if _, ok := Next(whole[:n]); ok {
			t.Errorf("%d of %d bytes are taken for a record", n, len(whole))
		}
	}
}
