package ghceventlog

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/parallax-hpc/parallax/internal/trace"
)

func (l *log) bytes(n int) ([]byte, error) {
	b := make([]byte, n)
	k, err := io.ReadFull(l.r, b)
	l.at += int64(k)
	return b, err
}

var errHead = errors.New("the head does not fit")

// head reads the types.
func (l *log) head() error {
	if b, err := l.bytes(len(begin)); err != nil || string(b) != begin {
		return errHead
	}
	for {
		mark, err := l.bytes(4)
		if err != nil {
			return err
		}
		if string(mark) != typeMark {
			rest, err := l.bytes(len(headEnd) - 4)
			if err != nil || string(mark)+string(rest) != headEnd {
				return errHead
			}
			return nil
		}
		b, err := l.bytes(8)
		if err != nil {
			return err
		}
		number, k := binary.BigEndian.Uint16(b), kind{size: int(binary.BigEndian.Uint16(b[2:]))}
		length := binary.BigEndian.Uint32(b[4:])
		if length > 1<<16 {
			return errHead
		}
		name, err := l.bytes(int(length))
		if err != nil {
			return err
		}
		k.name = string(name)
		if b, err = l.bytes(4); err != nil {
			return err
		}
		extra := binary.BigEndian.Uint32(b)
		if extra > 1<<20 {
			return errHead
		}
		if _, err = l.bytes(int(extra)); err != nil {
			return err
		}
		if b, err = l.bytes(4); err != nil || string(b) != typeEnd {
			return errHead
		}
		l.kinds[number] = k
	}
}

var errType = errors.New("a record of a type that the head does not name")

// records reads all; an error says that the file breaks off.
func (l *log) records(ctx context.Context) error {
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		start := l.at
		b, err := l.bytes(2)
		if err != nil {
			return io.ErrUnexpectedEOF // the last record is another
		}
		number := binary.BigEndian.Uint16(b)
		if number == dataEnd {
			return nil
		}
		k, ok := l.kinds[number]
		if !ok {
			return errType
		}
		if b, err = l.bytes(8); err != nil {
			return err
		}
		at := trace.Time(binary.BigEndian.Uint64(b))
		size := k.size
		if size == variable {
			if b, err = l.bytes(2); err != nil {
				return err
			}
			size = int(binary.BigEndian.Uint16(b))
		}
		if b, err = l.bytes(size); err != nil {
			return err
		}
		if at < 0 || at > 1<<61 {
			l.odd++
			continue
		}
		l.record(number, k, at, b, start)
	}
}
