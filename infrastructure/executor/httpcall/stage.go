package httpcall

import (
	"errors"
	"fmt"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// phase is how far a call has come.
type phase int

const (
	preparing phase = iota
	resolving
	connecting
	securing
	sending
	waiting
	reading
)

// maxReason bounds the part of an error message that is not ours, in bytes.
const maxReason = 512

// stage is the phase of a call and the host that it talks to. The hooks of the transport change
// it from their own goroutines.
type stage struct {
	mu    sync.Mutex
	phase phase
	peer  string
}

// enter moves on to a phase, and never back: a hook may come late.
func (s *stage) enter(p phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = max(s.phase, p)
}

// String returns the phase as the beginning of an error message.
func (s *stage) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var what string
	switch s.phase {
	case resolving:
		what = "resolve %s"
	case connecting:
		what = "connect to %s"
	case securing:
		what = "agree on TLS with %s"
	case sending:
		what = "send the request to %s"
	case waiting:
		what = "wait for the answer of %s"
	case reading:
		what = "read the answer of %s"
	default:
		what = "prepare the call of %s"
	}
	return fmt.Sprintf(what, s.peer)
}

// trace returns the hooks that follow the transport. The call begins at host.
func (s *stage) trace(host string) *httptrace.ClientTrace {
	s.peer = host
	return &httptrace.ClientTrace{
		GetConn: func(hostPort string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.peer, s.phase = hostPort, preparing
		},
		DNSStart:             func(httptrace.DNSStartInfo) { s.enter(resolving) },
		ConnectStart:         func(string, string) { s.enter(connecting) },
		TLSHandshakeStart:    func() { s.enter(securing) },
		GotConn:              func(httptrace.GotConnInfo) { s.enter(sending) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { s.enter(waiting) },
		GotFirstResponseByte: func() { s.enter(waiting) },
	}
}

// secrets are the parts of a URL that may hold a secret: a query and a user name.
var secrets = regexp.MustCompile(`\?[^\s"']+|//[^/\s"'@]*@`)

// reasonOf returns the text of an error without the URL around it.
func reasonOf(err error) string {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return validation.Text(secrets.ReplaceAllString(err.Error(), "…"), maxReason)
}
