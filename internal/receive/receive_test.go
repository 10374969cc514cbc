package receive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/protobuf/encoding/protowire"
)

// TestMain is also the receiver that a test kills: a process of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RECEIVE_INTO"); dir != "" {
		r, err := New(Options{Dir: dir})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			os.Exit(1)
		}
		fmt.Println(l.Addr())
		_ = newHTTP(r).Serve(l)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func newHTTP(r *Receiver) *http.Server {
	h := &http.Server{Handler: r, Protocols: new(http.Protocols)}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetUnencryptedHTTP2(true)
	return h
}

// spansOf makes a request of so many spans whose ids count on from one.
func spansOf(first uint64, n int) ptrace.Traces {
	t := ptrace.NewTraces()
	rs := t.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	spans.EnsureCapacity(n)
	for i := range n {
		s := spans.AppendEmpty()
		var trace [16]byte
		var id [8]byte
		binary.BigEndian.PutUint64(trace[8:], 1+first/8)
		binary.BigEndian.PutUint64(id[:], first+uint64(i)+1)
		s.SetTraceID(pcommon.TraceID(trace))
		s.SetSpanID(pcommon.SpanID(id))
		s.SetName("GET /cart")
		s.SetStartTimestamp(pcommon.Timestamp(1_700_000_000_000_000_000 + (first+uint64(i))*1000))
		s.SetEndTimestamp(s.StartTimestamp() + 50_000)
		s.Attributes().PutInt("http.status_code", 200)
	}
	return t
}

