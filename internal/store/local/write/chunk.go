package write

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
)

// Sizes of the chunks that streams fill, powers of two.
const (
	minChunk = 64
	maxChunk = 32 << 10
)

// A chunk in the file is: where the chunk before it of the same stream lies
// (8 bytes, -1 for none), its length (4 bytes), its records.
const chunkHeader = 12

// A chunkSpool is the file that all streams share, and the memory they fill
// before. Each stream holds one chunk; its size goes down as more streams are
// open, so that the sum stays within limit.
type chunkSpool struct {
	limit int64

	mu    sync.Mutex
	held  int64            // bytes of chunks in use by streams
	open  int64            // streams that hold a chunk
	freed map[int][][]byte // chunks for reuse, by size
	file  *os.File
	base  int64  // offset in the file of tail[0]
	tail  []byte // not yet written
	spare []byte
	err   error

	writing sync.WaitGroup
	mapped  *spool.Mapping
	parts   []chunkPart    // files of parts that were read before, in place of file
	used    atomic.Int64   // bytes read since pages were last given back
	kept    []atomic.Int64 // by part of the file: bytes that a reader may still need
	done    []atomic.Int64 // likewise: bytes that are not read any more, and still take disk space
	waiting atomic.Int64   // all of done
	mayWait int64          // so many bytes
}

// stretch is how much of the file is given back at once. Taking away a chunk at a time keeps every core
// waiting for the others: on sixteen it was a third of an import. It is done only where a few locations came all mixed,
// so that stretches stay because of some, and a part of the file waits for that; and with large chunks.
const (
	stretch     = 4 << 20
	mostWaiting = 8  // of the file: one in so many bytes, and a stretch for each core
	fewStreams  = 32 // of the file: one in so many bytes is much for a stream
	leastAlone  = maxChunk / 2
)

// releaseEvery is how much is read of the mapped file before its pages are given
// back, so that reading all of it does not look like memory in use.
const releaseEvery = 16 << 20

// faultAround is how many bytes a system maps at once when one page is touched.
const faultAround = 64 << 10

const spoolBuffer = 1 << 20

func newChunkSpool(dir string, limit int64) (*chunkSpool, error) {
	f, err := os.Create(filepath.Join(dir, "chunks"))
	if err != nil {
		return nil, err
	}
	return &chunkSpool{limit: limit, file: f, freed: map[int][][]byte{}}, nil
}

// target returns the size of chunk that every open stream can have, beside itself.
func (s *chunkSpool) target() int {
	size := minChunk
	for size < maxChunk && int64(2*size+streamBytes)*max(s.open, 1) <= s.limit {
		size *= 2
	}
	return size
}

// first returns the first chunk of a stream: a small one, most streams need no more.
func (s *chunkSpool) first() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	return s.take(minChunk)
}

// last writes the chunk of a closed stream and takes it back.
func (s *chunkSpool) last(buf []byte, previous int64) int64 {
	s.mu.Lock()
	at := s.append(buf, previous)
	s.give(buf)
	s.open--
	s.unlockAndWrite()
	return at
}

// room makes room in a full chunk: a larger one while there is memory, else its bytes go to the file. It returns the
// chunk and the place of the last one.
func (s *chunkSpool) room(buf []byte, previous int64) ([]byte, int64) {
	s.mu.Lock()
	target := s.target()
	if size := 2 * cap(buf); size <= target && s.held+int64(size) <= s.limit {
		larger := append(s.take(size), buf...)
		s.give(buf)
		s.mu.Unlock()
		return larger, previous
	}
	at := s.append(buf, previous)
	if cap(buf) > target {
		s.give(buf)
		buf = s.take(target)
	}
	s.unlockAndWrite()
	return buf[:0], at
}

func (s *chunkSpool) take(size int) []byte {
	s.held += int64(size)
	if list := s.freed[size]; len(list) > 0 {
		buf := list[len(list)-1]
		s.freed[size] = list[:len(list)-1]
		return buf[:0]
	}
	return make([]byte, 0, size)
}

func (s *chunkSpool) give(buf []byte) {
	size := cap(buf)
	s.held -= int64(size)
	if list := s.freed[size]; int64(len(list)*size) < s.limit/8 {
		s.freed[size] = append(list, buf)
	}
}

// append adds a chunk to the bytes to be written, and returns its place.
func (s *chunkSpool) append(buf []byte, previous int64) int64 {
	if len(buf) == 0 {
		return previous
	}
	at := s.base + int64(len(s.tail))
	if s.tail == nil {
		s.tail = make([]byte, 0, spoolBuffer+maxChunk+chunkHeader)
	}
	s.tail = binary.LittleEndian.AppendUint64(s.tail, uint64(previous))
	s.tail = binary.LittleEndian.AppendUint32(s.tail, uint32(len(buf)))
	s.tail = append(s.tail, buf...)
	return at
}

