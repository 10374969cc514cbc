// Package benchtest has the measuring functions of all benchmarks.
package benchtest
