package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/peering"
)

// peerServerTimeout bounds one question.
const peerServerTimeout = 5 * time.Second

// openPeers opens the key by which the nodes authenticate each other, and the address at
// which other nodes ask this one where the engine has no REST API.
func (c *cluster) openPeers(ctx context.Context, b base, s storage) (err error) {
	if c.key, err = secret.OpenClusterKey(ctx, s.Store, s.keys); err != nil {
		// The node works, but without promises it stops when the store is away.
		b.logger.Error("this node can neither ask other nodes nor answer them", "error", err)
	}
	c.asks = peering.NewClient(c.key, s.Clock.Now, b.cfg.Server.TLS.CertFile != "")
	b.opened.addQuiet(c.asks.Close)
	if c.port = b.options.Port; c.port != 0 {
		return nil
	}
	host, _, err := net.SplitHostPort(b.cfg.Server.Addr)
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	if c.listener, err = lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0")); err != nil {
		return fmt.Errorf("listen for questions of other nodes on %s: %w", host, err)
	}
	b.opened.addQuiet(func() { _ = c.listener.Close() }) // its server has closed it, if there is one
	c.port = c.listener.Addr().(*net.TCPAddr).Port
	return nil
}

// answer begins to answer other nodes. It returns what answers them; nil where there are none.
func (c *cluster) answer(b base, s storage, m *membership.Member) http.Handler {
	if c == nil {
		return nil
	}
	peers := peering.NewServer(c.key, s.Clock.Now, m)
	if c.listener == nil {
		return peers
	}
	server := &http.Server{
		Handler: peers, ReadHeaderTimeout: peerServerTimeout,
		ReadTimeout: peerServerTimeout, WriteTimeout: peerServerTimeout, IdleTimeout: 2 * time.Minute,
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := serve(server, c.listener, b.cfg.Server.TLS); !errors.Is(err, http.ErrServerClosed) {
			b.end(fmt.Errorf("the server for questions of other nodes has failed: %w", err))
		}
	})
	b.opened.add(func() error {
		defer serving.Wait()
		return server.Close()
	})
	return peers
}

func serve(s *http.Server, l net.Listener, t config.TLS) error {
	if t.CertFile != "" {
		return s.ServeTLS(l, t.CertFile, t.KeyFile)
	}
	return s.Serve(l)
}

// PeerHandler answers the questions of other nodes; nil where there are none.
func (e *Engine) PeerHandler() http.Handler { return e.peers }

// peersTrouble reports that this node cannot ask other nodes, or gets no answer.
func (p *parts) peersTrouble() (reason string, blocks bool) {
	switch {
	case p.cluster == nil:
		return "", false
	case p.cluster.key != nil:
		return p.Member.Unanswered()
	}
	return "this node does not have the key that signs calls between nodes: an outage of the store stops its work; " +
		"give it the secrets.key of the other nodes", false
}
