//go:build !unix

package clustertest

// Hang and GoOn are for systems that have the server.
func (s *Server) Hang() {}
func (s *Server) GoOn() {}
