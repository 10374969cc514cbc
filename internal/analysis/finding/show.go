package finding

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Command returns the command that draws a finding of a source whose time ends at end: the view with its options and
// time range, and of a timeline its rows. Views that compare rows show them all.
func (f *Finding) Command(source string, end trace.Time) string {
	words := []string{"parallax", "view", f.View, shellWord(source)}
	for _, name := range slices.Sorted(maps.Keys(f.Options)) {
		for _, v := range f.Options[name] {
			words = append(words, "--"+name, shellWord(v))
		}
	}
	if f.partOf(end) {
		words = append(words, "--from", fmt.Sprintf("%dns", f.Selection.Begin), "--to",
			fmt.Sprintf("%dns", f.Selection.End))
	}
	if f.View == "timeline" && len(f.Selection.Locations) > 1 { // one row alone does not show that it differs from
		words = append(words, "--locations", shellWord(idList(f.Selection.Locations)))
	}
	return strings.Join(append(words, "-o", f.View+".svg"), " ")
}

// Page returns the query of the address of the page that shows a finding: the view and its options, zoomed into the
// time range, with its locations and regions selected.
func (f *Finding) Page(end trace.Time) string {
	q := url.Values{"v": {f.View}}
	if f.partOf(end) {
		q.Set("t", fmt.Sprintf("%d-%d", f.Selection.Begin, f.Selection.End))
	}
	if len(f.Selection.Locations) > 0 {
		q.Set("locations", idList(f.Selection.Locations))
	}
	for _, r := range f.Selection.Regions {
		q.Add("regions", fmt.Sprint("#", r))
	}
	for name, values := range f.Options {
		q["0."+name] = values
	}
	return strings.NewReplacer("%2C", ",", "%3A", ":", "%2F", "/").Replace(q.Encode())
}

// partOf reports whether a finding is about a part of the time up to end.
func (f *Finding) partOf(end trace.Time) bool {
	return f.Selection.End > f.Selection.Begin && (f.Selection.Begin > 0 || f.Selection.End < end)
}

// idList writes ids as selections take them: "#3,5-9".
func idList(ids []trace.LocationID) string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	var items []string
	for i := 0; i < len(ids); {
		k := i
		for k+1 < len(ids) && ids[k+1] <= ids[k]+1 {
			k++
		}
		item := strconv.FormatUint(uint64(ids[i]), 10)
		if ids[k] > ids[i] {
			item += "-" + strconv.FormatUint(uint64(ids[k]), 10)
		}
		items = append(items, item)
		i = k + 1
	}
	return "#" + strings.Join(items, ",")
}

// shellWord writes a word for a shell.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:=@%+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
