package e2e_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/apitest"
)

// One server takes everything in turn, as a server in use would.
func TestBadInputOnEveryStore(t *testing.T) {
	eachRig(t, func(t *testing.T, r *rig) {
		for _, part := range []struct {
			name string
			test func(t *testing.T, r *rig)
		}{
			{"bad input is refused and leaves no trace", badInputLeavesNoTrace},
			{"a refused call does not use its key up", aRefusedCallDoesNotUseItsKeyUp},
			{"broken messages leave no trace", brokenMessagesLeaveNoTrace},
			{"a body in many pieces is read whole", aBodyInManyPiecesIsReadWhole},
			{"guessing is slowed down", guessingIsSlowedDown},
			{"far times are answered at once", farTimesAreAnsweredAtOnce},
			{"the ledger is read page by page", theLedgerIsReadPageByPage},
		} {
			t.Run(part.name, func(t *testing.T) { part.test(t, r.on(t)) })
		}
	})
}

// batch is how many cases share one look at the tables.
const batch = 50

func badInputLeavesNoTrace(t *testing.T, r *rig) {
	cases := slices.Concat(apitest.Edge(), apitest.Deep())
	cases = append(cases, edits(cases)...)
	before := r.tables()
	for part := range slices.Chunk(cases, batch) {
		for _, c := range part {
			t.Run(c.Name(), func(t *testing.T) {
				status, header, body := r.on(t).send(c.Method, c.Path, c.Body, c.Headers...)
				c.Check(t, status, header, body)
			})
		}
		r.unchanged(before)
	}
	r.awaitQuiet()
	r.unchanged(before)
}

// edits are the definitions among the cases, sent as edits of a job: what may
// not be created may not be edited in either.
func edits(cases []apitest.Case) (out []apitest.Case) {
	for _, c := range cases {
		if c.Method == http.MethodPost && c.Path == "/api/v1/jobs" && c.Body != "" && c.Status != http.StatusUnauthorized &&
			!slices.Contains(c.Headers, "Idempotency-Key") {
			c.Method, c.Path = http.MethodPut, "/api/v1/jobs/"+apitest.JobID
			c.Headers = slices.Concat(c.Headers, []string{"If-Match", `"1"`})
			out = append(out, c)
		}
	}
	return out
}

func aRefusedCallDoesNotUseItsKeyUp(t *testing.T, r *rig) {
	var cases []apitest.Case
	for i, c := range slices.Concat(apitest.Edge(), apitest.Deep()) {
		if i%3 == 0 && c.Method == http.MethodPost && c.Status != http.StatusUnauthorized &&
			!slices.Contains(c.Headers, "Idempotency-Key") && !strings.Contains(c.Path, "/auth/") {
			c.Headers = slices.Concat(c.Headers, []string{"Idempotency-Key", fmt.Sprint("k", i%2)})
			cases = append(cases, c)
		}
	}
	before := r.tables()
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			status, header, body := r.on(t).send(c.Method, c.Path, c.Body, c.Headers...)
			c.Check(t, status, header, body)
		})
	}
	r.unchanged(before)
}

// raw sends bytes as they are and returns the status of the answer; 0 when the
// connection was closed without one. A message that breaks off is followed by
// the end of what this side sends.
func (r *rig) raw(breaksOff bool, pieces ...string) int {
	r.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	require.NoError(r.t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(r.t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	for _, piece := range pieces {
		_, err = conn.Write([]byte(piece))
		require.NoError(r.t, err)
	}
	if breaksOff {
		require.NoError(r.t, conn.(*net.TCPConn).CloseWrite())
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func brokenMessagesLeaveNoTrace(t *testing.T, r *rig) {
	before := r.tables()
	const job = `{"name":"never","jobType":"CUSTOM","jobClass":"noop"}`
	head := "POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIdempotency-Key: k\r\nAuthorization: Bearer " +
		r.token + "\r\nContent-Type: application/json\r\n"
	chunk := fmt.Sprintf("%x\r\n%s\r\n", len(job), job)
	for name, c := range map[string]struct {
		message string
		want    []int
	}{
		"83 two lengths":       {head + "Content-Length: 3\r\nContent-Length: 53\r\n\r\n" + job, []int{400}},
		"83 a negative length": {head + "Content-Length: -1\r\n\r\n" + job, []int{400}},
		"83 another coding": {
			head + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunk + "0\r\n\r\n",
			[]int{400, 501},
		},
		"84 a body that breaks off":  {head + "Content-Length: 100\r\n\r\n" + job, []int{0, 400}},
		"84 a chunk that breaks off": {head + "Transfer-Encoding: chunked\r\n\r\n" + chunk, []int{0, 400}},
		"84 a chunk of no size":      {head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + job, []int{0, 400}},
		"79 100 MB announced":        {head + "Content-Length: 104857600\r\n\r\n" + job, []int{413}},
		"79 no end": {head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", 1<<21,
			strings.Repeat(" ", 1<<21)), []int{413}},
		"80 a bomb": {
			head + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00",
			[]int{415},
		},
		"102 a header over lines":    {head + "X-A: a\r\n b\x00\r\n\r\n", []int{400}},
		"102 headers over the limit": {head + "X-A: " + strings.Repeat("x", 100_000) + "\r\n\r\n", []int{0, 431}},
		"103 a method with a space":  {strings.Replace(head, "POST", "PO ST", 1) + "\r\n", []int{400}},
		"103 CONNECT":                {strings.Replace(head, "POST", "CONNECT", 1) + "\r\n", []int{400, 404, 405}},
		"115 two tokens":             {head + "Authorization: Bearer x\r\nContent-Length: 53\r\n\r\n" + job, []int{401}},
		"121 two keys":               {head + "Idempotency-Key: k2\r\nContent-Length: 53\r\n\r\n" + job, []int{400}},
		"81 two types": {strings.Replace(head, "application/json", "text/plain",
			1) + "Content-Type: application/json\r\nContent-Length: 53\r\n\r\n" + job, []int{415}},
	} {
		t.Run(name, func(t *testing.T) {
			sub := r.on(t)
			require.Contains(t, c.want, sub.raw(strings.Contains(name, "breaks off"), c.message))
		})
	}
	r.unchanged(before)
}

func guessingIsSlowedDown(t *testing.T, r *rig) { // 120
	before := r.tables()
	guess := func() (int, http.Header, string) {
		return r.send(http.MethodPost, "/api/v1/auth/login", `{"username":"root","password":"guess"}`, "Authorization", "")
	}
	statuses := map[int]int{}
	for range 7 {
		status, header, body := guess()
		statuses[status]++
		c := apitest.Case{Status: status, Code: "wrong_credentials"}
		if status == http.StatusTooManyRequests {
			c.Code = "too_many_logins"
			require.NotEmpty(t, header.Get("Retry-After"))
		}
		c.Check(t, status, header, body)
	}
	require.Equal(t, 7, statuses[401]+statuses[429])
	require.NotZero(t, statuses[429])
	r.must(200, http.MethodGet, "/api/v1/auth/me", nil, nil)
	r.unchanged(before)
}

func aBodyInManyPiecesIsReadWhole(t *testing.T, r *rig) { // 84
	const job = `{"name":"in pieces","jobType":"CUSTOM","jobClass":"noop"}`
	pieces := []string{fmt.Sprintf("POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer "+
		"%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", r.token, len(job))}
	require.Equal(t, 201, r.raw(false, append(pieces, strings.Split(job, "")...)...))
}
