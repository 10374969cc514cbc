package importer

import (
	"bytes"
	"io"
	"io/fs"
	"regexp"
)

// leadLine is a line that people and shells put before a trace: blank, a comment, the command, a warning of the tool.
var leadLine = regexp.MustCompile(`^(?:\s*|(?:#|//|%|;|--|\$ |> ).*|(?i:warning|note|info)\b.*)$`)

// mostCuts bounds after how many of its first lines a file is looked at anew.
const mostCuts = 16

// A cut is a place within a file where its trace may begin.
type cut struct {
	at    int64
	lines int
}

// cutsOf are the places after each of the first lines that may stand before a trace, and after all of them.
func cutsOf(head []byte) (cuts []cut) {
	var c cut
	for {
		end := bytes.IndexByte(head[c.at:], '\n')
		if end < 0 || !leadLine.Match(bytes.TrimRight(head[c.at:][:end], "\r")) {
			break
		}
		c.at, c.lines = c.at+int64(end)+1, c.lines+1
		if len(cuts) == mostCuts {
			cuts = cuts[:mostCuts-1]
		}
		cuts = append(cuts, c)
	}
	return cuts
}

// claimsPastLead asks formats anew without the first lines of a text that none of them knows.
func claimsPastLead(formats []*Format, s Source) []Run {
	if len(s.Files) != 1 {
		return nil
	}
	head := s.Head(s.Files[0].Path)
	if !IsText(head) {
		return nil
	}
	for _, c := range cutsOf(head) {
		past := s
		past.FS = withoutLead{s.FS, c.at}
		past = past.ready()
		runs, _ := claims(formats, past)
		if len(runs) == 1 && runs[0].Format.Import != nil {
			runs[0].lead = c.lines
			return runs
		}
	}
	return nil
}

// withoutLead is a tree of files that begin behind their first bytes, when unpacked.
type withoutLead struct {
	fs.FS
	bytes int64
}

func (w withoutLead) Open(name string) (fs.File, error) {
	f, err := w.FS.Open(name)
	if err != nil {
		return nil, err
	}
	r, closer, err := unpack(f, lengthOf(f))
	if err == nil {
		_, err = io.CopyN(io.Discard, r, w.bytes)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &behindLead{f, r, closer}, nil
}

// behindLead is a file that is read from behind its first bytes.
type behindLead struct {
	fs.File
	r      io.Reader
	closer func()
}

func (b *behindLead) Read(p []byte) (int, error) { return b.r.Read(p) }

func (b *behindLead) Close() error {
	b.closer()
	return b.File.Close()
}
