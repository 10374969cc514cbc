package trace

// A FileID names a source file of line rows.
type FileID uint32

// NoFile stands for the file of the row's region.
const NoFile = ^FileID(0)

// A LineRow is the part of a profile cell that one source line has. A value of line 0 has no known line. Over the
// lines of a call path, exclusive values add up to that of the path. Inclusive values count a stack once for each
// region, file and line, so they add up over call paths too.
//
// A row with a callee describes the calls that the line makes: their number and inclusive value. It has no exclusive
// value, and its inclusive value is contained in that of the line.
type LineRow struct {
	Location  LocationID
	Path      CallPathID // the region that the line belongs to
	Callee    CallPathID // NoCallPath for the line itself
	File      FileID
	Line      uint32
	Metric    MetricID
	Calls     float64 // made by the line, of rows with a callee; 0 if they are not counted
	Inclusive float64
	Exclusive float64
}

// A LineTaker is a Writer that stores values of source lines.
type LineTaker interface {
	// SourceFile defines a file or finds it.
	SourceFile(name string) FileID
	Lines([]LineRow)
}

// AddLines adds rows to w.
func AddLines(w Writer, rows []LineRow) {
	if t, ok := w.(LineTaker); ok && len(rows) > 0 {
		t.Lines(rows)
	}
}

// SourceFile returns the number of a file in line rows of w.
func SourceFile(w Writer, name string) FileID {
	if t, ok := w.(LineTaker); ok {
		return t.SourceFile(name)
	}
	return NoFile
}
