package cli_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApprovalsOfTheCommandLine(t *testing.T) {
	const one = `{"executionId":"0193","workflow":"prices","step":"ok","group":"pay","text":"go?","status":"WAITING",` +
		`"need":2,"approved":1,"votes":[{"user":"ann","decision":"APPROVE","comment":"fine","time":"2026-11-20T12:00:00.000Z"}],` +
		`"mayVote":true,"timeoutTime":"2026-11-20T13:00:00.000Z","onTimeout":"REJECT"}`
	var said []string
	api := newFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		said = append(said, r.Method+" "+r.URL.String()+" "+string(body))
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/api/v1/approvals" {
			_, _ = io.WriteString(w, `{"items":[`+one+`],"nextCursor":null}`)
			return
		}
		_, _ = io.WriteString(w, one)
	})
	environ := []string{"HOME=" + t.TempDir(), "PLATFORM_SCHEDULER_SERVER=" + api.URL, "PLATFORM_SCHEDULER_TOKEN=t"}
	for _, c := range []struct {
		args       []string
		call, text string
	}{
		{[]string{"list", "--mine"}, "GET /api/v1/approvals?limit=50&mine=true&status=OPEN ", "prices/ok"},
		{[]string{"list", "--status", "decided"}, "GET /api/v1/approvals?limit=50&status=DECIDED ", "1 of 2"},
		{[]string{"get", "0193"}, "GET /api/v1/approvals/0193 ", "ann: APPROVE"},
		{
			[]string{"approve", "0193", "--comment", "fine"},
			`POST /api/v1/approvals/0193 {"comment":"fine","decision":"APPROVE"}`, "prices/ok: 1 of 2 approve; it is WAITING",
		},
		{[]string{"reject", "0193"}, `POST /api/v1/approvals/0193 {"decision":"REJECT"}`, "1 of 2 approve"},
	} {
		said = nil
		code, out, errOut := run(t, environ, append([]string{"approval"}, c.args...)...)
		require.Zero(t, code, errOut)
		require.Equal(t, []string{c.call}, said)
		require.Contains(t, out+errOut, c.text)
	}
}
