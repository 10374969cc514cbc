package spool

import "golang.org/x/sys/unix"

// Reserved memory is mostly never written: it need not be there.
const reserveFlags = unix.MAP_NORESERVE

// adviseReserved asks for small pages: a large one for each place that is written would take most of the reserved
// space.
func adviseReserved(b []byte) { _ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) }
