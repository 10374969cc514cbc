package spool

import "unsafe"

// BytesOf views values as the bytes they are stored as. T holds no pointers.
// Stores are little endian: hosts that are not refuse them.
func BytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// ViewOf views bytes of a mapped file as values; files are mapped at page borders.
func ViewOf[T any](b []byte) []T {
	var zero T
	n := len(b) / int(unsafe.Sizeof(zero))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

func SizeOf[T any]() int64 {
	var zero T
	return int64(unsafe.Sizeof(zero))
}

// LittleEndian reports whether this host keeps numbers as stores do.
func LittleEndian() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}
