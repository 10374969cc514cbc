// Package sealed protects records of a log. A record is a message of Protocol Buffers behind its length in four bytes.
// Its seal is one more field at the end of the message: a mark that is found by searching, and a checksum of all bytes
// before it. Readers that do not know the field pass over it. A damaged length costs nothing, since the seal shows
// where the record ends; a damaged message costs that message.
package sealed

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// mark is the head of the field: number 2047, 12 bytes, of which 8 are always the same.
var mark = []byte{0xfa, 0x7f, 12, 0x9d, 'p', 'l', 'x', 's', 'e', 'a', 'l'}

// Bytes is the size of a seal.
const Bytes = 11 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends a record to a log: length, message and seal.
func Append(to, message []byte) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(message)+Bytes))
	to = append(append(to, message...), mark...)
	return binary.LittleEndian.AppendUint32(to, crc32.Checksum(message, castagnoli))
}

// Check reports whether a message has a seal, and whether it is as it was when it was sealed.
func Check(message []byte) (sealed, sound bool) {
	at := len(message) - Bytes
	if at < 0 || !bytes.HasPrefix(message[at:], mark) {
		return false, false
	}
	return true, binary.LittleEndian.Uint32(message[at+len(mark):]) == crc32.Checksum(message[:at], castagnoli)
}

// A Record is one found in bytes. Size is how many it takes, with its length.
type Record struct {
	Message []byte // nil: it is damaged
	Size    int
	Length  bool // its length was damaged
}

// Next returns the first record of bytes. It returns false if no seal follows: a record that was never finished, or
// a log without seals.
func Next(b []byte) (r Record, ok bool) {
	size := byLength(b)
	if soundAt(b, size) {
		return Record{Message: b[4:size], Size: size}, true
	}
	if len(b) < 4 {
		return r, false
	}
	at := bytes.Index(b[4:], mark)
	end := 4 + at + Bytes
	switch {
	case at >= 0 && soundAt(b, end):
		return Record{Message: b[4:end], Size: end, Length: true}, true
	case size > 0 && soundAt(b[size:], byLength(b[size:])): // the message or its seal is damaged
		return Record{Size: size}, true
	case at >= 0 && end <= len(b):
		return Record{Size: end, Length: end != size}, true
	}
	return r, false
}

// byLength returns the size of the first record by its length field; 0 if there are fewer bytes.
func byLength(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	if n := 4 + int64(binary.BigEndian.Uint32(b)); n <= int64(len(b)) {
		return int(n)
	}
	return 0
}

// soundAt reports whether the first size bytes are a sound record, whatever its length field.
func soundAt(b []byte, size int) bool {
	if size < 4 || size > len(b) {
		return false
	}
	_, sound := Check(b[4:size])
	return sound
}