func message(t testing.TB, first uint64, n int) []byte {
	t.Helper()
	b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(spansOf(first, n))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func packed(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	z.Close()
	return out.Bytes()
}

// A sender speaks gRPC or HTTP to a receiver.
type sender struct {
	client *http.Client
	at     string
}

func newSender(address string) *sender {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return &sender{&http.Client{Transport: &http.Transport{Protocols: p}, Timeout: time.Minute}, "http://" + address}
}

// call sends one message over gRPC and gives the status of the trailers.
func (s *sender) call(body []byte, zip bool) (status, details string, err error) {
	frame := []byte{0, 0, 0, 0, 0}
	if zip {
		frame[0], body = 1, packed(body)
	}
	binary.BigEndian.PutUint32(frame[1:], uint32(len(body)))
	q, err := http.NewRequest(http.MethodPost, s.at+"/opentelemetry.proto.collector.trace.v1.TraceService/Export", bytes.NewReader(append(frame, body...)))
	if err != nil {
		return "", "", err
	}
	q.Header.Set("Content-Type", "application/grpc+proto")
	q.Header.Set("Te", "trailers")
	if zip {
		q.Header.Set("Grpc-Encoding", "gzip")
	}
	a, err := s.client.Do(q)
	if err != nil {
		return "", "", err
	}
	defer a.Body.Close()
	if _, err := io.Copy(io.Discard, a.Body); err != nil {
		return "", "", err
	}
	return a.Trailer.Get("Grpc-Status"), a.Trailer.Get("Grpc-Status-Details-Bin"), nil
}

func (s *sender) post(kind string, body []byte, zip bool, head ...string) (*http.Response, string, error) {
	if zip {
		body = packed(body)
	}
	q, err := http.NewRequest(http.MethodPost, s.at+"/v1/traces", bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	q.Header.Set("Content-Type", kind)
	if zip {
		q.Header.Set("Content-Encoding", "gzip")
	}
	for i := 0; i+1 < len(head); i += 2 {
		if head[i] == "Host" {
			q.Host = head[i+1]
		}
		q.Header.Set(head[i], head[i+1])
	}
	a, err := s.client.Do(q)
	if err != nil {
		return nil, "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return a, string(text), err
}

// start runs a receiver in this process.
func start(t testing.TB, o Options) (*Receiver, *sender) {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newHTTP(r)
	go h.Serve(l)
	t.Cleanup(func() { h.Close(); r.Close() })
	return r, newSender(l.Addr().String())
}

// idsIn are the ids of all spans in a log, as it lies on disk.
func idsIn(t testing.TB, dir string) map[uint64]int {
	t.Helper()
	out := map[uint64]int{}
	files, _ := filepath.Glob(filepath.Join(dir, "spans-*.otlp"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for len(b) >= 4 {
			n := binary.BigEndian.Uint32(b)
			if uint32(len(b)-4) < n {
				break
			}
			each(b[4:4+n], 1, func(r []byte) bool {
				return each(r, 2, func(s []byte) bool {
					return each(s, 2, func(x []byte) bool {
						return each(x, 2, func(id []byte) bool { out[binary.BigEndian.Uint64(id)]++; return true })
					})
				})
			})
			b = b[4+n:]
		}
	}
	return out
}

func TestAcknowledgedSpansAreOnDiskInEveryEncoding(t *testing.T) {
	dir := t.TempDir()
	r, s := start(t, Options{Dir: dir})
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(spansOf(30, 3))
	if err != nil {
		t.Fatal(err)
	}
	for i, zip := range []bool{false, true} {
		if status, _, err := s.call(message(t, uint64(100*i), 3), zip); status != "0" || err != nil {
			t.Errorf("gRPC, packed %v: status %q, %v", zip, status, err)
		}
		if a, body, err := s.post("application/x-protobuf", message(t, uint64(100*i+10), 3), zip); err != nil || a.StatusCode != 200 || body != "" {
			t.Errorf("protobuf, packed %v: %v %v %q", zip, err, a, body)
		}
		if a, body, err := s.post("application/json", text, zip); err != nil || a.StatusCode != 200 || body != "{}" {
			t.Errorf("JSON, packed %v: %v %v %q", zip, err, a, body)
		}
	}
	got := idsIn(t, dir)
	for _, id := range []uint64{1, 2, 3, 11, 12, 13, 31, 32, 33, 101, 102, 103, 111, 112, 113} {
		if got[id] == 0 {
			t.Errorf("span %d was acknowledged and is not on disk", id)
		}
	}
	if c := r.Counts(); c.Spans != 18 || c.Requests != 6 || len(got) != 15 {
		t.Errorf("%+v, %d ids", c, len(got))
	}
}

// A process that is killed again and again loses nothing that it acknowledged.
func TestKilledWithoutLosingWhatWasAcknowledged(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	var next atomic.Uint64
	var mu sync.Mutex
	acknowledged := map[uint64]bool{}
	for round := range 3 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "RECEIVE_INTO="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || !strings.HasPrefix(address, "127.") {
			t.Fatalf("the receiver says %q, %v", address, err)
		}
		var senders sync.WaitGroup
		enough := make(chan struct{}, 4)
		for range 4 {
			senders.Go(func() {
				s := newSender(strings.TrimSpace(address))
				for n := 0; ; n++ {
					first := next.Add(50) - 50
					status, _, err := s.call(message(t, first, 50), n%2 == 1)
					if err != nil || status != "0" {
						return // killed
					}
					mu.Lock()
					acknowledged[first] = true
					mu.Unlock()
					if n == 5 {
						enough <- struct{}{}
					}
				}
			})
		}
		for range 4 {
			<-enough
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		senders.Wait()
		_ = child.Wait()
		if round == 2 { // as if the machine had stopped in the middle of a write
			files, _ := filepath.Glob(filepath.Join(dir, "spans-*.otlp"))
			slices.Sort(files)
			f, err := os.OpenFile(files[len(files)-1], os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = f.Write(append([]byte{0, 0, 4, 0}, message(t, 1<<40, 2)...))
			f.Close()
		}
	}
	r, _ := start(t, Options{Dir: dir})
	if c := r.Counts(); c.CutBytes == 0 {
		t.Error("nothing was cut: ", c)
	}
	got := idsIn(t, dir)
	for first := range acknowledged {
		for i := range uint64(50) {
			if got[first+i+1] == 0 {
				t.Fatalf("span %d was acknowledged and is lost", first+i+1)
			}
		}
	}
	if got[1<<40+1] > 0 {
		t.Error("half a request was kept")
	}
	t.Logf("%d requests acknowledged, %d spans on disk", len(acknowledged), len(got))
}

// Where there is no room, senders are told when to come again, and nothing is lost by it.
func TestSendersAreAskedToComeAgain(t *testing.T) {
	dir := t.TempDir()
	r, s := start(t, Options{Dir: dir, Largest: 1 << 16, Room: 1 << 16, patience: time.Millisecond})
	taken := &held{receiver: r, ctx: context.Background()}
	if bad := taken.grow(1 << 16); bad != nil {
		t.Fatal(bad)
	}
	status, details, err := s.call(message(t, 0, 100), false)
	if status != "8" || details == "" || err != nil {
		t.Errorf("gRPC: status %q, details %q, %v", status, details, err)
	}
	a, body, err := s.post("application/x-protobuf", message(t, 0, 100), false)
	if err != nil || a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "1" || !strings.Contains(body, "google.rpc.RetryInfo") {
		t.Errorf("HTTP: %v %v %q", err, a, body)
	}
	if c := r.Counts(); c.RefusedBusy != 2 || c.Spans != 0 || len(idsIn(t, dir)) != 0 {
		t.Errorf("%+v", c)
	}
	taken.back()
	if status, _, err := s.call(message(t, 0, 100), false); status != "0" || err != nil {
		t.Errorf("with room: status %q, %v", status, err)
	}
}

func TestTheOldestSpansAreDroppedBeyondTheLimit(t *testing.T) {
	dir := t.TempDir()
	r, s := start(t, Options{Dir: dir, Limit: 1 << 20})
	n := uint64(0)
	for ; r.Counts().Bytes < 3<<20; n += 500 {
		if status, _, err := s.call(message(t, n, 500), false); status != "0" || err != nil {
			t.Fatal(status, err)
		}
	}
	var size int64
	files, _ := filepath.Glob(filepath.Join(dir, "spans-*.otlp"))
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			size += info.Size()
		}
	}
	got := idsIn(t, dir)
	c := r.Counts()
	if size > 1<<20+1<<17 || c.RotatedBytes == 0 || got[1] != 0 || got[n] == 0 {
		t.Errorf("%d bytes on disk, %+v, first there %d, last there %d", size, c, got[1], got[n])
	}
	// What is shown is the newest, in whole files, and no more than asked for.
	shown := r.Shown(time.Hour, 1<<18)
	var sum int64
	for _, f := range shown.files {
		sum += f.size
	}
	if sum == 0 || sum > 1<<18 || shown.files[len(shown.files)-1].path != files[len(files)-1] {
		t.Errorf("shown: %d bytes of %v", sum, shown.files)
	}
}

func TestInvalidRequestsAreRefusedWithAReason(t *testing.T) {
	dir := t.TempDir()
	r, s := start(t, Options{Dir: dir, Largest: 1 << 16})
	bomb := bytes.Repeat([]byte{0}, 1<<20)
	for _, c := range []struct {
		name   string
		kind   string
		body   []byte
		zip    bool
		head   []string
		status int
		says   string
	}{
		{"noise", "application/x-protobuf", []byte("GET / HTTP/1.1"), false, nil, 400, "not a message of spans"},
		{"cut", "application/x-protobuf", message(t, 0, 3)[:40], false, nil, 400, "not a message of spans"},
		{"short ids", "application/x-protobuf", shortID(), false, nil, 400, "not a message of spans"},
		{"cut JSON", "application/json", []byte(`{"resourceSpans":[`), false, nil, 400, "not JSON of spans"},
		{"text", "text/plain", []byte("hello"), false, nil, 415, "neither"},
		{"large", "application/x-protobuf", bomb, false, nil, 413, "fewer spans"},
		{"a bomb", "application/x-protobuf", bomb, true, nil, 413, "fewer spans"},
		{"a page", "application/json", []byte("{}"), false, []string{"Origin", "https://example.org"}, 403, "web pages"},
		{"another host", "application/json", []byte("{}"), false, []string{"Host", "example.org"}, 403, "host"},
	} {
		a, body, err := s.post(c.kind, c.body, c.zip, c.head...)
		if err != nil || a.StatusCode != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %v, %v, %q; want %d and %q", c.name, err, a, body, c.status, c.says)
		}
	}
	c := r.Counts()
	if c.RefusedMalformed != 5 || c.RefusedLarge != 2 || c.RefusedToken != 2 || c.Spans != 0 {
		t.Errorf("%+v", c)
	}
}

// shortID is a request whose span has an id of four bytes.
func shortID() []byte {
	span := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), []byte{1, 2, 3, 4})
	scope := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), span)
	resource := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), scope)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), resource)
}

