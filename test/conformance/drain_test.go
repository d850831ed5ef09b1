package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/conformance"
)

// SIGTERM: the poll that is under way is not cut, and a run in its answer is given back.
func Test29Drain(t *testing.T) {
	s := play(t)
	s.Do(func() { s.Beat, s.Wait = 2*time.Second, 2*time.Second })
	r := run("ok", nil)
	r.Token = 900
	terminated := false
	s.Change = func(c *conformance.Call, answer map[string]any) {
		if c.Kind == "poll" && terminated && r.State == "hidden" {
			r.State = "running"
			answer["runs"] = []any{r.Delivery()}
		}
	}
	s.start()
	s.registered()
	s.Do(func() {
		s.Hide(r)
		terminated = true
	})
	s.terminate()
	require.Zero(t, s.exit(), s.stderr.String())
	require.Empty(t, s.ledger(), "it does not begin")
	require.Equal(t, "RETURNED", s.ended(r).Status)
	require.Len(t, s.Calls("leave"), 1)
	stopped := slices.IndexFunc(s.Calls("poll"), func(c *conformance.Call) bool { return c.Poll.Stopping })
	require.Positive(t, stopped)
	for _, c := range s.Calls("poll") {
		require.False(t, c.Cut, "poll %d was cut", c.N)
		if c.Poll.Stopping {
			require.Zero(t, c.Poll.Free)
		}
	}
	require.True(t, s.Newest("leave").At.After(s.Newest("report").At), "it leaves when nothing is left")
}

// A run that has begun may end within the grace.
func Test29WhatRunsMayEnd(t *testing.T) {
	s := play(t)
	s.env["PS_GRACE_MS"] = "30000"
	r := s.Add(run("sleep", data{"ms": 1500}))
	s.start()
	s.began(r)
	s.terminate()
	require.Zero(t, s.exit(), s.stderr.String())
	require.Equal(t, "SUCCESS", s.ended(r).Status)
	require.Len(t, s.Calls("leave"), 1)
	stopping := 0
	for _, c := range s.Calls("poll") {
		if c.Poll.Stopping {
			stopping++
		}
	}
	require.Positive(t, stopping)
	require.LessOrEqual(t, stopping, 20, "it does not call without a pause")
}

func Test30TheGraceIsOver(t *testing.T) {
	s := play(t)
	s.env["PS_GRACE_MS"] = "500"
	r := s.Add(run("checkpoint", data{"n": 3, "ms": 60_000}))
	s.start()
	s.began(r)
	s.terminate()
	require.Zero(t, s.exit(), s.stderr.String())
	require.Equal(t, "RELEASED", s.ended(r).Status)
	require.Equal(t, "c3", r.Kept)
	require.True(t, s.wrote("end "+r.Name()+" shutdown"), "%v", s.ledger())
	require.Len(t, s.Calls("leave"), 1)
}

// A poll that is under way could reach the server after the leave.
func Test30ItLeavesAfterItsPolls(t *testing.T) {
	s := play(t)
	s.env["PS_GRACE_MS"] = "30000"
	r := s.Add(run("sleep", data{"ms": 3000})) // it is to end after the second poll
	answer := make(chan struct{})
	stopping := 0
	s.Script = func(c *conformance.Call) *conformance.Fault {
		if c.Kind != "poll" || !c.Poll.Stopping {
			return nil
		}
		if stopping++; stopping != 2 { // the answer to the first one lets it leave
			return nil
		}
		return &conformance.Fault{Wait: answer}
	}
	s.start()
	s.began(r)
	s.terminate()
	s.until("a poll without an answer", func() bool { return stopping > 1 })
	require.Equal(t, "SUCCESS", s.ended(r).Status)
	time.Sleep(300 * time.Millisecond) // for a leave that comes too early
	answered := time.Now()
	close(answer)
	require.Zero(t, s.exit(), s.stderr.String())
	require.Len(t, s.Calls("leave"), 1)
	require.True(t, s.Newest("leave").At.After(answered), "it left while a poll was under way")
}

func Test31ASecondSignal(t *testing.T) {
	s := play(t)
	s.env["PS_GRACE_MS"] = "600000"
	r := s.Add(run("deaf", data{"ms": 600_000}))
	s.start()
	s.began(r)
	s.terminate()
	s.until("a poll that says so", func() bool { return s.Newest("poll").Poll.Stopping })
	s.terminate()
	require.NotZero(t, s.exit())
	require.Empty(t, s.Calls("leave"), "its run is lost, not ended")
}

func Test32AHandlerThatKeepsTheProcessor(t *testing.T) {
	s := play(t)
	s.Do(func() { s.Beat, s.Wait = 200*time.Millisecond, 200*time.Millisecond })
	r := s.Add(run("busy", data{"ms": 3000}))
	s.start()
	s.began(r)
	s.polls(5)
	require.False(t, s.wrote("end "+r.Name()), "beats go on while it is at work")
	require.Equal(t, "SUCCESS", s.ended(r).Status)
}

// The token is refused for good: what runs goes on to the end of the lease, nothing begins, and the program ends.
func Test33TheTokenIsRevoked(t *testing.T) {
	s := play(t)
	s.Do(func() { s.Beat, s.Wait, s.Lease = 300*time.Millisecond, 300*time.Millisecond, 3*time.Second })
	r := s.Add(run("sleep", data{"ms": 60_000}))
	s.start()
	s.began(r)
	s.Do(func() { s.Token = "psw_of_another_group" })
	s.until("a refusal", func() bool { return s.Newest("poll").Status == http.StatusUnauthorized })
	s.Add(run("ok", nil))
	require.NotZero(t, s.exit())
	require.False(t, s.wrote("end "+r.Name()+" returned"), "%v", s.ledger())
	require.Len(t, slices.DeleteFunc(s.ledger(), func(l string) bool { return !strings.HasPrefix(l, "begin") }), 1)
	require.NotEmpty(t, strings.TrimSpace(s.stderr.String()))
	require.NotContains(t, s.stderr.String(), "psw_", "a token is not shown")
	refused := 0
	for _, c := range s.Calls("poll") {
		if c.Status == http.StatusUnauthorized {
			refused++
		}
	}
	require.Greater(t, refused, 1, "its lease is not over at once")
}

func Test34ACertificateOfItsOwn(t *testing.T) {
	s := play(t)
	ca, _ := s.secure()
	s.trust(ca)
	r := s.Add(run("ok", nil))
	s.start()
	require.Equal(t, "SUCCESS", s.ended(r).Status)
}

func Test34AnotherCertificate(t *testing.T) {
	s := play(t)
	_, handshakes := s.secure()
	s.trust(anotherCA(t))
	s.start()
	s.until("a handshake that fails, or the end", func() bool { return s.gone() || handshakes.count() > 1 })
	s.Do(func() { require.Empty(t, s.Calls("register"), "its token goes to nobody else") })
}

// A redirect is not followed: the token would go to another address.
func Test34ARedirect(t *testing.T) {
	var reached atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	s := play(t)
	s.Script = func(c *conformance.Call) *conformance.Fault {
		if c.Kind == "register" && c.N <= 2 {
			return &conformance.Fault{Status: 307, Header: map[string]string{"Location": other.URL + "/api/v1/workers"}}
		}
		return nil
	}
	s.start()
	s.until("a second try, or the end", func() bool { return s.gone() || len(s.Calls("register")) > 1 })
	require.Zero(t, reached.Load())
}
