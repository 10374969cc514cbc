package importer

// EachFile claims every file whose beginning is one of a format's, as a run of its own.
func EachFile(is ...func(head []byte) bool) func(Source) []Run {
	return func(s Source) (runs []Run) {
		for _, f := range s.Files {
			head := s.Head(f.Path)
			for _, yes := range is {
				if yes(head) {
					runs = append(runs, Run{Files: []string{f.Path}})
					break
				}
			}
		}
		return runs
	}
}
