// Package delivery is a ledger of messages about alerts outside the product, and what must hold of it.
package delivery

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/mail"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
)

// The channels of the ledger.
const (
	Webhook = "webhook"
	Email   = "email"
)

// Receipt is one message that came in.
type Receipt struct {
	Channel string
	// ID is that of the message; it is the notification's, too.
	ID string
	At time.Time
	// Accepted: it was answered as one that is taken. The answer may be lost still.
	Accepted bool
	// Alerts are what it says; a mail says it for people alone.
	Alerts []Told
}

// Told is an alert in a message.
type Told struct {
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint"`
	Status      string `json:"status"`
	JobID       string `json:"jobId"`
}

// Mode says how the receivers answer.
type Mode int

// The modes.
const (
	Takes Mode = iota
	// Fails: 500, and 451 for mails. Busy: 429 with Retry-After, and 451. Slow answers later than
	// the sender waits.
	Fails
	Busy
	Slow
)

const (
	retryAfter = 2
	slowFor    = 12 * time.Second
)

// Ledger receives webhooks and mails. Each is noted, also in a file, before it is answered. Safe for
// concurrent use.
type Ledger struct {
	mu       sync.Mutex
	file     *os.File
	receipts []Receipt
	mode     Mode
	// arrived may refuse to answer: the sender is gone.
	arrived func(Receipt) (answer bool)
}

// NewLedger appends to the file.
func NewLedger(file string) (*Ledger, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &Ledger{file: f}, err
}

// Close closes the file.
func (l *Ledger) Close() error { return l.file.Close() }

// Answer sets how messages are answered from now on.
func (l *Ledger) Answer(m Mode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mode = m
}

// Arrived is asked about each message before it is noted; nil asks nobody.
func (l *Ledger) Arrived(f func(Receipt) (answer bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrived = f
}

// Receipts are those so far, in their order.
func (l *Ledger) Receipts() []Receipt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.receipts)
}

// note writes a receipt down. It returns how to answer, and whether.
func (l *Ledger) note(r Receipt) (mode Mode, answer bool, err error) {
	r.At = time.Now()
	l.mu.Lock()
	arrived := l.arrived
	l.mu.Unlock()
	answer = arrived == nil || arrived(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Accepted = answer && l.mode == Takes
	line, err := json.Marshal(r)
	if err != nil {
		return 0, false, err
	}
	if _, err = l.file.Write(append(line, '\n')); err != nil {
		return 0, false, err
	}
	l.receipts = append(l.receipts, r)
	return l.mode, answer, nil
}

// ServeHTTP takes a webhook.
func (l *Ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ Alerts []Told }
	raw, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	mode, answer, err := l.note(Receipt{Channel: Webhook, ID: r.Header.Get("Webhook-Id"), Alerts: body.Alerts})
	switch {
	case err != nil || !answer:
		panic(http.ErrAbortHandler) // the connection ends without an answer
	case mode == Fails:
		http.Error(w, "as it was told", http.StatusInternalServerError)
	case mode == Busy:
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		w.WriteHeader(http.StatusTooManyRequests)
	case mode == Slow:
		select {
		case <-r.Context().Done():
		case <-time.After(slowFor):
		}
	}
}

// NewSession implements smtp.Backend.
func (l *Ledger) NewSession(*smtp.Conn) (smtp.Session, error) { return session{l}, nil }

// session takes mails.
type session struct{ l *Ledger }

var errNoID = errors.New("the mail has no Message-ID")

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
	id, _, ok := strings.Cut(strings.TrimPrefix(m.Header.Get("Message-Id"), "<"), "@")
	if !ok {
		return errNoID
	}
	mode, answer, err := s.l.note(Receipt{Channel: Email, ID: id})
	if err != nil {
		return err
	}
	if !answer || mode != Takes {
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "later"}
	}
	return nil
}
