// Package clickhouse keeps runs in tables of a ClickHouse cluster.
//
// A run is the blocks of its local store (package local), the same 16 KiB that have a checksum each, as rows of one
// table. The reader is the local one: before it uses missing bytes, their blocks are fetched, those of many lanes in
// one request. So views, kernels and answers are the same. A query costs the blocks that it touches: the coarse nodes
// of the summary tree, prefix sums and digests of its lanes, and rows at the edges of the window.
//
// Files of a store are in order of location. Each of N servers holds one range of the blocks of every file, which is a
// range of locations. Servers are asked directly, all at once, so that errors name the server.
//
//	address.go  addresses of runs       server.go  connections       schema.go  tables
//	write.go    a store into tables     rows.go    the same for SQL   read.go    and back
//	runs.go     listing and removing runs
package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"
)

// A server is one of the cluster.
type server struct {
	driver.Conn
	host string
	user string
}

// A cluster is connections to all servers of an address.
type cluster struct {
	*Address
	servers []*server
}

// dialTimeout bounds the handshake, which does not look at contexts.
const dialTimeout = 10 * time.Second

// oldest is the first version that has all that is used.
const oldest = 18

// A way is how a connection is used.
type way struct{ compression clickhouse.CompressionMethod }

var (
	writing = way{clickhouse.CompressionLZ4}
	// Blocks are packed: to compress them again took longer than to send them, and saved a fourth.
	reading = way{clickhouse.CompressionNone}
)