func TestATokenIsAskedForWhereThereAreSome(t *testing.T) {
	_, s := start(t, Options{Dir: t.TempDir(), Allow: func(token string) bool { return Same(token, "open sesame") }})
	for token, want := range map[string]int{"": 403, "Bearer wrong": 403, "Bearer open sesame": 200} {
		a, body, err := s.post("application/x-protobuf", message(t, 0, 1), false, "Authorization", token)
		if err != nil || a.StatusCode != want {
			t.Errorf("%q: %v, %v, %q; want %d", token, err, a, body, want)
		}
	}
}

func TestOneProcessReceivesIntoADirectory(t *testing.T) {
	dir := t.TempDir()
	start(t, Options{Dir: dir})
	if r, err := New(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("%v, %v", r, err)
	}
}

// Many senders at once: nothing is lost, and everything is written in batches. The minute at
// 50,000 a second is BenchmarkLoad.
func TestNothingIsLostUnderLoad(t *testing.T) {
	dir := t.TempDir()
	r, s := start(t, Options{Dir: dir})
	load(t, s, 8, 10, 500)
	if got := idsIn(t, dir); len(got) != 8*10*500 || r.Counts().Spans != int64(len(got)) {
		t.Errorf("%d of %d spans on disk; %+v", len(got), 8*10*500, r.Counts())
	}
}

func load(t testing.TB, s *sender, senders, requests, spans int) {
	var work sync.WaitGroup
	for k := range senders {
		work.Go(func() {
			for i := range requests {
				if status, _, err := s.call(message(t, uint64((k*requests+i)*spans), spans), false); status != "0" || err != nil {
					t.Errorf("status %q, %v", status, err)
					return
				}
			}
		})
	}
	work.Wait()
}

func BenchmarkLoad(b *testing.B) {
	_, s := start(b, Options{Dir: b.TempDir()})
	for b.Loop() {
		load(b, s, 8, 10, 500)
	}
	b.ReportMetric(float64(b.N)*8*10*500/b.Elapsed().Seconds(), "spans/s")
}

// The log of a killed process may end anywhere: what is whole before it is found, and never more.
func FuzzLogEnds(f *testing.F) {
	m := message(f, 0, 2)
	f.Add(append(binary.BigEndian.AppendUint32(nil, uint32(len(m))), m...))
	f.Add([]byte{0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, tail []byte) {
		whole := append(binary.BigEndian.AppendUint32(nil, uint32(len(m))), m...)
		at := wholeUpTo(append(slices.Clone(whole), tail...))
		if at < len(whole) || at > len(whole)+len(tail) {
			t.Errorf("whole up to %d of %d", at, len(whole)+len(tail))
		}
	})
}
