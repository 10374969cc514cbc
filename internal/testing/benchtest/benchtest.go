// Package benchtest is what benchmarks of all packages measure with.
package benchtest
