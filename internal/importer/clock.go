package importer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Offset is added to the times of a run.
type Offset struct {
	By    trace.Time
	Given bool // by the user; else found or none
}

// longestPause is the longest time between two sources that may be on one clock: a job does not pause for a day.
const longestPause = trace.Time(24 * 60 * 60 * 1e9)

// surelyOff is the least difference of an event in two sources that cannot be the time that recording it takes.
const surelyOff = trace.Time(1e9)

// fitClocks reads the times of runs that are to be joined and returns what it found and the offset of each. Runs whose
// clocks cannot be one get an offset from events that both have recorded; without such events they are refused.
func fitClocks(ctx context.Context, runs []Run, w trace.Writer) ([]*survey, []trace.Time, error) {
	surveys := make([]*survey, len(runs))
	offsets := make([]trace.Time, len(runs))
	for i, r := range runs {
		r.Progress = nil // this reading is not the import
		surveys[i], offsets[i] = newSurvey(), r.Offset.By
		if err := r.Format.Import(ctx, r, surveys[i]); err != nil {
			return nil, nil, labelled(ctx, r, err)
		}
		surveys[i].settle()
	}
	placed := []int{}
	for i, s := range surveys {
		if !s.any { // a profile has no times
			continue
		}
		if len(placed) > 0 && !runs[i].Offset.Given {
			by, common, what := commonOffset(surveys, offsets, placed, i)
			if common == 0 {
				by, common, what = dayOffset(surveys, offsets, placed, i)
				if common > 0 && !s.near(by, surveys, offsets, placed, longestPause) {
					j := placed[0]
					return nil, nil, refuseDays(runs[j], runs[i], surveys[j].begin+offsets[j], s, by)
				}
			}
			j := placed[0]
			near := s.near(0, surveys, offsets, placed, longestPause)
			if common == 0 && !near {
				return nil, nil, refuseClocks(runs[j], runs[i], surveys[j].begin+offsets[j], s.begin)
			}
			if common == 0 && !s.near(0, surveys, offsets, placed, 0) {
				w.Report(trace.Guessed, "joined sources one of which ends before the other begins: their clocks "+
					"may differ",
					1, anOffset(runs[j], runs[i], surveys[j].begin+offsets[j], s.begin))
			}
			if common > 0 && (!near || max(by, -by) >= surelyOff) {
				offsets[i] = by
				w.Report(trace.Guessed, "clock offsets of joined sources, found from "+what, int64(common),
					fmt.Sprintf("%s: %s", runs[i].Label(runs[i].Files[0]), written(by)))
			}
		}
		if runs[i].Offset.Given {
			w.Report(trace.Guessed, "clock offsets of joined sources, as given", 1,
				fmt.Sprintf("%s: %s", runs[i].Label(runs[i].Files[0]), written(offsets[i])))
		}
		placed = append(placed, i)
	}
	return surveys, offsets, nil
}

// near reports whether a run, with an offset, overlaps one of the others in time, or begins or ends at most a pause
// away.
func (s *survey) near(by trace.Time, surveys []*survey, offsets []trace.Time, others []int, pause trace.Time) bool {
	return slices.ContainsFunc(others, func(j int) bool {
		begin, end := surveys[j].begin+offsets[j], surveys[j].end+offsets[j]
		return s.begin+by-end <= pause && begin-s.end-by <= pause
	})
}

// leastNames is from how many on names that occur once in two sources tell an offset, and closely how near to each
// other its values must be: a name may be the same by chance.
const (
	leastNames = 3
	closely    = trace.Time(1e6)
)

// commonOffset is the median difference over the events that run i has in common with others, their number, and what
// they are.
func commonOffset(surveys []*survey, offsets []trace.Time, others []int, i int) (trace.Time, int, string) {
	own := surveys[i]
	var differences []trace.Time
	for name, at := range own.events {
		if own.twice[name] {
			continue
		}
		for _, j := range others {
			if t, ok := surveys[j].events[name]; ok && !surveys[j].twice[name] {
				differences = append(differences, t+offsets[j]-at)
				break
			}
		}
	}
	if len(differences) > 0 {
		return median(differences), len(differences),
			"spans with the same ids, sync markers of the same name or the same calls of MPI_Init and MPI_Barrier " +
				"in both"
	}
	for among := range own.singles {
		if by, n := nameOffset(surveys, offsets, others, own.single(among), among); n > 0 {
			return by, n, "regions that occur once, under the same names, in both"
		}
	}
	return 0, 0, ""
}

// nameOffset is the median difference over regions that occur once in a run and in one of the others, and the number
// of those that differ by it; 0: too few.
func nameOffset(surveys []*survey, offsets []trace.Time, others []int, own map[named]trace.Time, among int) (trace.Time,
	int) {
	var byName []trace.Time
	for _, j := range others {
		for name, t := range surveys[j].single(among) {
			if at, ok := own[name]; ok {
				byName = append(byName, t+offsets[j]-at)
			}
		}
	}
	if len(byName) < leastNames {
		return 0, 0
	}
	by := median(byName)
	byName = slices.DeleteFunc(byName, func(d trace.Time) bool { return max(d-by, by-d) > closely })
	if len(byName) < leastNames {
		return 0, 0
	}
	return by, len(byName)
}

