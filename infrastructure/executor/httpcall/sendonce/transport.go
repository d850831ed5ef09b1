package sendonce

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// The bounds of a connection.
const (
	connectTimeout = 10 * time.Second
	maxHeaderBytes = 64 << 10
	maxIdle        = 256
	maxIdlePerHost = 32
	// keepFor is how long an unused connection is kept. Targets keep theirs longer, so
	// that a request seldom meets a connection that its target closes. The shortest
	// default in wide use is 5 s (Node.js).
	keepFor = 3 * time.Second
	// pingAfter and pingTimeout find HTTP/2 connections whose peer is gone.
	pingAfter   = 15 * time.Second
	pingTimeout = 10 * time.Second
)

// Settings are what a transport needs.
type Settings struct {
	// Guard checks each address before the transport dials it.
	Guard *outbound.Guard
	// Roots sign the certificates that are trusted; nil stands for the system's roots.
	Roots *x509.CertPool
	// Certificate is what the calls show; nil is none.
	Certificate *tls.Certificate
}

// newTransport keeps connections and speaks HTTP/2 where the target offers it. It uses
// no proxy of the environment: an address behind a proxy would escape the guard. It
// decompresses nothing, so that the bounds on sizes count what was sent.
func newTransport(s Settings) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	dialer := &net.Dialer{Timeout: connectTimeout, Control: s.Guard.Control}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: s.Roots,
		ClientSessionCache: tls.NewLRUClientSessionCache(0),
	}
	if s.Certificate != nil {
		config.Certificates = []tls.Certificate{*s.Certificate}
	}
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            counting(dialer),
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    connectTimeout,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        keepFor,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		Protocols:              protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
}
