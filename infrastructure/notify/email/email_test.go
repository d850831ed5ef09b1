package email_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

const password = "s3cr3t-BBBBBBBBBBBB"

// received is a mail as the server took it.
type received struct {
	from string
	to   []string
	data []byte
	auth bool
	tls  bool
}

// server is a mail server that answers as it is told.
type server struct {
	mu          sync.Mutex
	mails       []received
	connections int
	// The answers; nil accepts.
	onMail, onData, onAuth error
	onRcpt                 func(to string) error
	certificate            tls.Certificate
	roots                  *x509.CertPool
	port                   int
}

func (s *server) NewSession(c *smtp.Conn) (smtp.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections++
	_, encrypted := c.TLSConnectionState()
	return &session{server: s, mail: received{tls: encrypted}}, nil
}

func (s *server) Mails() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.mails...)
}

type session struct {
	server *server
	mail   received
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, given string) error {
		if s.server.onAuth != nil {
			return s.server.onAuth
		}
		if user != "ops" || given != password {
			return errors.New("wrong")
		}
		s.mail.auth = true
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.mail.from = from
	return s.server.onMail
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.server.onRcpt != nil {
		if err := s.server.onRcpt(to); err != nil {
			return err
		}
	}
	s.mail.to = append(s.mail.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if s.server.onData != nil {
		return s.server.onData
	}
	s.mail.data = data
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.mails = append(s.server.mails, s.mail)
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// start starts a server: with TLS from the first byte where implicit is set. It offers STARTTLS
// where it has a certificate.
func start(t *testing.T, s *server, implicit, certified bool) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.port = l.Addr().(*net.TCPAddr).Port
	srv := smtp.NewServer(s)
	srv.Domain, srv.AllowInsecureAuth = "mail.example", true
	srv.ReadTimeout, srv.WriteTimeout = 10*time.Second, 10*time.Second
	if certified {
		s.certify(t)
		config := &tls.Config{Certificates: []tls.Certificate{s.certificate}}
		if implicit {
			l = tls.NewListener(l, config)
		} else {
			srv.TLSConfig = config
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		_ = l.Close() // Close knows no listener that Serve has not taken yet
		<-done
	})
	return s
}

func (s *server) certify(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	s.certificate = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	s.roots = x509.NewCertPool()
	s.roots.AddCert(parsed)
}

// config is a configuration for the server.
func (s *server) config(encryption, more string) string {
	return fmt.Sprintf(`{"host":"127.0.0.1","port":%s,"tls":%q,"from":"调度 <ops@example.com>",`+
		`"to":["张三 <zhang@example.com>","b@example.com"]%s}`, strconv.Itoa(s.port), encryption, more)
}

// parts are header and bodies of a mail.
func parts(t *testing.T, data []byte) (header mail.Header, text, html string) {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(data))
	require.NoError(t, err)
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	require.NoError(t, err)
	if !strings.HasPrefix(kind, "multipart/") {
		body, err := io.ReadAll(m.Body)
		require.NoError(t, err)
		return m.Header, string(body), ""
	}
	r := multipart.NewReader(m.Body, parameters["boundary"])
	for {
		p, err := r.NextPart()
		if err != nil {
			return m.Header, text, html
		}
		body, err := io.ReadAll(p)
		require.NoError(t, err)
		if strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
			html = string(body)
		} else {
			text = string(body)
		}
	}
}
