//go:build unix

package clustertest

import "syscall"

// Hang stops it from answering, without ending it, until GoOn.
func (s *Server) Hang() { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }

// GoOn ends Hang.
func (s *Server) GoOn() { _ = s.cmd.Process.Signal(syscall.SIGCONT) }
