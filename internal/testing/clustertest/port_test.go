package clustertest

import (
	"net"
	"os/exec"
	"testing"
)

// Ports are found free and then let go: whoever takes one before the server does is no reason for a test to fail.
func TestAServerWhosePortIsTakenTakesAnother(t *testing.T) {
	if _, err := exec.LookPath(program); err != nil || testing.Short() {
		t.Skip("needs clickhouse-server, and starts one")
	}
	s := &Server{dir: t.TempDir()}
	if err := s.configure(); err != nil {
		t.Fatal(err)
	}
	taken := s.Secure
	l, err := net.Listen("tcp", taken)
	if err != nil {
		t.Skipf("somebody else took the port that this test wanted to take: %v", err)
	}
	defer l.Close()
	t.Cleanup(s.Kill)
	s.launch(t)
	s.wait(t)
	if s.tries == 0 || s.Secure == taken {
		t.Errorf("it listens at %s, where somebody else does", taken)
	}
}
