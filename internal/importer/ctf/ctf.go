// Package ctf reads traces in the Common Trace Format, versions 1.8 and 2: of LTTng (kernel and user
// space), of barectf, and of whatever writes CTF.
//
// The format: a file `metadata` describes everything in a language of types (TSDL in 1.8, objects of JSON in
// 2), plain or in packets; files next to it are streams of packets, each with a header, a context
// and events; fields are integers of any number of bits, in either byte order, numbers, strings, lists
// and variants. It is described by the specifications at diamon.org/ctf.
//
// Terms: a CPU is a processor under `CPUs`, and the tasks that it ran are its intervals. Threads are told by
// the context of events or by the scheduler. Calls of the system, interrupts, functions, and any two events
// whose names differ by entry and exit, begin and end, or start and stop are intervals; every other event is an
// instant with its fields as attributes. The scheduler's states of threads (running, runnable, sleeping,
// blocked) are overlays, since the rows of the CPUs already have them. Traces that were made from OTF2 give the
// intervals of their regions, by rank and thread.
//
// Functions are told by address; where a list of symbols as nm writes it is in the folder or in the one
// above (.txt), they have its names.
//
// Kept aside, and counted: fields of events that end an interval; fields beyond the 24th. Events and packets
// that the recorder lost are in the report.
package ctf

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// Format is CTF.
var Format = &importer.Format{Name: "ctf", Title: "CTF traces (LTTng, barectf)", Claim: claim, Import: read}

// claim takes a metadata file with the streams next to it. Kernel and user space of one session, which share a
// clock and a host, are one run.
func claim(s importer.Source) []importer.Run {
	type part struct {
		run    importer.Run
		domain string
		clock  string
		host   string
	}
	var parts []part
	for _, f := range s.Files {
		head := s.Head(f.Path)
		if path.Base(f.Path) != "metadata" || !isMetadata(head) {
			continue
		}
		p := part{domain: said(head, domainIs), clock: said(head, clockIs), host: said(head, hostIs)}
		p.run = importer.Run{Files: []string{f.Path}, Name: nameOf(f.Path)}
		marked := bytes.Contains(head, []byte("magic"))
		for _, other := range s.Files {
			switch dir := path.Dir(f.Path); {
			case other.Path == f.Path:
			case path.Dir(other.Path) == path.Join(dir, "index"),
				path.Ext(other.Path) == ".txt" &&
					(path.Dir(other.Path) == dir || path.Dir(other.Path) == path.Dir(dir)) &&
					isSymbols(s.Head(other.Path)):
				p.run.Companions = append(p.run.Companions, other.Path)
			case path.Dir(other.Path) != dir:
			case marked && orderOf(s.Head(other.Path), packetMagic) != native,
				!marked && !slices.Contains([]string{".md", ".txt", ".golden"}, path.Ext(other.Path)) &&
					!strings.HasPrefix(path.Base(other.Path), "README"):
				p.run.Files = append(p.run.Files, other.Path)
			}
		}
		parts = append(parts, p)
	}
	var runs []importer.Run
	taken := make([]bool, len(parts))
	for i, p := range parts {
		if taken[i] {
			continue
		}
		for j := i + 1; j < len(parts); j++ {
			if o := parts[j]; !taken[j] && p.clock != "" && p.clock == o.clock && p.host != "" && p.host == o.host &&
				(p.domain == "kernel") != (o.domain == "kernel") {
				taken[j] = true
				p.run.Files = append(p.run.Files, o.run.Files...)
				p.run.Companions = append(p.run.Companions, o.run.Companions...)
				p.run.Name = ""
			}
		}
		runs = append(runs, p.run)
	}
	return runs
}

// nameOf names a run by its folder, or the one above where that is a domain's.
func nameOf(file string) string {
	if dir := path.Dir(file); dir != "." && path.Base(dir) != "kernel" && path.Base(dir) != "ust" {
		return path.Base(dir)
	}
	return ""
}

func isMetadata(head []byte) bool {
	return orderOf(head, metadataMagic) != native || bytes.HasPrefix(head, []byte("/* CTF")) || isJSON(head) ||
		bytes.IndexByte(head, 0) < 0 && bytes.Contains(head, []byte("trace {")) &&
			bytes.Contains(head, []byte("byte_order"))
}

var (
	domainIs = regexp.MustCompile(`domain\s*=\s*"([^"]*)"`)
	hostIs   = regexp.MustCompile(`hostname\s*=\s*"([^"]*)"`)
	clockIs  = regexp.MustCompile(`clock\s*\{[^}]*uuid\s*=\s*"([^"]*)"`)
)

func said(head []byte, what *regexp.Regexp) string {
	if m := what.FindSubmatch(head); m != nil {
		return string(m[1])
	}
	return ""
}
