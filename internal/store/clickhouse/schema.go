package clickhouse

// Version of the tables. It goes up with every change that another program would misread.
const Version = 1

// A table of the store. Every one is cut into partitions by run, so that a run goes away at once.
type table struct {
	name    string
	columns string
	order   string
	// granularity is how many rows an entry of the index stands for.
	granularity int
	meaning     string
}

// tables are on every server. Parallax reads the blocks; the tables of rows are the same run for SQL.
var tables = []table{
	{"parallax_version", "run UInt64, version UInt32", "version", 8192, "the version of these tables; run is 0"},
	{"parallax_shards", "run UInt64, shard UInt16, shards UInt16, part UInt16, name String, created DateTime", "run",
		8192,
		"which share of a run this server holds, from when its import began"},
	{"parallax_runs",
		"run UInt64, name String, part UInt16, parts UInt16, created DateTime, shards UInt16, source String, format " +
			"String, locations UInt64, intervals UInt64, bytes UInt64, manifest String", "name", 8192,
		"runs, on the server of their first share; a run without a row here does not exist"},
	{"parallax_blocks", "run UInt64, file UInt16, block UInt32, data String", "file, block", 4,
		"blocks of the files of the run's store, numbered as the manifest lists them"},
	{"parallax_kept", "run UInt64, name String, created DateTime, data String", "name, created", 64,
		"what views derived from a run and keep with it; the latest of a name counts"},
	{"parallax_locations",
		"run UInt64, location UInt32, parent Int64, name String, kind String, path String, rank Int32", "location",
		8192,
		"the tree of locations; parent is -1 at the top"},
	{"parallax_regions",
		"run UInt64, region UInt32, name String, category String, role String, file String, line Int32", "region", 8192,
		"what can be entered"},
	{"parallax_intervals",
		"run UInt64, location UInt32, lane UInt16, row UInt32, begin Int64, duration Int64, exclusive Int64, region " +
			"UInt32, parent Int32, depth UInt16", "location, lane, begin, row", 8192,
		"stays in regions; parent is a row of the lane, -1 at the top"},
	{"parallax_links",
		"run UInt64, kind UInt8, from_location UInt32, from_time Int64, to_location UInt32, to_time Int64, size " +
			"Int64, tag Int64, count Int64, untimed UInt8", "from_location, from_time", 8192,
		"links, on the server that has the location where they start"},
}
