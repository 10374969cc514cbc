package view

import (
	"encoding/json"
	"testing"
)

// Whole numbers beyond 2^53 have all their digits, so that programs that read them exactly find the number that was meant.
func TestWholeNumbersHaveAllTheirDigits(t *testing.T) {
	for x, want := range map[float64]string{
		118264581564861424: "118264581564861424", -118264581564861424: "-118264581564861424", 0.1: "0.1", 12: "12", 1e22: "1e+22",
	} {
		if b, err := json.Marshal(DefinedExact(x)); err != nil || string(b) != want {
			t.Errorf("%g is written %s, want %s: %v", x, b, want, err)
		}
	}
}
