package receive

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/parallax-hpc/parallax/internal/sealed"
)

// A full file takes so many bytes, and then has no space left.
type full struct {
	logFile
	left *atomic.Int64
}

func (f *full) Write(b []byte) (int, error) {
	if left := f.left.Add(-int64(len(b))); left < 0 {
		n, _ := f.logFile.Write(b[:max(int64(len(b))+left, 0)])
		return n, syscall.ENOSPC
	}
	return f.logFile.Write(b)
}

// Rounds of faults by turns: the receiver is killed, its disk is full, calls to its files fail; meanwhile others hold
// connections without sending, and send nonsense; between rounds a bit of the log turns. Acknowledged means kept: no
// more requests are missing than the log reports as damaged, and no more than bits were turned. SOAK_ROUNDS is how
// many rounds there are.
func TestAcknowledgedSpansSurviveRoundsOfFaults(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("SOAK_ROUNDS"))
	if rounds == 0 {
		rounds = 6
	}
	dir, chance := t.TempDir(), rand.New(rand.NewPCG(21, 22))
	var all []uint64
	flipped, refused, floods := 0, 0, 0
	for round := range rounds {
		at, stop := faultyReceiver(t, dir, round, chance)
		quiet := flood(t, at)
		got := sendAll(t, at, round, func(answered int) {
			if round%3 == 0 && answered == 30 {
				stop() // in the middle of what others send
			}
		})
		floods += quiet()
		stop()
		refused += requestsARound - len(got)
		all = append(all, got...)
		if round%2 == 1 && flipBit(t, dir, chance) {
			flipped++
		}
	}
	kept, damaged := sealedIn(t, dir)
	lost := 0
	for _, first := range all {
		if !kept[first+1] {
			lost++
		}
	}
	if lost > flipped || lost > damaged || len(all) < rounds {
		t.Errorf("%d of %d acknowledged requests are lost; %d bits were turned, %d requests are found to be damaged",
			lost, len(all), flipped, damaged)
	}
	t.Logf("%d rounds: %d requests (%d spans) acknowledged, %d refused, %d idle or wrong senders; %d bits turned, %d "+
		"requests lost to them, %d found to be damaged", rounds, len(all), 61*len(all), refused, floods, flipped, lost,
		damaged)
}

const requestsARound = 120

// faultyReceiver receives into a directory: a process that can be killed, or one here whose files fail.
func faultyReceiver(t *testing.T, dir string, round int, chance *rand.Rand) (at string, stop func()) {
	t.Helper()
	if round%3 == 0 {
		var address atomic.Value
		child := receiver(t, dir, &address)
		return address.Load().(string), sync.OnceFunc(func() {
			_ = child.Process.Kill()
			_ = child.Wait()
		})
	}
	r, s := start(t, Options{Dir: dir})
	space := new(atomic.Int64)
	space.Store(200 << 10)
	seed := chance.Uint64()
	r.log.create = func(path string) (logFile, error) {
		f, err := createFile(path)
		if round%3 == 1 {
			return &full{f, space}, err
		}
		return &flaky{f, rand.New(rand.NewPCG(seed, 1)), 8}, err
	}
	return strings.TrimPrefix(s.at, "http://"), sync.OnceFunc(func() { r.Close() })
}

// sendAll sends the requests of a round from four senders, and returns the first span of those acknowledged.
func sendAll(t *testing.T, at string, round int, after func(answered int)) (acknowledged []uint64) {
	var mu sync.Mutex
	var work sync.WaitGroup
	answered := 0
	for k := range 4 {
		work.Go(func() {
			s := newSender(at)
			for i := k; i < requestsARound; i += 4 {
				first := uint64(round*requestsARound+i) * 61
				status, _, err := s.call(message(t, first, 61), i%2 == 1)
				mu.Lock()
				answered++
				if err == nil && status == "0" {
					acknowledged = append(acknowledged, first)
				}
				after(answered)
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return acknowledged
}

// flood holds connections that announce much and send a byte, and sends what is no request, until it is told to end.
func flood(t *testing.T, at string) (end func() int) {
	t.Helper()
	stop := make(chan struct{})
	var work sync.WaitGroup
	var count atomic.Int64
	for k := range 3 {
		work.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				c, err := net.Dial("tcp", at)
				if err != nil {
					return // it was killed
				}
				count.Add(1)
				if k == 0 {
					fmt.Fprint(c, "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
						"Content-Length: 16777216\r\n\r\n{")
				} else {
					fmt.Fprint(c, "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-protobuf\r\n"+
						"Content-Length: 4\r\n\r\n\xff\xff\xff\xff")
					_, _ = c.Read(make([]byte, 64))
				}
				c.Close()
			}
		})
	}
	return func() int {
		close(stop)
		work.Wait()
		return int(count.Load())
	}
}

// sealedIn reads a log as its importer does, and returns the first span of each sound request, and how many requests
// are damaged.
func sealedIn(t *testing.T, dir string) (first map[uint64]bool, damaged int) {
	t.Helper()
	first = map[uint64]bool{}
	files, _ := filepath.Glob(filepath.Join(dir, "spans-*.otlp"))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for len(b) > 0 {
			r, ok := sealed.Next(b)
			if !ok {
				break
			}
			if r.Message == nil {
				damaged++
			} else if id := firstSpan(r.Message); id > 0 {
				first[id] = true
			}
			b = b[r.Size:]
		}
	}
	return first, damaged
}

// firstSpan returns the id of the first span of a request.
func firstSpan(message []byte) (id uint64) {
	each(message, 1, func(r []byte) bool {
		return each(r, 2, func(s []byte) bool {
			return each(s, 2, func(x []byte) bool {
				return each(x, 2, func(b []byte) bool {
					if id == 0 {
						id = binary.BigEndian.Uint64(b)
					}
					return true
				})
			})
		})
	})
	return id
}

// flipBit turns a bit of a file of the log.
func flipBit(t *testing.T, dir string, chance *rand.Rand) bool {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "spans-*.otlp"))
	files = slices.DeleteFunc(files, func(f string) bool {
		i, err := os.Stat(f)
		return err != nil || i.Size() < 1000
	})
	if len(files) == 0 {
		return false
	}
	path := files[chance.IntN(len(files))]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[chance.IntN(len(b))] ^= 1 << chance.IntN(8)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return true
}
