package night_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/notifying"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
)

// receipt is what a channel's receiver was given.
type receipt struct {
	message, channel string
	at               time.Time
	// body is what people, or programs, read of it; html is that of a mail.
	body, html string
}

// book holds what all receivers were given, in the order of each channel.
type book struct {
	mu       sync.Mutex
	receipts []receipt
	now      func() time.Time
}

func (b *book) note(r receipt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.at = b.now()
	b.receipts = append(b.receipts, r)
}

// of are the receipts of a channel.
func (b *book) of(channel string) (out []receipt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.receipts {
		if r.channel == channel {
			out = append(out, r)
		}
	}
	return out
}

// noted is a channel whose messages are noted by what its receiver was given.
type noted struct {
	notifying.Channel
	mu    sync.Mutex
	book  *book
	name  string
	given func() (body, html string)
}

func (n *noted) Send(ctx context.Context, m alert.Message) alert.SendResult {
	n.mu.Lock()
	defer n.mu.Unlock()
	result := n.Channel.Send(ctx, m)
	body, html := n.given()
	n.book.note(receipt{message: m.ID, channel: n.name, body: body, html: html})
	return result
}

// robot is a receiver that answers as the services do.
func robot(t *testing.T) (url string, given func() (body, html string)) {
	t.Helper()
	r := notifytest.NewReceiver(t, notifytest.Answer(http.StatusOK,
		`{"errcode":0,"errmsg":"ok","code":0,"msg":"success"}`))
	return r.URL, func() (string, string) {
		calls := r.Calls()
		if len(calls) == 0 {
			return "", ""
		}
		return calls[len(calls)-1].Body, ""
	}
}

// mailbox takes mails and keeps the latest.
type mailbox struct {
	mu         sync.Mutex
	text, html string
}

func (b *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return session{b}, nil }

func (b *mailbox) given() (text, html string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text, b.html
}

type session struct{ b *mailbox }

func (session) Reset()                               {}
func (session) Logout() error                        { return nil }
func (session) Mail(string, *smtp.MailOptions) error { return nil }
func (session) Rcpt(string, *smtp.RcptOptions) error { return nil }

// Data takes a mail.
func (s session) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.b.text, s.b.html = "", ""
	if params["boundary"] == "" {
		s.b.text, err = decoded(m.Header.Get("Content-Transfer-Encoding"), m.Body)
		return err
	}
	for parts := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		body, err := decoded(part.Header.Get("Content-Transfer-Encoding"), part)
		if err != nil {
			return err
		}
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			s.b.html = body
		} else {
			s.b.text = body
		}
	}
}

func decoded(encoding string, r io.Reader) (string, error) {
	switch strings.ToLower(encoding) {
	case "quoted-printable":
		r = quotedprintable.NewReader(r)
	case "base64":
		r = base64.NewDecoder(base64.StdEncoding, r)
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// post is a mail server; it returns the configuration of a channel to it.
func post(t *testing.T) (config string, given func() (body, html string)) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	box := &mailbox{}
	server := smtp.NewServer(box)
	server.Domain = "receiver.example"
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		_ = listener.Close()
		<-done
	})
	return fmt.Sprintf(`{"host":"127.0.0.1","port":%d,"tls":"NONE","from":"ops@example.com","to":["on@example.com"]}`,
		listener.Addr().(*net.TCPAddr).Port), box.given
}
