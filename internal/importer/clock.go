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
	}
	placed := []int{}
	for i, s := range surveys {
		if !s.any { // a profile has no times
			continue
		}
		if len(placed) > 0 && !runs[i].Offset.Given {
			by, common, what := commonOffset(surveys, offsets, placed, i)
			near := s.near(surveys, offsets, placed)
			if common == 0 && !near {
				j := placed[0]
				return nil, nil, refuseClocks(runs[j], runs[i], surveys[j].begin+offsets[j], s.begin)
			}
			if common > 0 && (!near || max(by, -by) >= surelyOff) {
				offsets[i] = by
				w.Report(trace.Guessed, "clock offsets of joined sources, found from "+what+" in both", int64(common),
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

// near reports whether the times of a run may be on the clock of one of the others: they overlap, or nearly.
func (s *survey) near(surveys []*survey, offsets []trace.Time, others []int) bool {
	return slices.ContainsFunc(others, func(j int) bool {
		begin, end := surveys[j].begin+offsets[j], surveys[j].end+offsets[j]
		return s.begin-end <= longestPause && begin-s.end <= longestPause
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
	var differences, byName []trace.Time
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
			"spans with the same ids, sync markers of the same name or the same calls of MPI_Init and MPI_Barrier"
	}
	single := own.single()
	for _, j := range others {
		for name, t := range surveys[j].single() {
			if at, ok := single[name]; ok {
				byName = append(byName, t+offsets[j]-at)
			}
		}
	}
	if len(byName) < leastNames {
		return 0, 0, ""
	}
	by := median(byName)
	byName = slices.DeleteFunc(byName, func(d trace.Time) bool { return max(d-by, by-d) > closely })
	if len(byName) < leastNames {
		return 0, 0, ""
	}
	return by, len(byName), "regions that occur once, under the same names,"
}

func median(list []trace.Time) trace.Time {
	slices.Sort(list)
	return list[len(list)/2]
}

// refuseClocks is the error of two runs whose clocks cannot be one.
func refuseClocks(a, b Run, beginA, beginB trace.Time) error {
	if beginB > beginA { // the clock that does not count from 1970 is moved
		a, b, beginA, beginB = b, a, beginB, beginA
	}
	nameA, nameB := a.Label(a.Files[0]), b.Label(b.Files[0])
	return &Error{File: nameB, Kind: ErrUnsupported,
		Cause: fmt.Sprintf("it begins %s, %s begins %s: these are not one clock, and no span id, sync marker, call of "+
			"MPI_Init or set of names is in both", epoch(beginB), nameA, epoch(beginA)),
		Hint: fmt.Sprintf("give an offset, such as %s@%s, which begins both at one time", nameB,
			written(beginA-beginB))}
}

// epoch describes a time: a date if it counts from 1970, else the time on a clock of unknown origin.
func epoch(t trace.Time) string {
	if time.Duration(t) > 3*365*24*time.Hour { // no machine is up for so long
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
