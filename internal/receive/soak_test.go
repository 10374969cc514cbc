package receive

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// 50,000 spans a second for as long as SOAK says, to a receiver that is killed in the middle and
// started again; senders send again what was not acknowledged, as exporters do. Nothing is lost.
// RECEIVE_AT and RECEIVE_DIR name one that runs already, such as `parallax receive`, and is not killed.
func TestNothingIsLostAtFiftyThousandSpansASecond(t *testing.T) {
	span, err := time.ParseDuration(os.Getenv("SOAK"))
	if err != nil {
		t.Skip("SOAK says for how long, such as 1m; see make soak-receive")
	}
	at, dir := os.Getenv("RECEIVE_AT"), os.Getenv("RECEIVE_DIR")
	own := at == ""
	var child *exec.Cmd
	var address atomic.Value
	address.Store(at)
	if own {
		dir = t.TempDir()
		child = receiver(t, dir, &address)
	}
	const senders, each, rate = 8, 500, 50_000
	var next, again, most atomic.Int64
	total := int64(span.Seconds() * rate)
	began := time.Now()
	var work sync.WaitGroup
	for range senders {
		work.Go(func() {
			s := newSender("")
			for first := next.Add(each) - each; first < total; first = next.Add(each) - each {
				m := message(t, uint64(first), each)
				time.Sleep(time.Until(began.Add(time.Duration(first) * time.Second / rate)))
				for {
					s.at = "http://" + address.Load().(string)
					if status, _, err := s.call(m, false); err == nil && status == "0" {
						break
					}
					again.Add(1)
					time.Sleep(50 * time.Millisecond)
				}
			}
		})
	}
	if own {
		time.Sleep(span / 2)
		most.Store(resident(child.Process.Pid))
		_ = child.Process.Kill()
		_ = child.Wait()
		child = receiver(t, dir, &address)
	}
	work.Wait()
	took := time.Since(began)
	if own {
		most.Store(max(most.Load(), resident(child.Process.Pid)))
		_ = child.Process.Kill()
		_ = child.Wait()
	}
	got, twice := idsIn(t, dir), 0
	for id := range uint64(total) {
		switch n := got[id+1]; {
		case n == 0:
			t.Fatalf("span %d is lost", id)
		case n > 1:
			twice++
		}
	}
	t.Logf("%d spans in %.1f s, none lost, %d twice, %d requests sent again, at most %d MB of memory", total, took.Seconds(), twice, again.Load(), most.Load()>>10)
}

// receiver starts a process that receives into a directory.
func receiver(t *testing.T, dir string, address *atomic.Value) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "RECEIVE_INTO="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the receiver says %q, %v", line, err)
	}
	address.Store(strings.TrimSpace(line))
	return c
}

// resident is the most memory that a process had, in kB; 0 where the system does not tell.
func resident(pid int) (kilobytes int64) {
	status, _ := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "status"))
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, _ = fmt.Sscan(rest, &kilobytes)
		}
	}
	return kilobytes
}
