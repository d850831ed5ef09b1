package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/peering"
)

// door is where an engine without a REST edge answers the other nodes.
type door struct {
	listener net.Listener
	http     *http.Server
}

// doorTimeout bounds what one question may take.
const doorTimeout = 5 * time.Second

// open makes the address at which the others ask this node, and the key by which
// both sides know each other.
func (c *cluster) open(ctx context.Context, e *Engine, port int) error {
	if c == nil {
		return nil
	}
	ring, err := keyring(e.cfg, e.folder)
	if err != nil {
		return err
	}
	if c.key, err = service.OpenClusterKey(ctx, e.Store, ring); err != nil {
		// The node works; without the others' promises it stops when the store is away.
		e.logger.Error("this node can neither ask the others nor answer them", "error", err)
	}
	c.asks = peering.NewClient(c.key, e.Clock.Now, e.cfg.Server.TLS.CertFile != "")
	if c.port = port; port != 0 {
		return nil
	}
	host, _, err := net.SplitHostPort(e.cfg.Server.Addr)
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return fmt.Errorf("listen for the questions of other nodes on %s: %w", host, err)
	}
	c.door = &door{listener: l}
	c.port = l.Addr().(*net.TCPAddr).Port
	return nil
}

// answer begins to answer the others.
func (c *cluster) answer(e *Engine) {
	if c == nil {
		return
	}
	c.peers = peering.NewServer(c.key, e.Clock.Now, e.Member)
	if c.door == nil {
		return
	}
	c.door.http = &http.Server{Handler: c.peers, ReadHeaderTimeout: doorTimeout, ReadTimeout: doorTimeout, WriteTimeout: doorTimeout, IdleTimeout: 2 * time.Minute}
	e.doors.Go(func() {
		if err := c.door.serve(e.cfg.Server.TLS); !errors.Is(err, http.ErrServerClosed) {
			e.end(fmt.Errorf("the questions of other nodes are not answered any more: %w", err))
		}
	})
}

func (d *door) serve(t config.TLS) error {
	if t.CertFile != "" {
		return d.http.ServeTLS(d.listener, t.CertFile, t.KeyFile)
	}
	return d.http.Serve(d.listener)
}

func (d *door) close() error {
	switch {
	case d == nil:
		return nil
	case d.http == nil:
		return d.listener.Close()
	}
	return d.http.Close()
}

// unheard says that this node cannot ask the others, or gets no answer.
func (e *Engine) unheard() (reason string, blocks bool) {
	switch {
	case e.cluster == nil:
		return "", false
	case e.cluster.key != nil:
		return e.Member.Unanswered()
	}
	return "this node does not have the key by which the nodes sign what they say to each other: an outage of the store stops its work; give it the secrets.key of the others", false
}
