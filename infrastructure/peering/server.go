package peering

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Prefix begins the paths of questions; the matter follows.
const Prefix = "/internal/v1/"

const (
	maxBody = 4 << 10
	// answering bounds the questions that are answered at one time.
	answering = 128
)

// Answerer answers questions from memory.
type Answerer interface {
	Answer(ctx context.Context, q entity.PeerQuestion) entity.PeerAnswer
}

// Server answers questions of other nodes. Safe for concurrent use.
type Server struct {
	key      []byte
	now      func() time.Time
	answerer Answerer
	nonces   nonces
	permits  chan struct{}
}

// NewServer returns a server that trusts callers with the key; now is the store's time. Without
// a key it refuses everything.
func NewServer(key []byte, now func() time.Time, a Answerer) *Server {
	return &Server{
		key: key, now: now, answerer: a, nonces: nonces{seen: map[string]time.Time{}},
		permits: make(chan struct{}, answering),
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "questions of other nodes are POSTed here", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the question is too long, or does not come", http.StatusBadRequest)
		return
	}
	mark, err := s.trusted(r.Header.Get(signature), r.URL.Path, string(body))
	if errors.Is(err, errTime) {
		w.Header().Set(signature, otherTime(s.key, mark, s.now()).String())
	}
	if err != nil {
		http.Error(w, errSignature.Error(), http.StatusUnauthorized)
		return
	}
	select { // only those who have the key come so far
	case s.permits <- struct{}{}:
		defer func() { <-s.permits }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many questions at once", http.StatusServiceUnavailable)
		return
	}
	q := entity.PeerQuestion{Matter: entity.PeerMatter(strings.TrimPrefix(r.URL.Path, Prefix))}
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, "the question cannot be read", http.StatusBadRequest)
		return
	}
	answer, err := json.Marshal(s.answerer.Answer(r.Context(), q))
	if err != nil {
		http.Error(w, "the answer cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(signature, code(s.key, "answer", mark.nonce, mark.code, string(answer)))
	_, _ = w.Write(answer)
}

// trusted returns the mark of a question that is signed, recent and new. The error is errTime where
// the key signed the question at another time, and errSignature otherwise.
func (s *Server) trusted(header, path, body string) (stamp, error) {
	mark, ok := parseStamp(header)
	if !ok || len(s.key) == 0 {
		return mark, errSignature
	}
	at := mark
	at.code = ""
	if !same(mark.code, code(s.key, "question", path, at.String(), body)) {
		return mark, errSignature
	}
	now := s.now()
	if now.Sub(mark.at).Abs() > fresh {
		return mark, errTime
	}
	if !s.nonces.first(mark.nonce, now) {
		return mark, errSignature
	}
	return mark, nil
}
