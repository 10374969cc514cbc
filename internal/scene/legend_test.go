package scene

import (
	"slices"
	"testing"
)

// Regions that share a colour for colour-blind readers share its sample too, and their names follow it.
func TestEntriesOfOneColourStandBehindOneSample(t *testing.T) {
	compute, _ := FindSection("compute")
	safe, _ := Light.With("safe")
	period := 1
	for compute.At(period).RGBA(safe) != compute.At(0).RGBA(safe) {
		period++
	}
	entries := []LegendEntry{
		{Label: "a", Colour: compute.At(0)}, {Label: "b", Colour: compute.At(1)}, {Label: "c", Colour: compute.At(period)},
		{Label: "+ 3 more", Colour: None}, {Label: "hatched", Colour: compute.At(0), Flags: Hatched}, {Label: "ramp", Colour: 200, RampEnd: 220},
	}
	said := func(list []LegendEntry) (words []string) {
		for _, e := range list {
			sample := "■ "
			if e.Colour == None {
				sample = ""
			}
			words = append(words, sample+e.Label)
		}
		return words
	}
	want := []string{"■ a", "and c", "■ b", "+ 3 more", "■ hatched", "■ ramp"}
	if got := said(JoinSame(entries, safe)); !slices.Equal(got, want) {
		t.Errorf("safe: got %q, want %q", got, want)
	}
	if got := JoinSame(entries, Light); !slices.Equal(got, entries) {
		t.Errorf("usual hues are apart, but got %q", said(got))
	}
}
