package write

import (
	"bytes"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
)

// Streams that are read at the same time lie between each other: what one has read may not take away what another
// still has to, and what all have read takes no room.
func TestDroppingChunksFreesTheirSpaceOnly(t *testing.T) {
	s, err := newChunkSpool(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rng := rand.New(rand.NewPCG(1, 1))
	last, want := make([]int64, 8), make([][][]byte, 8)
	for i := range last {
		last[i] = -1
	}
	for range 1200 {
		k := rng.IntN(len(last))
		chunk := bytes.Repeat([]byte{byte(1 + rng.IntN(255))}, 1+rng.IntN(maxChunk))
		s.mu.Lock()
		last[k] = s.append(chunk, last[k])
		s.unlockAndWrite()
		want[k] = append(want[k], chunk)
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	s.mayWait = stretch
	if len(s.kept) < 4 {
		t.Fatalf("%d stretches prove nothing", len(s.kept))
	}
	full := blocks(t, s.file)
	for k := range last {
		chain := s.Chain(&Stream{Tail: last[k]}, nil)
		for i, at := range chain {
			if !bytes.Equal(s.Chunk(at), want[k][i]) {
				t.Fatalf("stream %d: chunk %d is another after %d streams were dropped", k, i, k)
			}
		}
		if !s.Large(chain) {
			t.Fatalf("stream %d of %d is not large", k, len(last))
		}
		for _, at := range chain {
			s.DropOne(at)
		}
		if left := blocks(t, s.file); k == len(last)/2 && left*4 > full*3 {
			t.Errorf("%d of %d blocks are left when half is read", left, full)
		}
	}
	if left := blocks(t, s.file); left*10 > full {
		t.Errorf("%d of %d blocks are left when all is read", left, full)
	}
}

// A hole for each chunk of a thousand streams would cost more than the room is worth.
func TestOnlyStreamsThatAreMuchOfTheFileGiveBackChunksAlone(t *testing.T) {
	s, err := newChunkSpool(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	last := make([]int64, 2*fewStreams)
	for i := range last {
		last[i] = -1
	}
	add := func(k int) {
		s.mu.Lock()
		last[k] = s.append(make([]byte, maxChunk), last[k])
		s.unlockAndWrite()
	}
	for k := range last {
		add(k)
	}
	for range len(last) {
		add(0)
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	for k := range last {
		if got := s.Large(s.Chain(&Stream{Tail: last[k]}, nil)); got != (k == 0) {
			t.Errorf("stream %d: %v", k, got)
		}
	}
}

func blocks(t *testing.T, f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks
}
