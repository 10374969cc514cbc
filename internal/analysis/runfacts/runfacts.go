// Package runfacts asks a store what many kernels and views want to know of a run: which rows count and what units
// they form, what they are called, how long was recorded, the totals of regions, which rows are GPUs, and the spans of
// services.
package runfacts
