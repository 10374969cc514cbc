package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Detect asks every format which files of the source it claims. A file belongs
// to the first format that claims it.
//
// One run that can be read is the good case. Otherwise the error describes the
// input: an *Ambiguous if there are several runs, which it carries so that each
// can be loaded on its own; an *Error of kind ErrUnsupported if the only format
// is one that is recognised but not read; an *Unknown if none is. The runs found
// are returned with the error too.
func Detect(formats []*Format, s Source) ([]Run, error) {
	s.heads.prefetch(s)
	runs, unclaimed := claims(formats, s)
	if len(runs) == 0 {
		if runs = claimsPastLead(formats, s); len(runs) > 0 {
			unclaimed = nil
		}
	}
	var readable, refused []Run
	for _, r := range runs {
		if r.Format.Import != nil {
			readable = append(readable, r)
		} else {
			refused = append(refused, r)
		}
	}
	switch {
	case len(readable) == 1:
		for _, r := range refused {
			unclaimed = append(unclaimed, r.Files...)
		}
		readable[0].Unclaimed = unclaimed
		return readable, nil
	case len(readable) > 1:
		return readable, &Ambiguous{Source: s.Name, Runs: runs, Unclaimed: unclaimed}
	case len(refused) == 1:
		return refused, refused[0].refusal()
	case len(refused) > 1:
		return refused, refusals(s, refused)
	}
	return nil, newUnknown(formats, s)
}

// ClaimAs asks one format alone, for a user who names it. If it claims nothing,
// all files are taken for one run of it.
func ClaimAs(f *Format, s Source) []Run {
	runs, _ := claims([]*Format{f}, s)
	if len(runs) > 0 || len(s.Files) == 0 {
		return runs
	}
	r := Run{Format: f, Source: s, Name: nameOf(s.Name)}
	for _, file := range s.Files {
		r.Files = append(r.Files, file.Path)
	}
	return []Run{r}
}

// claims returns the runs in order of the formats, and the files that no format claims.
func claims(formats []*Format, s Source) (runs []Run, unclaimed []string) {
	taken := make(map[string]bool, len(s.Files))
	alone := map[string]int{} // place of the run of a file that is one on its own
	claimed := make([][]Run, len(formats))
	_ = parallel.For(context.Background(), len(formats), func(i int) {
		own := s
		own.at = new(atomic.Int64)
		claimed[i] = formats[i].Claim(own)
	})
	for i, f := range formats {
		for _, r := range claimed[i] {
			if len(r.Files) == 0 {
				continue
			}
			if anyOf(taken, r.Files) {
				if i, ok := alone[r.Files[0]]; ok && len(r.Files) == 1 && f.Import != nil {
					runs[i].Others = append(runs[i].Others, f)
				}
				continue
			}
			if len(r.Files) == 1 {
				alone[r.Files[0]] = len(runs)
			}
			for _, p := range r.Files {
				taken[p] = true
			}
			for _, p := range r.Companions {
				taken[p] = true
			}
			r.Format, r.Source = f, s
			if r.Name == "" && len(r.Files) == 1 {
				r.Name = nameOf(s.Label(r.Files[0]))
			} else if r.Name == "" {
				r.Name = nameOf(s.Name)
			}
			runs = append(runs, r)
		}
	}
	for _, f := range s.Files {
		if !taken[f.Path] {
			unclaimed = append(unclaimed, f.Path)
		}
	}
	return runs, unclaimed
}

func anyOf(set map[string]bool, keys []string) bool {
	for _, k := range keys {
		if set[k] {
			return true
		}
	}
	return false
}

// nameOf is a path's last part without the endings that say only how it is kept.
func nameOf(p string) string {
	if abs, err := filepath.Abs(p); err == nil && path.Clean(p) == "." {
		p = abs
	}
	name := path.Base(filepath.ToSlash(p))
	for _, ending := range []string{".gz", ".zst", ".bz2", ".tar", ".tgz", ".zip"} {
		if rest, ok := strings.CutSuffix(name, ending); ok && rest != "" {
			name = rest
		}
	}
	return name
}

// A Refusal is why a format did not read a run.
type Refusal struct {
	Format *Format
	Err    error
}

// Next is the run as the next format that claims its file, after the error of one; false: there is none, or another
// would not help.
func (r Run) Next(err error) (Run, bool) {
	if len(r.Others) == 0 || !errors.Is(err, ErrMalformed) {
		return r, false
	}
	r.refused = append(r.refused[:len(r.refused):len(r.refused)], Refusal{r.Format, err})
	r.Format, r.Others = r.Others[0], r.Others[1:]
	return r, true
}

// Refused is the error of the last format that was tried, with those of the formats before.
func (r Run) Refused(err error) error {
	var e *Error
	if len(r.refused) == 0 || !errors.As(r.refused[0].Err, &e) {
		return err
	}
	all := *e
	for _, x := range r.refused[1:] {
		all.Cause += fmt.Sprintf("; nor is it %s (%s)", x.Format.Title, causeOf(x.Err))
	}
	all.Cause += fmt.Sprintf("; nor is it %s (%s)", r.Format.Title, causeOf(err))
	return &all
}

func causeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Cause
	}
	return err.Error()
}

