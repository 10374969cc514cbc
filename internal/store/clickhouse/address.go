package clickhouse

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Scheme is how an address begins.
const Scheme = "clickhouse://"

// IsAddress reports whether a source is an address of this store.
func IsAddress(s string) bool { return strings.HasPrefix(s, Scheme) }

// An Address says where runs lie: clickhouse://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE/RUN?OPTIONS.
// Several hosts are shards of one cluster, in any order.
type Address struct {
	User, password string
	Hosts          []string
	Database, Run  string
	// Options are the parameters after the question mark that are not for the connection.
	Options url.Values

	given              string // as it was parsed
	secure, unverified bool
	authority          string // a file of certificates
	timeout            time.Duration
}

// Environment variables for user and password, if the address has none.
const (
	userVariable         = "PARALLAX_CLICKHOUSE_USER"
	passwordVariable     = "PARALLAX_CLICKHOUSE_PASSWORD"
	passwordFileVariable = "PARALLAX_CLICKHOUSE_PASSWORD_FILE"
)

// Parse reads an address. Errors do not repeat it: it may hold a password.
func Parse(s string) (*Address, error) {
	if !IsAddress(s) {
		return nil, errors.New("an address of runs begins with " + Scheme)
	}
	rest, query, _ := strings.Cut(strings.TrimPrefix(s, Scheme), "?")
	hosts, path, _ := strings.Cut(rest, "/")
	a := &Address{given: s, Database: "default", timeout: 30 * time.Second}
	if at := strings.LastIndexByte(hosts, '@'); at >= 0 {
		if err := a.setUser(hosts[:at]); err != nil {
			return nil, err
		}
		hosts = hosts[at+1:]
	}
	if err := a.setOptions(query); err != nil {
		return nil, err
	}
	if err := a.setHosts(hosts); err != nil {
		return nil, err
	}
	path = strings.Trim(path, "/")
	database, run, _ := strings.Cut(path, "/")
	if database != "" {
		a.Database = database
	}
	var err error
	if a.Run, err = url.PathUnescape(run); err != nil {
		return nil, fmt.Errorf("the name of the run %q cannot be read: %w", run, err)
	}
	if !isWord(a.Database) {
		return nil, fmt.Errorf("database %q: want letters, digits and _", a.Database)
	}
	return a, a.lookUp()
}

func (a *Address) setUser(s string) (err error) {
	user, password, _ := strings.Cut(s, ":")
	if a.User, err = url.PathUnescape(user); err == nil {
		a.password, err = url.PathUnescape(password)
	}
	if err != nil {
		return errors.New("user or password of the address cannot be read: % begins a character as two hexadecimal " +
			"digits")
	}
	return nil
}

func (a *Address) setHosts(s string) error {
	port := "9000"
	if a.secure {
		port = "9440"
	}
	for _, h := range strings.Split(s, ",") {
		if h == "" {
			return errors.New("the address names no server: clickhouse://HOST:PORT/DATABASE/RUN")
		}
		if _, _, err := net.SplitHostPort(h); err != nil {
			h = net.JoinHostPort(strings.Trim(h, "[]"), port)
		}
		a.Hosts = append(a.Hosts, h)
	}
	return nil
}

func (a *Address) setOptions(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("the options of the address cannot be read: %w", err)
	}
	a.Options = url.Values{}
	for key, v := range values {
		var err error
		switch key {
		case "secure":
			a.secure, err = strconv.ParseBool(v[0])
		case "skip-verify":
			a.unverified, err = strconv.ParseBool(v[0])
		case "ca":
			a.authority, a.secure = v[0], true
		case "timeout":
			if a.timeout, err = time.ParseDuration(v[0]); err == nil && a.timeout <= 0 {
				err = errors.New("it must be more than 0")
			}
		case "password-file":
			a.password, err = readPassword(v[0])
		default:
			a.Options[key] = v
		}
		if err != nil {
			return fmt.Errorf("option %s of the address: %w", key, err)
		}
	}
	return nil
}

// lookUp fills in from the environment the parts that the address leaves out.
func (a *Address) lookUp() (err error) {
	if a.User == "" {
		a.User = os.Getenv(userVariable)
	}
	if a.User == "" {
		a.User = "default"
	}
	if a.password == "" {
		a.password = os.Getenv(passwordVariable)
	}
	if file := os.Getenv(passwordFileVariable); a.password == "" && file != "" {
		a.password, err = readPassword(file)
	}
	return err
}

func readPassword(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// tls returns nil if the connection is not to be encrypted.
func (a *Address) tls() (*tls.Config, error) {
	if !a.secure {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: a.unverified}
	if a.authority != "" {
		pem, err := os.ReadFile(a.authority)
		if err != nil {
			return nil, fmt.Errorf("read the certificates: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", a.authority)
		}
	}
	return c, nil
}

// String returns the address without its password.
func (a *Address) String() string {
	s := Scheme
	if a.User != "default" {
		s += url.PathEscape(a.User) + "@"
	}
	s += strings.Join(a.Hosts, ",") + "/" + a.Database
	if a.Run != "" {
		s += "/" + url.PathEscape(a.Run)
	}
	return s
}

func isWord(s string) bool {
	for _, c := range s {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}
