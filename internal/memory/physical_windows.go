package memory

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// status is MEMORYSTATUSEX.
type status struct {
	length, load                                                   uint32
	total, free, pageTotal, pageFree, virtual, virtualFree, extend uint64
}

func physical() int64 {
	s := status{}
	s.length = uint32(unsafe.Sizeof(s))
	query := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if ok, _, _ := query.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return 0
	}
	return int64(s.total)
}