// Import reads the run into w, and reports the files next to it that no format reads.
func (r Run) Import(ctx context.Context, w trace.Writer) error {
	if r.Format.Import == nil {
		return r.refusal()
	}
	if r.Format.Text {
		r.zeros = new(zeroBytes)
	}
	if err := r.Format.Import(ctx, r, w); err != nil {
		return err
	}
	r.zeros.report(w)
	for _, x := range r.refused {
		w.Report(trace.Guessed, fmt.Sprintf("read as %s, since it begins as %s but is not (%s)", r.Format.Name,
			x.Format.Name, causeOf(x.Err)), 1, r.Label(r.Files[0]))
	}
	Tell(w, trace.Redundant,
		"lines before the trace (comments, a command, warnings); places count from behind them",
		int64(r.lead), r.Label(r.Files[0]))
	for _, file := range r.Unclaimed {
		what := "files beside the trace that no reader claims"
		if _, err := r.Source.heads.get(r.Source.FS, file, nil); err != nil {
			what = "files beside the trace that cannot be read (" + reason(err) + ")"
		}
		w.Report(trace.MissingFiles, what, 1, r.Label(file))
	}
	for _, k := range r.Source.Skipped {
		switch k.Why {
		case hiddenFile:
		case listedAlready:
			w.Report(trace.Redundant, "links to directories that are listed already", 1, r.Label(k.Path))
		default:
			w.Report(trace.MissingFiles,
				"entries of the source that are not readable files ("+k.Why+")", 1, r.Label(k.Path))
		}
	}
	return nil
}

// refusal is the error of a run whose format is only recognised.
func (r Run) refusal() error {
	label := r.Source.Name
	if len(r.Files) == 1 {
		label = r.Label(r.Files[0])
	}
	return &Error{File: label, Cause: "this is " + r.Format.Title + ", which is recognised but not read",
		Hint: r.Format.Advice, Kind: ErrUnsupported}
}

// refusals is the error of a source in which several files are recognised and none is read.
func refusals(s Source, runs []Run) error {
	first := runs[0]
	return &Error{File: s.Name, Hint: first.Format.Advice, Kind: ErrUnsupported,
		Cause: fmt.Sprintf("%d of its files are recognised and none is read; the first, %s, is %s", len(runs),
			first.Label(first.Files[0]), first.Format.Title)}
}

// An Ambiguous error says that a source holds several runs.
type Ambiguous struct {
	Source    string
	Runs      []Run // in order of the formats, those only recognised too
	Unclaimed []string
}

// mostListed bounds how many runs or files a message names.
const mostListed = 12

func (e *Ambiguous) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: holds %d runs, not one", e.Source, len(e.Runs))
	for i, r := range e.Runs {
		if i == mostListed {
			fmt.Fprintf(&b, "\n  … and %d more", len(e.Runs)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", r.Format.Name, r.Label(r.Files[0]))
		if n := len(r.Files) - 1; n > 0 {
			fmt.Fprintf(&b, " and %d more files", n)
		}
		if r.Format.Import == nil {
			b.WriteString(" (recognised, not read)")
		}
	}
	if n := len(e.Unclaimed); n > 0 {
		fmt.Fprintf(&b, "\n  and %d files that no reader claims, first %s", n, e.Unclaimed[0])
	}
	b.WriteString("\nname one of them, or --join those that are one run")
	return b.String()
}

// Unwrap lets errors.Is tell it from broken input.
func (e *Ambiguous) Unwrap() error { return ErrUnsupported }

// An Unknown error says that no format claims anything in a source: it lists
// the formats tried, and how the input begins.
type Unknown struct {
	Cause Error
	Tried []string
}

func (e *Unknown) Error() string { return e.Cause.Error() }
func (e *Unknown) Unwrap() error { return e.Cause.Kind }

func newUnknown(formats []*Format, s Source) error {
	e := &Unknown{Cause: Error{File: s.Name, Kind: ErrUnsupported}}
	for _, f := range formats {
		e.Tried = append(e.Tried, f.Name)
	}
	if len(s.Files) == 0 {
		e.Cause.Cause = "holds no files to read"
		e.Cause.Hint = "run `parallax open` with the file or folder of the trace"
		if len(s.Skipped) > 0 {
			e.Cause.Cause += fmt.Sprintf(" (%s: %s)", s.Skipped[0].Path, s.Skipped[0].Why)
		}
		return e
	}
	first := s.Files[0].Path
	head, err := s.heads.get(s.FS, first, nil)
	switch {
	case err != nil && len(s.Files) == 1:
		return openError(s.Label(first), err)
	case err != nil:
		e.Cause.Cause = fmt.Sprintf("no reader knows any of these %d files; the first, %s, cannot be read: %s",
			len(s.Files), first, reason(err))
	case len(s.Files) == 1 && len(head) == 0:
		e.Cause.Cause, e.Cause.Hint = "the file is empty", "copy or record it again"
		return e
	case len(s.Files) == 1 && len(bytes.Trim(head, "\x00")) == 0:
		e.Cause.Cause = fmt.Sprintf("its first %d bytes are zero, as of a file that was never written", len(head))
		e.Cause.Hint = "copy it again"
		return e
	case len(s.Files) == 1:
		e.Cause.Cause = "no reader knows this input, which " + looks(head)
	default:
		e.Cause.Cause = fmt.Sprintf("no reader knows any of these %d files; the first, %s, %s", len(s.Files), first,
			looks(head))
	}
	e.Cause.Hint = fmt.Sprintf("`parallax formats` lists the %d formats that were tried, --format names one outright",
		len(e.Tried))
	return e
}

// looks describes how a file begins: as text where it is text, else in hexadecimal.
func looks(head []byte) string {
	if len(head) == 0 {
		return "is empty"
	}
	const most = 40
	text := string(head[:min(len(head), most)])
	for len(text) > most-utf8.UTFMax && !utf8.ValidString(text) { // a character cut in two
		text = text[:len(text)-1]
	}
	if utf8.ValidString(text) &&
		strings.IndexFunc(text,
			func(r rune) bool { return r != '\n' && r != '\r' && r != '\t' && !unicode.IsPrint(r) }) < 0 {
		return fmt.Sprintf("begins with %q", text)
	}
	return fmt.Sprintf("begins with the bytes % x", head[:min(len(head), 16)])
}
