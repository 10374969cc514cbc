package clickhouse

import (
	"context"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// A Server is one server of an address, for packages that keep tables of their own there.
type Server struct {
	driver.Conn
	of *server
}

// NewServer returns a server of a connection that is there already.
func NewServer(conn driver.Conn, host string) Server {
	return Server{conn, &server{Conn: conn, host: host}}
}

// Host returns the name and port.
func (s Server) Host() string { return s.of.host }

// Failed explains an error of the server, and how to fix it.
func (s Server) Failed(err error) error { return s.of.failed(err) }

// A Need is the first version of a server with a feature that is used.
type Need struct {
	Major, Minor uint64
	For          string
}

// Connect connects to all servers of an address, and refuses those that are too old.
func Connect(ctx context.Context, a *Address, need Need) (all []Server, closeAll func() error, err error) {
	c, err := connect(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range c.servers {
		all = append(all, Server{s.Conn, s})
	}
	err = c.each(ctx, func(_ context.Context, s *server) error { return need.check(Server{s.Conn, s}) })
	if err != nil {
		return nil, nil, errors.Join(err, c.close())
	}
	return all, c.close, nil
}

func (n Need) check(s Server) error {
	v, err := s.ServerVersion()
	if err != nil {
		return s.Failed(err)
	}
	if v.Version.Major < n.Major || v.Version.Major == n.Major && v.Version.Minor < n.Minor {
		return fmt.Errorf("%s runs ClickHouse %d.%d; %s needs %d.%d or newer", s.Host(), v.Version.Major,
			v.Version.Minor, n.For, n.Major, n.Minor)
	}
	return nil
}
