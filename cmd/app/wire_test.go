package app_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// wire is the way of a node to its store, which a test can cut.
type wire struct {
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// lay puts a wire between the node and its store.
func lay(t *testing.T, cfg *config.Config) *wire {
	t.Helper()
	dsn, err := mysql.ParseDSN(cfg.Store.DSN)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w, upstream := &wire{}, dsn.Addr
	dsn.Addr = l.Addr().String()
	cfg.Store.DSN = dsn.FormatDSN()
	var ends sync.WaitGroup
	ends.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			ends.Go(func() { w.carry(client, upstream) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		w.set(true)
		ends.Wait()
	})
	return w
}

// set cuts what goes over the wire, or lets new connections through.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

func (w *wire) carry(client net.Conn, upstream string) {
	defer client.Close()
	server, err := net.Dial("tcp", upstream)
	if err != nil {
		return
	}
	defer server.Close()
	w.mu.Lock()
	cut := w.cut
	w.conns = append(w.conns, client, server)
	w.mu.Unlock()
	if cut {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	_, _ = io.Copy(server, client)
	_ = server.Close()
	back.Wait()
}