// unlockAndWrite releases the lock; a full buffer is written without it.
func (s *chunkSpool) unlockAndWrite() {
	if len(s.tail) < spoolBuffer {
		s.mu.Unlock()
		return
	}
	full, at := s.tail, s.base
	s.base += int64(len(full))
	s.tail, s.spare = s.spare, nil
	s.writing.Add(1)
	s.mu.Unlock()
	_, err := s.file.WriteAt(full, at)
	s.writing.Done()
	s.mu.Lock()
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("write temporary file: %w", err)
	}
	s.spare = full[:0]
	s.mu.Unlock()
}

func (s *chunkSpool) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// End writes the rest, and returns the size of the file.
func (s *chunkSpool) End() (size int64, err error) {
	s.writing.Wait()
	if s.err != nil {
		return 0, s.err
	}
	if _, err := s.file.WriteAt(s.tail, s.base); err != nil {
		return 0, fmt.Errorf("write temporary file: %w", err)
	}
	size = s.base + int64(len(s.tail))
	s.tail, s.spare, s.freed = nil, nil, nil
	return size, nil
}

// Finish writes the rest and maps the file for reading.
func (s *chunkSpool) Finish() error {
	if s.parts != nil {
		return nil
	}
	size, err := s.End()
	if err != nil {
		return err
	}
	s.mayWait = max(size/mostWaiting, int64(stretch*parallel.Workers()))
	s.kept, s.done = make([]atomic.Int64, (size+stretch-1)/stretch), make([]atomic.Int64, (size+stretch-1)/stretch)
	for i := range s.kept {
		s.kept[i].Store(min(stretch, size-int64(i)*stretch))
	}
	s.mapped, err = spool.MapOpen(s.file, size, false)
	return err
}

// Chain returns the offsets of a stream's chunks, first to last.
func (s *chunkSpool) Chain(of *Stream, into []int64) []int64 {
	if s.parts != nil {
		return s.chainOfParts(of, into[:0])
	}
	into = into[:0]
	for at := of.Tail; at >= 0; at = int64(binary.LittleEndian.Uint64(s.mapped.Bytes[at:])) {
		into = append(into, at)
		s.touch(faultAround)
	}
	for i, j := 0, len(into)-1; i < j; i, j = i+1, j-1 {
		into[i], into[j] = into[j], into[i]
	}
	return into
}

func (s *chunkSpool) Chunk(at int64) []byte {
	if s.parts != nil {
		return s.chunkOfPart(at)
	}
	n := int64(binary.LittleEndian.Uint32(s.mapped.Bytes[at+8:]))
	s.touch(n)
	return s.mapped.Bytes[at+chunkHeader : at+chunkHeader+n]
}

// Large says that the chunks of a stream are so much of the file that each is best dropped as soon as it is read.
func (s *chunkSpool) Large(chain []int64) bool {
	return s.parts == nil && int64(len(chain))*maxChunk >= int64(len(s.mapped.Bytes))/fewStreams
}

// Drop frees chunks that are not read any more. The disk space of a stretch is given back with its last chunk.
func (s *chunkSpool) Drop(chain []int64) {
	if s.parts != nil {
		return
	}
	for _, at := range chain {
		s.drop(at, s.chunkEnd(at), false)
	}
}

// DropOne does for a chunk of a large stream.
func (s *chunkSpool) DropOne(at int64) {
	end := s.chunkEnd(at)
	alone := end-at >= leastAlone && s.waiting.Load() > s.mayWait
	if alone {
		spool.Punch(s.file, at, end)
	}
	s.drop(at, end, alone)
}

func (s *chunkSpool) chunkEnd(at int64) int64 {
	return at + chunkHeader + int64(binary.LittleEndian.Uint32(s.mapped.Bytes[at+8:]))
}

// drop counts bytes that are not read any more; alone: their disk space was given back.
func (s *chunkSpool) drop(at, end int64, alone bool) {
	for at < end {
		k := at / stretch
		to := min(end, (k+1)*stretch)
		switch {
		case s.kept[k].Add(at-to) == 0:
			spool.Punch(s.file, k*stretch, (k+1)*stretch)
			s.waiting.Add(-s.done[k].Swap(0))
		case !alone:
			s.done[k].Add(to - at)
			s.waiting.Add(to - at)
		}
		at = to
	}
}

// touch counts bytes of the mapped file that become memory.
func (s *chunkSpool) touch(n int64) {
	if used := s.used.Add(n); used > releaseEvery && s.used.CompareAndSwap(used, 0) {
		s.mapped.Release(0, int64(len(s.mapped.Bytes)))
	}
}

func (s *chunkSpool) Close() {
	for _, p := range s.parts {
		_ = p.mapped.Close()
	}
	if s.file == nil {
		return
	}
	_ = s.mapped.Close()
	s.file.Close()
	_ = os.Remove(s.file.Name())
}
