package httpcall

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// The bounds of a connection.
const (
	connectTimeout = 10 * time.Second
	maxRedirects   = 5
	maxHeaderBytes = 64 << 10
	maxIdle        = 256
	maxIdlePerHost = 32
	// keepFor is how long an unused connection is kept: less than targets keep
	// theirs, so that a request seldom meets a connection that is being closed
	// at its other end. The shortest default in wide use is 5 s (Node.js).
	keepFor = 3 * time.Second
	// pingAfter and pingTimeout find HTTP/2 connections whose peer is gone.
	pingAfter   = 15 * time.Second
	pingTimeout = 10 * time.Second
)

// newTransport keeps connections and speaks HTTP/2 where the target offers it.
// Proxies of the environment are not used, since what lies behind one would
// escape the guard, and nothing is decompressed, so that the bounds on sizes
// count what was sent. That it never sends an attempt twice is the caller's
// doing. certificate may be nil.
func newTransport(s Settings, certificate *tls.Certificate) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	dialer := &net.Dialer{Timeout: connectTimeout, Control: s.Guard.Control}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: s.Roots, ClientSessionCache: tls.NewLRUClientSessionCache(0)}
	if certificate != nil {
		config.Certificates = []tls.Certificate{*certificate}
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
