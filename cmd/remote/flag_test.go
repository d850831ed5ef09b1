package remote_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// A zero is left out unless it replaces a default, and what is no parameter never reaches the server.
func TestFlagsBecomeParametersOfTheCall(t *testing.T) {
	var heard string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		heard = r.Method + " " + r.URL.String() + " " + string(body)
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(server.Close)
	flags := []remote.Flag{
		{Name: "text", As: "asText"},
		{Name: "on", Default: false},
		{Name: "few", Default: 0},
		{Name: "many", Default: 3},
		{Name: "state", To: remote.Upper},
		{Name: "length", As: "lengthMs", Default: time.Minute},
		{Name: "parts", Default: remote.Commas{}},
		{Name: "from", To: remote.Moment},
	}
	own := []remote.Flag{{Name: "quiet", Default: false}}
	call := func(method string, args ...string) string {
		heard = ""
		s := remote.New(io.Discard, io.Discard, []string{
			"PLATFORM_SCHEDULER_SERVER=" + server.URL, "PLATFORM_SCHEDULER_TOKEN=t", "TZ=UTC",
		}, clock.NewSystem())
		v := remote.Verb{Use: "do NAME", Arg: "name", Flags: flags, Own: own, Method: method, Path: "/x/{0}"}
		c := s.Flags(s.Command(v))
		c.SetArgs(append([]string{"a b"}, args...))
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		if err := c.Execute(); err != nil {
			return err.Error()
		}
		return heard
	}
	require.Equal(t, `POST /api/v1/x/a%20b {"lengthMs":60000,"many":3,"name":"a b"}`, call("POST", "--quiet"))
	require.Equal(t, `POST /api/v1/x/a%20b {"asText":"x","few":1,"from":"2026-11-14T00:00:00.000Z","lengthMs":0,"many":0,`+
		`"name":"a b","on":true,"parts":["p","q"],"state":"UP"}`, call("POST", "--text=x", "--on", "--few=1", "--many=0",
		"--state=up", "--length=0s", "--parts=p,q", "--from=2026-11-14"))
	require.Equal(t, "GET /api/v1/x/a%20b?few=1&lengthMs=60000&many=3&name=a+b ", call("", "--few=1", "--text=", "--state="))
	require.Contains(t, call("POST", "--from=yesterday"), "--from must be a time")
	require.Empty(t, heard, "a wrong time reaches no server")
}
