package darshan

// A layout says where a version of a module keeps the counters that are read. Whole numbers come first,
// numbers with fractions after them.
type layout struct {
	skip          int // bytes between the rank and the counters
	whole, broken int // how many there are of each
	reads, writes []int
	metadata      []int // operations
	bytesRead     int   // -1: none
	bytesWritten  int
	readTime      int // among the second ones; -1: none
	writeTime     int
	metaTime      int
}

// size is that of a record in bytes.
func (l *layout) size() int { return 16 + l.skip + 8*(l.whole+l.broken) }

// layoutOf returns the layout of a module's version, nil if there is none.
func layoutOf(m module, version uint32) *layout {
	list := layouts[m]
	if version < 1 || int(version) > len(list) {
		return nil
	}
	return &list[version-1]
}

// layouts are by module and version. Earlier versions lack some counters.
var layouts = map[module][]layout{
	posix: {
		{whole: 68, broken: 15, reads: []int{1}, writes: []int{2}, metadata: []int{0, 3, 4, 5, 10, 11}, bytesRead: 13,
			bytesWritten: 14, readTime: 6, writeTime: 7, metaTime: 8},
		{whole: 64, broken: 15, reads: []int{1}, writes: []int{2}, metadata: []int{0, 3, 4, 5, 6, 7}, bytesRead: 9,
			bytesWritten: 10, readTime: 6, writeTime: 7, metaTime: 8},
		{whole: 64, broken: 17, reads: []int{1}, writes: []int{2}, metadata: []int{0, 3, 4, 5, 6, 7}, bytesRead: 9,
			bytesWritten: 10, readTime: 8, writeTime: 9, metaTime: 10},
		{whole: 69, broken: 17, reads: []int{3}, writes: []int{4}, metadata: []int{0, 2, 5, 6, 7, 8, 9, 10},
			bytesRead: 14, bytesWritten: 15, readTime: 8, writeTime: 9, metaTime: 10},
	},
	mpiio: {mpiioOld, mpiioOld,
		{whole: 51, broken: 17, reads: mpiioOld.reads, writes: mpiioOld.writes, metadata: mpiioOld.metadata,
			bytesRead: 14, bytesWritten: 15, readTime: 8, writeTime: 9, metaTime: 10}},
	stdio: {
		{whole: 13, broken: 15, reads: []int{1}, writes: []int{2}, metadata: []int{0, 3, 4}, bytesRead: 6,
			bytesWritten: 5, readTime: 2, writeTime: 1, metaTime: 0},
		{whole: 14, broken: 15, reads: []int{2}, writes: []int{3}, metadata: []int{0, 1, 4, 5}, bytesRead: 7,
			bytesWritten: 6, readTime: 2, writeTime: 1, metaTime: 0},
	},
	hdf5File: {
		{whole: 1, broken: 2, metadata: []int{0}, bytesRead: -1, bytesWritten: -1, readTime: -1, writeTime: -1,
			metaTime: -1},
		{whole: 1, broken: 4, metadata: []int{0}, bytesRead: -1, bytesWritten: -1, readTime: -1, writeTime: -1,
			metaTime: -1},
		{whole: 3, broken: 5, metadata: []int{0, 1}, bytesRead: -1, bytesWritten: -1, readTime: -1, writeTime: -1,
			metaTime: 4},
	},
	hdf5Dataset: {
		{whole: 94, broken: 17, reads: []int{1}, writes: []int{2}, metadata: []int{0, 3}, bytesRead: 4, bytesWritten: 5,
			readTime: 8, writeTime: 9, metaTime: 10},
		{skip: 8, whole: 94, broken: 17, reads: []int{1}, writes: []int{2}, metadata: []int{0, 3}, bytesRead: 4,
			bytesWritten: 5, readTime: 8, writeTime: 9, metaTime: 10},
	},
	netcdfFile: {
		{whole: 2, broken: 2, metadata: []int{0, 1}, bytesRead: -1, bytesWritten: -1, readTime: -1, writeTime: -1,
			metaTime: -1},
		{whole: 2, broken: 4, metadata: []int{0, 1}, bytesRead: -1, bytesWritten: -1, readTime: -1, writeTime: -1,
			metaTime: -1},
		{whole: 9, broken: 8, metadata: []int{0, 1, 2, 5}, bytesRead: 6, bytesWritten: 7, readTime: -1, writeTime: -1,
			metaTime: 6},
	},
	netcdfVar: {
		{skip: 8, whole: 120, broken: 17, reads: []int{1, 3, 5}, writes: []int{2, 4, 6}, metadata: []int{0},
			bytesRead: 7, bytesWritten: 8, readTime: 8, writeTime: 9, metaTime: 10},
	},
}

// mpiioOld is that of versions 1 and 2: independent, collective, split and nonblocking operations.
var mpiioOld = layout{whole: 51, broken: 15, reads: []int{2, 4, 6, 8}, writes: []int{3, 5, 7, 9},
	metadata: []int{0, 1, 10, 12}, bytesRead: 14, bytesWritten: 15, readTime: 6, writeTime: 7, metaTime: 8}
