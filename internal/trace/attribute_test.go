package trace

import "testing"

// A number of sixteen digits is the text that it looks like, and a text that looks like one is found to be.
func TestHexadecimalIsAText(t *testing.T) {
	for n, text := range map[uint64]string{0: "0000000000000000", 0xf067aa0ba902b7: "00f067aa0ba902b7", 1<<64 - 1: "ffffffffffffffff"} {
		v := Hexadecimal(n)
		if v.Kind != ValueText || v.String() != text {
			t.Errorf("%x is %q", n, v)
		}
		if got, ok := v.Hexadecimal(); !ok || got != n {
			t.Errorf("%q is %x, %v", v, got, ok)
		}
		if got, ok := Text(text).Hexadecimal(); !ok || got != n {
			t.Errorf("the text %q is %x, %v", text, got, ok)
		}
	}
	for _, v := range []Value{Text(""), Text("f067aa0ba902b7"), Text("00F067AA0BA902B7"), Text("00f067aa0ba902bx"), Text("000f067aa0ba902b7"), Integer(7), Number(7), {}} {
		if n, ok := v.Hexadecimal(); ok {
			t.Errorf("%q is the text of %x", v, n)
		}
	}
	if n, ok := Hexadecimal(0x10).Number(); !ok || n != 10 {
		t.Errorf("as a number it is %v, %v: texts count when they are one", n, ok)
	}
}
