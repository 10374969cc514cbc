package chrometrace

import (
	"path"
	"regexp"
	"strconv"
)

// ranks returns the rank of each file of a run, -1 where nothing states it, and how
// many were taken from the names of the files rather than from their content.
//
// Names are asked only where the content is silent: for the word rank or worker
// and a number; else for the one number in which all names differ, if these
// numbers are like ranks: from 0 or 1 on, without large gaps.
func ranks(files []facts) (rank []int, named int) {
	rank = make([]int, len(files))
	silent := 0
	for i, f := range files {
		if rank[i] = f.rank; f.rank < 0 {
			rank[i] = rankWord(f.path)
			if rank[i] >= 0 {
				named++
			} else {
				silent++
			}
		}
	}
	if silent < 2 || silent < len(files) {
		return rank, named
	}
	if numbers, ok := onlyNumbers(files); ok {
		return numbers, len(files)
	}
	return rank, named
}

var rankPattern = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:rank|worker)[-_. =]?(\d{1,7})(?:[^0-9]|$)`)

// rankWord finds "rank-34", "rank5", "worker0" in a file's name, else in the
// name of its directory.
func rankWord(file string) int {
	for _, name := range []string{path.Base(file), path.Base(path.Dir(file))} {
		if m := rankPattern.FindStringSubmatch(name); m != nil {
			n, _ := strconv.Atoi(m[1])
			return n
		}
	}
	return -1
}

var processPattern = regexp.MustCompile(`(?i)^(?:mpi[ _-])?rank[ _#:-]?(\d{1,7})(?:[^0-9]|$)`)

// processRank finds the rank in a process's name: "rank 3", "MPI Rank 3", "Rank#3 on node7".
func processRank(name string) int {
	m := processPattern.FindStringSubmatch(name)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

var digits = regexp.MustCompile(`\d+`)

// onlyNumbers returns the number in which the names differ, if they differ in one.
func onlyNumbers(files []facts) ([]int, bool) {
	var shape string
	var fields [][]string
	for i, f := range files {
		s := digits.ReplaceAllString(f.path, "0")
		if i > 0 && s != shape {
			return nil, false
		}
		shape = s
		fields = append(fields, digits.FindAllString(f.path, -1))
	}
	varying := -1
	for k := range fields[0] {
		for i := range fields {
			if fields[i][k] != fields[0][k] {
				if varying >= 0 && varying != k {
					return nil, false
				}
				varying = k
			}
		}
	}
	if varying < 0 {
		return nil, false
	}
	numbers := make([]int, len(files))
	seen := map[int]bool{}
	least, most := int(^uint(0)>>1), 0
	for i := range fields {
		n, err := strconv.Atoi(fields[i][varying])
		if err != nil || seen[n] {
			return nil, false
		}
		seen[n] = true
		numbers[i] = n
		least, most = min(least, n), max(most, n)
	}
	return numbers, least <= 1 && most <= 10*len(files)
}
