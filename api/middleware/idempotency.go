package middleware

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// keyLife is how long the answer to a call with a key is kept.
	keyLife = 24 * time.Hour
	// staleAfter is when a call that is still in progress must have died: no
	// call lives longer than RequestTimeout.
	staleAfter = 2 * RequestTimeout
	// keepTimeout bounds the storing of an answer after the call itself.
	keepTimeout = 5 * time.Second
	// ReplayedHeader marks an answer that was given before.
	ReplayedHeader = "Idempotent-Replayed"
)

// answer is what is kept of a success.
type answer struct {
	Location string `json:"location,omitempty"`
	ETag     string `json:"etag,omitempty"`
	Body     string `json:"body"`
}

// Idempotency makes a repeated call with the same Idempotency-Key get the
// first answer instead of happening again (engine rule 2). The scope is the
// user and the route with its identifiers. Successes are kept; a call that was
// refused, or that certainly did nothing, may be sent again under its key. A
// call that ended in the unknown keeps its key: repeating it could double it.
func Idempotency(calls repository.IdempotentCalls, clk clock.Clock, log *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		key, err := request.IdempotencyKey(c.Request.Header)
		if err != nil {
			Fail(c, err)
			return
		}
		if key == "" {
			c.Next()
			return
		}
		body, err := request.ReadBody(c.Request)
		if err != nil {
			Fail(c, err)
			return
		}
		c.Request.Body = io.NopCloser(bytes.NewReader(body))
		user, _ := UserOf(c)
		sum := sha256.Sum256(body)
		call := entity.IdempotentCall{
			Scope: user.ID + " " + c.Request.Method + " " + c.Request.URL.Path, Key: key,
			BodyHash: hex.EncodeToString(sum[:]), CreateTime: clk.Now(),
		}
		existing, begun, err := calls.Begin(c.Request.Context(), call, keyLife)
		if err != nil {
			Fail(c, err)
			return
		}
		if !begun {
			repeat(c, existing, call)
			return
		}
		held := hold(c)
		// After a panic the outer recovery answers, past what was held, and
		// the call stays in progress: what it did is unknown.
		defer func() { c.Writer = held.ResponseWriter }()
		c.Next()
		if err := keep(c, calls, call, held); err != nil {
			log.Warn("the answer to a call with an Idempotency-Key was not kept", "error", err, "requestId", RequestIDOf(c))
		}
		held.release()
	}
}

// repeat answers a call whose key is known.
func repeat(c *gin.Context, existing, call entity.IdempotentCall) {
	switch {
	case existing.BodyHash != call.BodyHash:
		Fail(c, apperror.InvalidField("Idempotency-Key", "key_reused",
			"was used with another body before; use a new key for a new call"))
	case existing.Status == 0 && call.CreateTime.Sub(existing.CreateTime) > staleAfter:
		Fail(c, apperror.Conflict("outcome_unknown",
			"the first call with this key ended without an answer, and may have taken effect; look first, and repeat it with "+
				"a new key"))
	case existing.Status == 0:
		Fail(c, apperror.Conflict("in_progress", "the first call with this key is still in progress; wait and send it again"))
	default:
		var a answer
		if err := json.Unmarshal([]byte(existing.Body), &a); err != nil {
			Fail(c, err)
			return
		}
		h := c.Writer.Header()
		setIfAny(h, "Location", a.Location)
		setIfAny(h, "ETag", a.ETag)
		h.Set(ReplayedHeader, "true")
		h.Set("Content-Type", "application/json")
		c.Abort()
		c.Status(existing.Status)
		_, _ = io.WriteString(c.Writer, a.Body)
	}
}

func setIfAny(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// keep stores a success, forgets a call that did nothing, and leaves in
// progress what may have done something. It works on when the caller is gone.
func keep(c *gin.Context, calls repository.IdempotentCalls, call entity.IdempotentCall, held *heldWriter) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), keepTimeout)
	defer cancel()
	switch status := held.Status(); {
	case status < http.StatusBadRequest:
		kept, err := json.Marshal(answer{
			Location: held.Header().Get("Location"), ETag: held.Header().Get("ETag"),
			Body: held.body.String(),
		})
		if err != nil {
			return err
		}
		call.Status, call.Body = status, string(kept)
		return calls.Complete(ctx, call)
	case status < http.StatusInternalServerError, apperror.Is(errorOf(c), apperror.KindUnavailable),
		errors.As(errorOf(c), new(*repository.UnknownError)): // of a statement: an answer to a commit leaves it open
		return calls.Abandon(ctx, call)
	default:
		return nil
	}
}

// heldWriter holds an answer back until it is stored.
type heldWriter struct {
	gin.ResponseWriter
	status int
	body   bytes.Buffer
	wrote  bool
}

func hold(c *gin.Context) *heldWriter {
	w := &heldWriter{ResponseWriter: c.Writer, status: http.StatusOK}
	c.Writer = w
	return w
}

func (w *heldWriter) WriteHeader(status int) { w.status, w.wrote = status, true }

func (w *heldWriter) WriteHeaderNow() { w.wrote = true }

func (w *heldWriter) Write(b []byte) (int, error) {
	w.wrote = true
	return w.body.Write(b)
}

func (w *heldWriter) WriteString(s string) (int, error) {
	w.wrote = true
	return w.body.WriteString(s)
}

func (w *heldWriter) Status() int { return w.status }

func (w *heldWriter) Size() int { return w.body.Len() }

func (w *heldWriter) Written() bool { return w.wrote }

// Flush does nothing: what is held is sent in one piece.
func (w *heldWriter) Flush() {}

func (w *heldWriter) release() {
	w.ResponseWriter.WriteHeader(w.status)
	_, _ = w.ResponseWriter.Write(w.body.Bytes())
}
