// Package clustertest starts ClickHouse servers on loopback, for tests.
package clustertest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/testing/disktest"
)

// A Server is a process with a directory and ports of its own.
type Server struct {
	Host string // and port
	// Secure is its TLS address, with the certificate in a file.
	Secure, Certificate string

	dir  string
	cmd  *exec.Cmd
	done chan struct{}

	answered bool // once
	tries    int  // in which another process took a port
}

// Users that servers know besides default, who may do all.
const (
	Reader         = "reader" // may not write
	ReaderPassword = "a password"
)

// program is the server's, as Debian's package clickhouse-server has it.
const program = "clickhouse-server"

// Start starts n servers, and ends them when the test does. If the program is not installed the test is skipped.
func Start(tb testing.TB, n int) []*Server { return StartOn(tb, make([]string, n)...) }

// StartOn starts a server for each size of a disk for its data, such as 48m; "": that of temporary files.
func StartOn(tb testing.TB, disks ...string) []*Server {
	tb.Helper()
	if _, err := exec.LookPath(program); err != nil {
		tb.Skip("clickhouse-server is not installed: the cluster is left out (Debian: apt-get install " +
			"clickhouse-server; make test-cluster does)")
	}
	if testing.Short() && os.Getenv("PARALLAX_CLUSTER") != "full" {
		tb.Skip("starts servers, which takes seconds")
	}
	var all []*Server
	for _, size := range disks {
		s := &Server{dir: tb.TempDir()}
		if err := s.configure(); err != nil {
			tb.Fatal(err)
		}
		if size != "" {
			disktest.Small(tb, filepath.Join(s.dir, "data"), size)
		}
		tb.Cleanup(s.Kill)
		all = append(all, s)
		s.launch(tb)
	}
	for _, s := range all {
		s.wait(tb)
	}
	return all
}

// Address of runs on servers.
func Address(servers []*Server, run string) string {
	var hosts []string
	for _, s := range servers {
		hosts = append(hosts, s.Host)
	}
	return "clickhouse://" + strings.Join(hosts, ",") + "/default/" + run
}

// Dir is the server's directory; its data are in data.
func (s *Server) Dir() string { return s.dir }

func (s *Server) configure() error {
	var ports []int
	for range 4 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	s.Host, s.Secure = fmt.Sprint("127.0.0.1:", ports[0]), fmt.Sprint("127.0.0.1:", ports[3])
	if err := s.certify(); err != nil {
		return err
	}
	for _, d := range []string{"data", "tmp", "files"} {
		if err := os.MkdirAll(filepath.Join(s.dir, d), 0o755); err != nil {
			return err
		}
	}
	// The root element is <clickhouse> in later versions, which take this one too.
	users := `<yandex>
<profiles><default><max_memory_usage>2000000000</max_memory_usage></default><reader><readonly>2</readonly></reader></profiles>
<users>
 <default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
 <` + Reader + `><password>` + ReaderPassword + `</password><networks><ip>127.0.0.1</ip></networks><profile>reader</profile><quota>default</quota></` + Reader + `>
</users>
<quotas><default></default></quotas>
</yandex>`
	config := fmt.Sprintf(`<yandex>
<listen_host>127.0.0.1</listen_host>
<tcp_port>%d</tcp_port><http_port>%d</http_port><interserver_http_port>%d</interserver_http_port><interserver_http_host>127.0.0.1</interserver_http_host>
<path>%[4]s/data/</path><tmp_path>%[4]s/tmp/</tmp_path><user_files_path>%[4]s/files/</user_files_path>
<tcp_port_secure>%[5]d</tcp_port_secure>
<openSSL><server><certificateFile>%[4]s/certificate.pem</certificateFile><privateKeyFile>%[4]s/key.pem</privateKeyFile><verificationMode>none</verificationMode><loadDefaultCAFile>false</loadDefaultCAFile></server></openSSL>
<mark_cache_size>268435456</mark_cache_size>
<users_config>%[4]s/users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<logger><level>information</level><log>%[4]s/log</log><errorlog>%[4]s/errors</errorlog></logger>
</yandex>`, ports[0], ports[1], ports[2], s.dir, ports[3])
	if err := os.WriteFile(filepath.Join(s.dir, "users.xml"), []byte(users), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, "config.xml"), []byte(config), 0o644)
}

// certify makes a certificate for loopback, signed by itself.
func (s *Server) certify() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "loopback"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign,
	}
	signed, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return err
	}
	s.Certificate = filepath.Join(s.dir, "certificate.pem")
	if err := os.WriteFile(s.Certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
		0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, "key.pem"),
		pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), 0o600)
}

func (s *Server) launch(tb testing.TB) {
	tb.Helper()
	_ = os.Remove(s.log()) // wait looks for the output of this process
	s.cmd = exec.Command(program, "--config-file="+filepath.Join(s.dir, "config.xml"))
	s.cmd.Dir = s.dir
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	s.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		_ = cmd.Wait() // it is killed in the end
		close(done)
	}(s.cmd, s.done)
}

// log is the path of the server's log.
func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// wait until it answers. Its log counts: a port that takes connections may be another process's, or that of a
// server that is about to end because another of its ports is taken.
func (s *Server) wait(tb testing.TB) {
	tb.Helper()
	for begin := time.Now(); time.Since(begin) < 5*time.Minute; time.Sleep(50 * time.Millisecond) {
		if text, err := os.ReadFile(s.log()); err == nil && strings.Contains(string(text), "Ready for connections") {
			s.answered = true
			return
		}
		select {
		case <-s.done:
			s.again(tb)
		default:
		}
	}
	tb.Fatal("the server does not begin to listen")
}

// again starts a server that ended because another process took one of its ports just after they were found free. A
// server that others know keeps its ports, and waits for them.
func (s *Server) again(tb testing.TB) {
	tb.Helper()
	errors := filepath.Join(s.dir, "errors")
	text, _ := os.ReadFile(errors)
	if s.tries++; s.tries > 10 || !strings.Contains(string(text), "Address already in use") {
		tb.Fatalf("the server ended: %s", text)
	}
	_ = os.Remove(errors)
	if !s.answered {
		if err := s.configure(); err != nil {
			tb.Fatal(err)
		}
	}
	s.launch(tb)
}

// Kill ends it at once, as a crash does.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.done
	s.cmd = nil
}

// Restart starts it again, with its data.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.launch(tb)
	s.wait(tb)
}
