package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/peering"
)

// peerServer answers the other nodes where the engine has no REST API.
type peerServer struct {
	listener net.Listener
	http     *http.Server
}

// peerServerTimeout bounds one question.
const peerServerTimeout = 5 * time.Second

// open opens the address at which other nodes ask this one, and the key by which the
// nodes authenticate each other.
func (c *cluster) open(ctx context.Context, e *Engine, port int) error {
	if c == nil {
		return nil
	}
	ring, err := datafolder.OpenKeyring(e.cfg)
	if err != nil {
		return err
	}
	if c.key, err = secret.OpenClusterKey(ctx, e.Store, ring); err != nil {
		// The node works, but without promises it stops when the store is away.
		e.logger.Error("this node can neither ask other nodes nor answer them", "error", err)
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
		return fmt.Errorf("listen for questions of other nodes on %s: %w", host, err)
	}
	c.peerServer = &peerServer{listener: l}
	c.port = l.Addr().(*net.TCPAddr).Port
	return nil
}

// answer begins to answer other nodes.
func (c *cluster) answer(e *Engine) {
	if c == nil {
		return
	}
	c.peers = peering.NewServer(c.key, e.Clock.Now, e.Member)
	if c.peerServer == nil {
		return
	}
	c.peerServer.http = &http.Server{
		Handler: c.peers, ReadHeaderTimeout: peerServerTimeout,
		ReadTimeout: peerServerTimeout, WriteTimeout: peerServerTimeout, IdleTimeout: 2 * time.Minute,
	}
	e.peerServers.Go(func() {
		if err := c.peerServer.serve(e.cfg.Server.TLS); !errors.Is(err, http.ErrServerClosed) {
			e.end(fmt.Errorf("the server for questions of other nodes has failed: %w", err))
		}
	})
}

// PeerHandler answers the questions of other nodes; nil where there are none.
func (e *Engine) PeerHandler() http.Handler {
	if e.cluster == nil {
		return nil
	}
	return e.cluster.peers
}

func (d *peerServer) serve(t config.TLS) error {
	if t.CertFile != "" {
		return d.http.ServeTLS(d.listener, t.CertFile, t.KeyFile)
	}
	return d.http.Serve(d.listener)
}

func (d *peerServer) close() error {
	switch {
	case d == nil:
		return nil
	case d.http == nil:
		return d.listener.Close()
	}
	return d.http.Close()
}

// peersTrouble reports that this node cannot ask other nodes, or gets no answer.
func (e *Engine) peersTrouble() (reason string, blocks bool) {
	switch {
	case e.cluster == nil:
		return "", false
	case e.cluster.key != nil:
		return e.Member.Unanswered()
	}
	return "this node does not have the key that signs calls between nodes: an outage of the store stops its work; " +
		"give it the secrets.key of the other nodes", false
}
