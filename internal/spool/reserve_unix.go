//go:build unix && !linux

package spool

const reserveFlags = 0

func adviseReserved([]byte) {}
