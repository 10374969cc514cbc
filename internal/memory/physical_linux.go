package memory

import "golang.org/x/sys/unix"

func physical() int64 {
	var i unix.Sysinfo_t
	if unix.Sysinfo(&i) != nil {
		return 0
	}
	return int64(uint64(i.Totalram) * uint64(max(i.Unit, 1)))
}
