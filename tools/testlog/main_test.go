package main

import (
	"strings"
	"testing"
)

func TestFailuresAreShownAndSkippedTestsSayWhy(t *testing.T) {
	in := `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: 3, want 4\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:9: no data here\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"talk\n"}
{"Action":"pass","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.01s\n"}
{"Action":"fail","Package":"p"}
a line of the compiler
`
	var out strings.Builder
	if run(strings.NewReader(in), &out) {
		t.Error("a failed test passes")
	}
	want := "    a_test.go:7: 3, want 4\n--- FAIL: TestA (0.00s)\nFAIL\tp\t0.01s\na line of the compiler\n\n1 tests did not run here:\n  TestB: no data here\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestABuildThatFailsIsAFailure(t *testing.T) {
	in := `{"ImportPath":"p","Action":"build-output","Output":"x.go:1: no\n"}
{"ImportPath":"p","Action":"build-fail"}
`
	var out strings.Builder
	if run(strings.NewReader(in), &out) || out.String() != "x.go:1: no\n" {
		t.Errorf("%q", out.String())
	}
	if !run(strings.NewReader(`{"Action":"pass","Package":"p"}`+"\n"), &out) {
		t.Error("what passes fails")
	}
	if run(strings.NewReader(`{"Action":"status","Output":"2"}`+"\n"), &out) {
		t.Error("go test failed, and nobody says so")
	}
}
