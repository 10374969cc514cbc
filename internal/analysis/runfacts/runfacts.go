// Package runfacts reads facts of a run that many kernels and views need from a store: its rows, units and their
// names, the recorded time, the totals of regions, the rows that are GPUs, and the spans of services.
package runfacts