// dayOffset is the offset of run i by the time of day, where its source and one of the others tell it.
func dayOffset(surveys []*survey, offsets []trace.Time, others []int, i int) (trace.Time, int, string) {
	own, ok := surveys[i].sinceEpoch()
	for _, j := range others {
		if other, known := surveys[j].sinceEpoch(); ok && known {
			return own - other + offsets[j], 1, "the time of day that each of them tells"
		}
	}
	return 0, 0, ""
}

// sinceEpoch is what added to times of a run gives times since 1970, if its source tells.
func (s *survey) sinceEpoch() (trace.Time, bool) {
	if s.told || !countsFrom1970(s.begin) {
		return s.epoch, s.told
	}
	return 0, true
}

// TimeOfDay tells a writer what a time of a source's clock is in nanoseconds since 1970. Sources that are joined are
// put on one clock by it.
func TimeOfDay(w trace.Writer, at, since1970 trace.Time) {
	if s, ok := w.(*survey); ok {
		s.mu.Lock()
		s.epoch, s.told = since1970-at, true
		s.mu.Unlock()
	}
}

func median(list []trace.Time) trace.Time {
	slices.Sort(list)
	return list[len(list)/2]
}

// refuseClocks is the error of two runs whose clocks cannot be one.
func refuseClocks(a, b Run, beginA, beginB trace.Time) error {
	hint := anOffset(a, b, beginA, beginB)
	if beginB > beginA {
		a, b, beginA, beginB = b, a, beginB, beginA
	}
	nameA, nameB := a.Label(a.Files[0]), b.Label(b.Files[0])
	return &Error{File: nameB, Kind: ErrUnsupported,
		Cause: fmt.Sprintf("it begins %s, %s begins %s: these are not one clock, and no span id, sync marker, call of "+
			"MPI_Init or set of names is in both", epoch(beginB), nameA, epoch(beginA)),
		Hint: hint}
}

// refuseDays is the error of two runs that were recorded on different days, as both of them tell. by puts b on the
// clock of a.
func refuseDays(a, b Run, beginA trace.Time, s *survey, by trace.Time) error {
	own, _ := s.sinceEpoch()
	return &Error{File: b.Label(b.Files[0]), Kind: ErrUnsupported,
		Cause: fmt.Sprintf("it begins %s, %s begins %s: these are not one run", day(s.begin+own), a.Label(a.Files[0]),
			day(beginA-by+own)),
		Hint: anOffset(a, b, beginA, s.begin)}
}

func day(t trace.Time) string {
	return "at " + time.Unix(0, int64(t)).UTC().Format("2006-01-02 15:04:05") + " UTC"
}

// anOffset tells how to give the offset that begins two runs at one time. The one that begins earlier is moved: its
// clock does not count from 1970 if only one does.
func anOffset(a, b Run, beginA, beginB trace.Time) string {
	if beginB > beginA {
		b, beginA, beginB = a, beginB, beginA
	}
	return fmt.Sprintf("give an offset, such as %s@%s, which begins both at one time", b.Label(b.Files[0]),
		written(beginA-beginB))
}

// countsFrom1970 reports whether a time is a date: no machine is up for three years.
func countsFrom1970(t trace.Time) bool { return time.Duration(t) > 3*365*24*time.Hour }

// epoch describes a time: a date if it counts from 1970, else the time on a clock of unknown origin.
func epoch(t trace.Time) string {
	if countsFrom1970(t) {
		return "at " + time.Unix(0, int64(t)).UTC().Format("2006-01-02 15:04:05") + " UTC (it counts from 1970)"
	}
	return time.Duration(t).String() + " after the zero of its own clock"
}

// written is an offset as a user gives it, exact.
func written(by trace.Time) string {
	sign := "+"
	if by < 0 {
		sign, by = "-", -by
	}
	text := strconv.FormatInt(int64(by/1e9), 10)
	if rest := by % 1e9; rest != 0 {
		text += fmt.Sprintf(".%09d", rest)
		for text[len(text)-1] == '0' {
			text = text[:len(text)-1]
		}
	}
	return sign + text + "s"
}

// shiftedStream is a stream on a clock that is off.
type shiftedStream struct {
	trace.Stream
	by trace.Time
}

func (s *shiftedStream) Enter(t trace.Time, r trace.RegionID)   { s.Stream.Enter(t+s.by, r) }
func (s *shiftedStream) Leave(t trace.Time, r trace.RegionID)   { s.Stream.Leave(t+s.by, r) }
func (s *shiftedStream) Instant(t trace.Time, r trace.RegionID) { s.Stream.Instant(t+s.by, r) }
func (s *shiftedStream) Rounded(most trace.Time)                { trace.SetRounded(s.Stream, most) }
func (s *shiftedStream) Interval(begin, end trace.Time, r trace.RegionID) {
	s.Stream.Interval(begin+s.by, end+s.by, r)
}
func (s *shiftedStream) Sample(c trace.CounterID, t trace.Time, v float64) {
	s.Stream.Sample(c, t+s.by, v)
}
