package pprof

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// endsEarly describes how a profile of the older kinds breaks off, which the library
// that parses them takes for their end; "" where it is whole.
func endsEarly(data []byte) string {
	switch {
	case isOldBinary(data):
		return binaryEnd(data)
	case isOldText(data):
		return textEnd(data)
	}
	return ""
}

// binaryEnd walks the records of gperftools: a count, a number of addresses, and these.
// A record of 0, 1, 0 ends them; the list of mapped objects follows as text.
func binaryEnd(data []byte) string {
	order, size := oldLayout(data)
	word := func(i int) (uint64, bool) {
		at := i * size
		if at < 0 || at+size > len(data) {
			return 0, false
		}
		if size == 4 {
			return uint64(order.Uint32(data[at:])), true
		}
		return order.Uint64(data[at:]), true
	}
	const within = "the rest of a profile that ends within its samples"
	slots, ok := word(1)
	at := 2 + int(slots)
	for ok {
		count, more := word(at)
		n, more2 := word(at + 1)
		if !more || !more2 || n > uint64(len(data)) {
			return within
		}
		first, more := word(at + 2)
		if at += 2 + int(n); !more {
			return within
		}
		if count != 0 || n != 1 || first != 0 {
			continue
		}
		if rest := data[min(at*size, len(data)):]; len(rest) > 0 && rest[len(rest)-1] != '\n' { // Go writes no list
			return "a line of the list of mapped objects in the middle of which the file ends"
		}
		return ""
	}
	return within
}

const cutObjects = "the list of mapped objects, which the end of the file cuts off"

// oldLayout returns the order and size of the words of a profile that isOldBinary recognises; 0 for others.
func oldLayout(head []byte) (binary.ByteOrder, int) {
	for _, size := range []int{4, 8} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			if len(head) < 8*size {
				continue
			}
			word := func(i int) uint64 {
				if size == 4 {
					return uint64(order.Uint32(head[i*4:]))
				}
				return order.Uint64(head[i*8:])
			}
			if word(0) == 0 && word(1) == 3 && word(2) <= 1 && word(3) > 0 && word(3) < 1<<31 && word(4) == 0 {
				return order, size
			}
		}
	}
	return nil, 0
}

// textEnd compares the counts in the first line with the rest of the file.
func textEnd(data []byte) string {
	if bytes.IndexByte(data, 0) >= 0 {
		return "a part of a text that is zero, as of a block that was never written"
	}
	if data[len(data)-1] != '\n' {
		return "a line in the middle of which the file ends"
	}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	want, ok := announced(first)
	if !ok {
		return ""
	}
	have := int64(0)
	for line := range bytes.Lines(rest) {
		line = bytes.TrimSpace(line)
		if bytes.HasPrefix(line, []byte("MAPPED_LIBRARIES")) || bytes.HasPrefix(line, []byte("---")) {
			break
		}
		if n, ok := leading(line); ok && bytes.Contains(line, []byte("@")) {
			have += n
		}
	}
	if have < want {
		return "samples that the first line announces and the file does not hold"
	}
	if bytes.HasSuffix(bytes.TrimSpace(first), []byte("@ heapprofile")) &&
		!bytes.Contains(rest, []byte("MAPPED_LIBRARIES")) {
		return cutObjects
	}
	return ""
}

// announced is how many objects or threads the first line says there are.
func announced(line []byte) (int64, bool) {
	for _, begin := range []string{"heap profile: ", "goroutine profile: total ", "threadcreate profile: total "} {
		if rest, ok := bytes.CutPrefix(line, []byte(begin)); ok {
			return leading(bytes.TrimSpace(rest))
		}
	}
	return 0, false
}

// leading is the number that a line begins with.
func leading(line []byte) (int64, bool) {
	end := 0
	for end < len(line) && line[end] >= '0' && line[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(line[:end]), 10, 64)
	return n, err == nil
}
