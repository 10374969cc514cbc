package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/parallax-hpc/parallax/internal/view"
)

// A progressBar is one line on a terminal, redrawn in place and wiped at the end.
type progressBar struct {
	mu sync.Mutex
	w  io.Writer
	pace
}

func newProgressBar(w io.Writer) *progressBar { return &progressBar{w: w} }

// show draws the bar; a total of 0 wipes it.
func (p *progressBar) show(label string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if total <= 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
		return
	}
	done = min(done, total)
	rate, left := p.of(label, done, total, time.Now())
	fmt.Fprint(p.w, "\r\x1b[K"+progressLine(label, done, total, rate, left, width(p.w)-1))
}

// progressLine is one line of at most so many columns, or the terminal would break it and the next could not be
// drawn over it: the bar has the space that the words leave.
func progressLine(label string, done, total int64, rate float64, left time.Duration, columns int) string {
	share := float64(done) / float64(total)
	tail := fmt.Sprintf(" %3.0f %% of %s", share*100, view.FormatBytes(float64(total)))
	switch {
	case share == 1:
		tail += ", indexing"
	case rate > 0:
		tail += fmt.Sprintf(", %s/s, %s left", view.FormatBytes(rate), left.Round(time.Second))
	}
	head := "importing " + short(label, min(20, columns-len("importing ")-utf8.RuneCountInString(tail)))
	room := min(20, columns-utf8.RuneCountInString(head+tail)-len(" []"))
	if room < 5 {
		return head + tail
	}
	n := int(share * float64(room))
	return head + " [" + strings.Repeat("=", n) + strings.Repeat(" ", room-n) + "]" + tail
}

// short keeps the end of a label, which distinguishes files.
func short(label string, columns int) string {
	columns = max(columns, 2)
	if r := []rune(label); len(r) > columns {
		return "…" + string(r[len(r)-columns+1:])
	}
	return label
}

// A pace records since when bytes of a source are read.
type pace struct {
	label string
	began time.Time
}

// of returns bytes per second, and the time for the rest at that rate; 0 in the beginning, when both are unknown.
func (p *pace) of(label string, done, total int64, now time.Time) (rate float64, left time.Duration) {
	if p.label != label || p.began.IsZero() {
		p.label, p.began = label, now
	}
	spent := now.Sub(p.began).Seconds()
	if spent < 0.5 || done <= 0 {
		return 0, 0
	}
	rate = float64(done) / spent
	return rate, time.Duration(float64(total-done) / rate * float64(time.Second))
}

// progressLines writes progress for programs: one object per line.
type progressLines struct {
	mu sync.Mutex
	w  io.Writer
	pace
}

func (p *progressLines) show(label string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if total <= 0 {
		return
	}
	rate, left := p.of(label, min(done, total), total, time.Now())
	_ = json.NewEncoder(p.w).Encode(struct {
		Source string  `json:"source"`
		Done   int64   `json:"done_bytes"`
		Total  int64   `json:"total_bytes"`
		Rate   float64 `json:"bytes_per_second"`
		Left   float64 `json:"seconds_left"`
	}{label, min(done, total), total, rate, left.Seconds()}) // an error of the terminal is no error of the import
}
