package problem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/problem"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func TestEveryKindHasItsStatus(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{apperror.InvalidField("a", "b", "c"), 422, "invalid"},
		{apperror.NotFound("job", "1"), 404, "not_found"},
		{apperror.Conflict("name_taken", "x"), 409, "name_taken"},
		{apperror.New(apperror.KindPrecondition, "stale", "x"), 412, "stale"},
		{apperror.New(apperror.KindUnauthenticated, "a", "x"), 401, "a"},
		{apperror.New(apperror.KindForbidden, "a", "x"), 403, "a"},
		{apperror.Unavailable(errors.New("x")), 503, "store_unavailable"},
		{apperror.New(apperror.KindTooMany, "a", "x"), 429, "a"},
		{apperror.New(apperror.KindMalformed, "a", "x"), 400, "a"},
		{apperror.New(apperror.KindTooLarge, "a", "x"), 413, "a"},
		{apperror.New(apperror.KindUnsupportedMedia, "a", "x"), 415, "a"},
		{apperror.New(0, "a", "secret"), 500, "internal"},
		{errors.New("secret"), 500, "internal"},
		{repository.ErrCommitUnknown, 503, "outcome_unknown"},
		{context.DeadlineExceeded, 503, "timeout"},
		{&repository.UnknownError{Err: errors.New("secret")}, 503, "store_unavailable"},
	} {
		p := problem.From(fmt.Errorf("wrapped: %w", c.err))
		require.Equal(t, c.status, p.Status, c.err)
		require.Equal(t, c.code, p.Code)
		require.NotContains(t, p.Detail, "secret")
	}
}

func TestAnAnswerOfTheStoreThatIsNotKnownMayBeRepeated(t *testing.T) {
	err := fmt.Errorf("insert: %w", &repository.UnknownError{Err: errors.New("Error 1637: secret")})
	require.Positive(t, problem.From(err).RetryAfterSec)
	code, message := problem.Explain(err)
	require.Equal(t, "store_unavailable", code)
	require.NotContains(t, message, "secret")
}

func TestCausesStayInside(t *testing.T) {
	p := problem.From(apperror.Unavailable(errors.New("dial u:canary@tcp(10.0.0.1)")))
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "canary")
}

func TestWrite(t *testing.T) {
	p := problem.From(apperror.Invalid([]apperror.Field{
		{Field: "a", Code: "x", Message: "m"},
		{Field: "b.c", Code: "y", Message: "n"},
	}))
	p.RequestID = "r1"
	rec := httptest.NewRecorder()
	p.Write(rec)
	require.Equal(t, 422, rec.Code)
	require.Equal(t, problem.ContentType, rec.Header().Get("Content-Type"))
	require.JSONEq(t, `{"type":"urn:platform-scheduler:problem:invalid","title":"Unprocessable Entity","status":422,"detail":"some fields are invalid",
		"code":"invalid","requestId":"r1","errors":[{"field":"a","code":"x","message":"m"},{"field":"b.c","code":"y","message":"n"}]}`, rec.Body.String())

	rec = httptest.NewRecorder()
	problem.From(apperror.Unavailable(nil)).Write(rec)
	require.Equal(t, "5", rec.Header().Get("Retry-After"))
	rec = httptest.NewRecorder()
	problem.From(apperror.New(apperror.KindTooMany, "a", "x")).Write(rec)
	require.Equal(t, "1", rec.Header().Get("Retry-After"))
	rec = httptest.NewRecorder()
	problem.From(apperror.New(apperror.KindUnauthenticated, "a", "x")).Write(rec)
	require.Contains(t, rec.Header().Get("WWW-Authenticate"), "Bearer")
}
