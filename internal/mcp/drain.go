package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A draining transport answers every question before it reports the end of the input. The SDK cancels pending answers
// at the end, so a client that pipes questions in and closes the pipe would get nothing.
type draining struct{ sdk.Transport }

func (t draining) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConnection{Connection: c, changed: make(chan struct{}, 1)}, nil
}

type drainingConnection struct {
	sdk.Connection
	mu      sync.Mutex
	asked   int // questions that have no answer yet
	changed chan struct{}
}

func (c *drainingConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && err == nil && r.IsCall() {
		c.add(1)
	}
	for err != nil && c.add(0) > 0 {
		select {
		case <-c.changed:
		case <-ctx.Done():
			return m, err
		}
	}
	return m, err
}

func (c *drainingConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if _, ok := m.(*jsonrpc.Response); ok {
		c.add(-1)
	}
	return err
}

// add counts questions, and gives how many are open.
func (c *drainingConnection) add(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked += n
	if n < 0 {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	return c.asked
}
