package receive

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Senders that announce much and send a byte hold nothing. They may be idle for as long as an honest one can be held up on
// a busy machine.
func TestIdleSendersDoNotBlockOthers(t *testing.T) {
	r, s := start(t, Options{Dir: t.TempDir(), patience: time.Millisecond, idle: 2 * time.Second})
	for range 8 {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.at, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
			"Content-Length: 16777216\r\n\r\n{")
	}
	for r.inside.Load() < 8 && r.Counts().RefusedSlow == 0 {
		runtime.Gosched()
	}
	if a, body, err := s.post("application/x-protobuf", message(t, 0, 500), false); err != nil || a.StatusCode != 200 {
		t.Errorf("%v %v %s", err, a, body)
	}
	for r.Counts().RefusedSlow < 8 { // the test ends by its own time where they stay
		time.Sleep(time.Millisecond)
	}
}

// A few kilobytes that unpack to millions of empty objects take no more than the room there is.
func TestSmallBodiesThatUnpackToMuchAreBounded(t *testing.T) {
	r, s := start(t, Options{Dir: t.TempDir()})
	bomb := []byte(`{"resourceSpans":[` + strings.Repeat("{},", 5_500_000) + "{}]}")
	var before, after runtime.MemStats
	var work sync.WaitGroup
	zip := packed(bomb)
	bomb = nil
	runtime.GC()
	runtime.ReadMemStats(&before)
	stop, peak := make(chan struct{}), uint64(0)
	work.Go(func() {
		for {
			runtime.GC() // what is alive counts, and not what a busy machine has yet to collect
			runtime.ReadMemStats(&after)
			peak = max(peak, after.HeapAlloc)
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	})
	var senders sync.WaitGroup
	for range 3 {
		senders.Go(func() {
			q, _ := http.NewRequest("POST", s.at+"/v1/traces", strings.NewReader(string(zip)))
			q.Header.Set("Content-Type", "application/json")
			q.Header.Set("Content-Encoding", "gzip")
			if a, err := s.client.Do(q); err == nil {
				a.Body.Close()
			}
		})
	}
	senders.Wait()
	close(stop)
	work.Wait()
	if took := int64(peak) - int64(before.HeapAlloc); took > 320<<20 {
		t.Errorf("3 times %d KB took %d MiB", len(zip)>>10, took>>20)
	}
	if r.Counts().FailedWrites > 0 {
		t.Errorf("%+v", r.Counts())
	}
}

// send sends requests of 61 spans each, and returns the numbers of those that were acknowledged.
func send(t *testing.T, s *sender, from, requests int) (acknowledged []uint64) {
	t.Helper()
	for i := from; i < from+requests; i++ {
		if status, _, err := s.call(message(t, uint64(i*61), 61), false); err == nil && status == "0" {
			acknowledged = append(acknowledged, uint64(i*61))
		}
	}
	return acknowledged
}

func missing(t *testing.T, dir string, acknowledged []uint64) (spans int) {
	t.Helper()
	got := idsIn(t, dir)
	for _, first := range acknowledged {
		for i := range uint64(61) {
			if got[first+i+1] == 0 {
				spans++
			}
		}
	}
	return spans
}

func TestAFlippedBitOfTheLogCostsAtMostItsRequest(t *testing.T) {
	for _, c := range []struct {
		name                     string
		at                       int64 // within a request in the middle
		lost                     int
		mended, damaged, cutOnes int64
	}{{"length", 1, 0, 1, 0, 0}, {"message", 500, 61, 0, 1, 0}} {
		dir := t.TempDir()
		r, s := start(t, Options{Dir: dir})
		all := send(t, s, 0, 100)
		if err := r.Close(); err != nil || len(all) != 100 {
			t.Fatal(err, len(all))
		}
		path := filepath.Join(dir, SegmentName(1))
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		size := int64(len(b)) / 100
		at := int64(0)
		for i := 0; i < 50; i++ {
			at += 4 + int64(b[at])<<24 + int64(b[at+1])<<16 + int64(b[at+2])<<8 + int64(b[at+3])
		}
		b[at+c.at] ^= 0x10
		if err := os.WriteFile(path, b, 0o600); err != nil || size < 600 {
			t.Fatal(err, size)
		}
		r, err = New(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		n := r.Counts()
		if n.MendedLengths != c.mended || n.DamagedRequests != c.damaged || n.CutBytes != 0 {
			t.Errorf("%s: %+v", c.name, n)
		}
		r.Close()
		if lost := missing(t, dir, all); lost > c.lost {
			t.Errorf("%s: %d of 6,100 acknowledged spans are lost", c.name, lost)
		}
	}
}

// A flaky file fails at calls that chance picks, and writes a part then.
type flaky struct {
	logFile
	chance *rand.Rand
	every  int
}

var errFlaky = errors.New("input/output error")

func (f *flaky) fails() bool { return f.chance.IntN(f.every) == 0 }

func (f *flaky) Write(b []byte) (int, error) {
	if f.fails() {
		n, _ := f.logFile.Write(b[:f.chance.IntN(len(b)+1)])
		return n, errFlaky
	}
	return f.logFile.Write(b)
}

func (f *flaky) Sync() error {
	if f.fails() {
		return errFlaky
	}
	return f.logFile.Sync()
}

func (f *flaky) Truncate(n int64) error {
	if f.fails() {
		return errFlaky
	}
	return f.logFile.Truncate(n)
}

// Whatever call fails, what was acknowledged is there, also when the log is opened again.
func TestFailingDisksLoseNothingThatWasAcknowledged(t *testing.T) {
	dir, chance := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var all []uint64
	refused := int64(0)
	for round := range 8 {
		r, s := start(t, Options{Dir: dir})
		r.log.create = func(path string) (logFile, error) {
			if chance.IntN(6) == 0 {
				return nil, errFlaky
			}
			f, err := createFile(path)
			return &flaky{f, chance, 6}, err
		}
		all = append(all, send(t, s, round*40, 40)...)
		refused += r.Counts().FailedWrites
		r.Close()
	}
	if lost := missing(t, dir, all); lost > 0 || refused == 0 || len(all) == 0 {
		t.Errorf("%d of %d acknowledged spans are lost; %d requests were refused", lost, len(all)*61, refused)
	}
	t.Logf("%d requests acknowledged, %d refused", len(all), refused)
}
