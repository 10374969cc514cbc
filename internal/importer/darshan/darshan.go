// Package darshan reads logs of Darshan 3: a program's file accesses, by rank and file.
//
// The format: a plain header (version, a number that shows the byte order, how regions are packed,
// where each module's region lies), then regions that are packed with zlib or bzip2: the job, the names
// of files by number, and records of each module. Processes pack their records one by one, so a region
// is any number of packed streams. Records are tables of counters whose length grew over the
// versions of a module. It is described by the headers darshan-*-log-format.h of
// darshan-hpc/darshan.
//
// Terms: a rank is a process; a record of all ranks together (rank -1) is at the location `all
// ranks`. A record is rows of a profile, on the call path module → file → read, write or metadata,
// with time, bytes read, bytes written and operations. Segments of DXT are intervals of
// their rank with file, offset and length; heat maps are counters, bytes of each bin at its begin.
// Times are since the start of the job.
//
// Kept aside, and counted: counters of access sizes, strides, alignment and variance; modules about the
// places of files or about other libraries (Lustre, BG/Q, MDHIM, DFS, DAOS, AutoPerf).
package darshan

import (
	"encoding/binary"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// Format is Darshan.
var Format = &importer.Format{Name: "darshan", Title: "Darshan logs", Import: read,
	Claim: importer.EachFile(func(head []byte) bool { return orderOf(head) != nil })}

// magic follows eight bytes of version.
const magic = 6567223

// orderOf returns the byte order of a log by how it begins, nil if it is none.
func orderOf(head []byte) binary.ByteOrder {
	if len(head) < 16 || head[1] != '.' {
		return nil
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if order.Uint64(head[8:]) == magic {
			return order
		}
	}
	return nil
}