// dial prepares connections. They are made when they are used first.
func dial(a *Address, on way) (*cluster, error) {
	secure, err := a.tls()
	if err != nil {
		return nil, err
	}
	c := &cluster{Address: a}
	for _, host := range a.Hosts {
		conn, err := clickhouse.Open(&clickhouse.Options{
			Addr: []string{host}, TLS: secure,
			Auth:        clickhouse.Auth{Database: a.Database, Username: a.User, Password: a.password},
			DialTimeout: min(dialTimeout, a.timeout), ReadTimeout: a.timeout + time.Minute,
			Compression:  &clickhouse.Compression{Method: on.compression},
			MaxOpenConns: 12, MaxIdleConns: 12,
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", host, err), c.close())
		}
		c.servers = append(c.servers, &server{Conn: conn, host: host, user: a.User})
	}
	return c, nil
}

// connect makes sure that every server answers.
func connect(ctx context.Context, a *Address) (*cluster, error) {
	c, err := dial(a, writing)
	if err != nil {
		return nil, err
	}
	if err := c.greet(ctx); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// greet looks at the versions of all servers.
func (c *cluster) greet(ctx context.Context) error {
	return c.each(ctx, func(ctx context.Context, s *server) error {
		v, err := s.ServerVersion()
		if err != nil {
			return s.failed(err)
		}
		if v.Version.Major < oldest {
			return fmt.Errorf("%s runs ClickHouse %d.%d, which is too old; %d or newer is needed", s.host,
				v.Version.Major, v.Version.Minor, oldest)
		}
		return nil
	})
}

func (c *cluster) close() error {
	var err error
	for _, s := range c.servers {
		err = errors.Join(err, s.Close())
	}
	return err
}

// each calls f for all servers at once. The first failure ends the others.
func (c *cluster) each(ctx context.Context, f func(ctx context.Context, s *server) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range c.servers {
		g.Go(func() error { return f(ctx, s) })
	}
	return g.Wait()
}

// atOnce asks several things in one round trip. The error of the first that failed in this order counts: so tables of
// another version report their version, not a missing column.
func atOnce(list ...func() error) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, f := range list {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// Codes of errors of servers for which there are words of our own.
const (
	noTable       = 60
	noDatabase    = 81
	noUser        = 192
	wrongPassword = 193
	noLogin       = 516
	noAccess      = 497
	readOnly      = 164
	noSuchAccess  = 291
	noColumn      = 16
	noIdentifier  = 47
	noRoom        = 243
)

// fullDisk is in what the system says where nothing more can be written.
const fullDisk = "No space left on device"

// failed explains an error of a server, and how to fix it.
func (s *server) failed(err error) error {
	var e *clickhouse.Exception
	var timeout net.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		text := strings.TrimPrefix(e.Message, "DB::Exception: ")
		switch int(e.Code) {
		case noTable:
			return fmt.Errorf("%s holds no runs in this database: %s; `parallax import SOURCE -o clickhouse://...` "+
				"makes its tables", s.host, text)
		case noColumn, noIdentifier:
			return fmt.Errorf("%s: tables of this database are not parallax's, or of another version: %s; name "+
				"another database", s.host, text)
		case noDatabase:
			return fmt.Errorf("%s: %s; create it, or name another one in the address", s.host, text)
		case noUser, wrongPassword, noLogin:
			return fmt.Errorf("%s does not know this user and password: %s; give them in the address, in %s and %s, "+
				"or in a file that %s names", s.host, text, userVariable, passwordVariable, passwordFileVariable)
		case noAccess, readOnly, noSuchAccess:
			return fmt.Errorf("%s does not permit this to user %s: code %d: %s", s.host, s.user, e.Code, text)
		}
		if int(e.Code) == noRoom || strings.Contains(text, fullDisk) {
			return fmt.Errorf("%s has no room left for its data: code %d: %s; free some, such as with `parallax rm`, "+
				"and do this again", s.host, e.Code, text)
		}
		return fmt.Errorf("%s: code %d: %s", s.host, e.Code, text)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s does not answer (no answer in time; ?timeout=1m in the address waits longer): %w", s.host,
			err)
	case errors.Is(err, context.Canceled):
		return err
	case strings.Contains(err.Error(), "[handshake] unexpected packet"): // the client has no type for it
		return fmt.Errorf("%s is no ClickHouse server, or not where it speaks its own protocol; is this the native "+
			"port (9000, with TLS 9440), and not that of HTTP?: %w", s.host, err)
	}
	return fmt.Errorf("%s cannot be reached or went away: %w", s.host, err)
}

func (s *server) exec(ctx context.Context, format string, args ...any) error {
	return s.failed(s.Exec(ctx, fmt.Sprintf(format, args...)))
}

// insert adds one row.
func (s *server) insert(ctx context.Context, statement string, values ...any) error {
	b, err := s.begin(ctx, statement)
	if err != nil {
		return err
	}
	if err := b.Append(values...); err != nil {
		b.abort()
		return s.failed(err)
	}
	return b.send()
}

// make makes the tables that are not there, and refuses those of a newer program.
func (s *server) make(ctx context.Context) error {
	for _, t := range tables {
		err := s.exec(ctx,
			"create table if not exists %s (%s) engine = MergeTree partition by run order by (%s) settings "+
				"index_granularity = %d", t.name, t.columns, t.order, t.granularity)
		if err != nil {
			return err
		}
	}
	v, err := s.version(ctx)
	if err != nil {
		return err
	}
	if v == 0 {
		return s.insert(ctx, "insert into parallax_version (run, version)", uint64(0), uint32(Version))
	}
	return s.fits(v)
}

// version of the tables; 0: none was written yet.
func (s *server) version(ctx context.Context) (v uint32, err error) {
	return v, s.failed(s.QueryRow(ctx, "select max(version) from parallax_version").Scan(&v))
}

// check makes sure that the tables are there and this program's.
func (s *server) check(ctx context.Context) error {
	v, err := s.version(ctx)
	if err != nil {
		return err
	}
	return s.fits(v)
}

func (s *server) fits(v uint32) error {
	switch {
	case v > Version:
		return fmt.Errorf("%s holds runs of version %d of the tables, newer than this program's %d; use a newer "+
			"parallax", s.host, v, Version)
	case v < Version && v > 0: // none: an import has only begun
		return fmt.Errorf("%s holds runs of version %d of the tables, older than this program's %d; import into "+
			"another database", s.host, v, Version)
	}
	return nil
}
