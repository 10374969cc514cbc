package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAReportIsOneFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PARALLAX_CACHE", filepath.Join(dir, "cache"))
	file := filepath.Join(dir, "report.html")
	var out, fault bytes.Buffer
	if status := run(context.Background(), []string{"report", "demo:stencil?intervals=4000", "--from", "10%", "--to", "60%", "-o", file}, &out, &fault); status != 0 {
		t.Fatalf("status %d: %s", status, fault.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<!DOCTYPE html>", "<h2>Findings</h2>", "<svg ", "--from 10% --to 60%", "</html>"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(string(text), "<script") || len(text) > 2_000_000 {
		t.Errorf("%d bytes, or a script", len(text))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".report*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWrongUseOfReport(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"report"}, "no source given"},
		{[]string{"report", "demo:stencil", "-o", "report.pdf"}, "must end in .html"},
		{[]string{"report", "demo:stencil", "--width", "9"}, "unknown flag"},
	} {
		var fault bytes.Buffer
		if status := run(context.Background(), c.args, &bytes.Buffer{}, &fault); status != 2 || !strings.Contains(fault.String(), c.want) {
			t.Errorf("%v: status %d: %s", c.args, status, fault.String())
		}
	}
}
