package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeAPI answers what a test says, one call at a time, and keeps what it was
// asked.
type fakeAPI struct {
	*httptest.Server
	one   sync.Mutex
	mu    sync.Mutex
	calls []string
}

func newFakeAPI(t *testing.T, answer http.HandlerFunc) *fakeAPI {
	t.Helper()
	f := &fakeAPI{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.calls = append(f.calls, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v1"))
		f.mu.Unlock()
		f.one.Lock()
		defer f.one.Unlock()
		answer(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeAPI) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.calls...)
}

// signIns answers as a server that lets everybody in.
func signIns(names *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimPrefix(r.URL.Path, "/api/v1") {
		case "/auth/login":
			var body struct{ Username string }
			_ = json.NewDecoder(r.Body).Decode(&body)
			*names = append(*names, body.Username)
			_, _ = w.Write([]byte(`{"token":"session"}`))
		case "/tokens":
			_, _ = w.Write([]byte(`{"id":"1","token":"made","items":[],"nextCursor":null}`))
		}
	}
}

// person is somebody with contexts and a file with a password.
func person(t *testing.T, contexts string) (environ []string, password string) {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, ".config", "platform-scheduler", "contexts.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(contexts), 0o600))
	password = filepath.Join(home, "pw")
	require.NoError(t, os.WriteFile(password, []byte("correct horse\n"), 0o600))
	return []string{"HOME=" + home}, password
}

// A password is sent to the server of the context, as its user, and nowhere else.
func TestAPasswordGoesToItsContextAlone(t *testing.T) {
	var names, others []string
	dev, other := newFakeAPI(t, signIns(&names)), newFakeAPI(t, signIns(&others))
	contexts := fmt.Sprintf("current: other\ncontexts:\n  dev: {server: '%s', token: t, user: ann}\n  other: {server: "+
		"'%s', token: t, user: bob}\n", dev.URL, other.URL)
	environ, password := person(t, contexts)
	code, _, errOut := run(t, environ, "token", "list", "--context", "dev", "--password-file", password)
	require.Zero(t, code, errOut)
	require.Equal(t, []string{"ann"}, names)
	require.Equal(t, []string{"POST /auth/login", "GET /tokens", "POST /auth/logout"}, dev.seen())
	require.Empty(t, other.seen())

	for name, c := range map[string]struct{ environ, args []string }{
		"another server by a flag":     {nil, []string{"--context", "dev", "--server", other.URL}},
		"another server by a variable": {[]string{"PLATFORM_SCHEDULER_SERVER=" + other.URL}, []string{"--context", "dev"}},
		"the environment's context": {
			[]string{"PLATFORM_SCHEDULER_SERVER=" + dev.URL, "PLATFORM_SCHEDULER_TOKEN=t"},
			[]string{"--server", other.URL},
		},
	} {
		code, _, errOut = run(t, append(c.environ, environ...), append([]string{"token", "list", "--password-file", password},
			c.args...)...)
		require.Equal(t, 1, code, name)
		require.Contains(t, errOut, "the context is for "+dev.URL+", and its password is sent nowhere else", name)
		require.Empty(t, other.seen(), name)
	}

	// A new sign-in goes to the context's server, too, unless another is named.
	code, out, errOut := run(t, environ, "login", "--context", "dev", "--password-file", password)
	require.Zero(t, code, errOut)
	require.Equal(t, "signed in to "+dev.URL+" as ann\n", out)
	require.Empty(t, other.seen())
	code, out, errOut = run(t, environ, "login", "--server", strings.TrimPrefix(other.URL, "http://"), "--password-file",
		password, "-o", "json")
	require.Zero(t, code, errOut)
	require.Equal(t, []string{"admin"}, others, "the user of another server's context is not this one's")
	require.JSONEq(t, fmt.Sprintf(`{"name":%q,"server":%q,"user":"admin","current":true}`, other.URL, other.URL), out,
		"without a scheme it is http on this machine")
}

// A redirect would take a password, or a token, to where nobody meant it.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var names []string
	elsewhere := newFakeAPI(t, signIns(&names))
	moved := newFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	environ, password := person(t, "{}")
	code, _, errOut := run(t, environ, "login", "--server", moved.URL, "--password-file", password)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "redirect to \""+elsewhere.URL)
	require.Empty(t, elsewhere.seen())
}

func TestAddressesAreCompletedAndChecked(t *testing.T) {
	environ, password := person(t, "{}")
	for typed, says := range map[string]string{
		"scheduler.invalid":         "call https://scheduler.invalid: ",
		"localhost:1":               "call http://localhost:1: ",
		"[::1]:1":                   "call http://[::1]:1: ",
		"ftp://x":                   "is not the address of a server",
		"http://":                   "is not the address of a server",
		"https://u:p@x.example.com": "neither a user nor a query",
	} {
		code, _, errOut := run(t, environ, "login", "--server", typed, "--password-file", password)
		require.NotZero(t, code, typed)
		require.Contains(t, errOut, says, typed)
	}
	code, _, errOut := run(t, environ, "login", "--server", "127.0.0.1:1", "--password-file", password, "--ca-file",
		password)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "holds no certificate in PEM")
}

// The certificates of --ca-file are trusted, and kept in the context.
func TestACertificateOfOnesOwnIsTrusted(t *testing.T) {
	var names []string
	s := httptest.NewTLSServer(signIns(&names))
	defer s.Close()
	environ, password := person(t, "{}")
	code, _, errOut := run(t, environ, "login", "--server", s.URL, "--password-file", password)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "certificate")
	ca := filepath.Join(filepath.Dir(password), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pemOf(s.Certificate().Raw), 0o600))
	code, _, errOut = run(t, environ, "login", "--server", s.URL, "--password-file", password, "--ca-file", ca)
	require.Zero(t, code, errOut)
	code, _, errOut = run(t, environ, "token", "list", "--password-file", password)
	require.Zero(t, code, errOut)
}

// A restart of the server refuses calls, answers that a caller should wait, and cuts streams. A
// run is followed to its end all the same.
func TestALogIsFollowedOverARestart(t *testing.T) {
	line := func(seq, attempt int, stream, text string) string {
		return fmt.Sprintf("id: %d\nevent: line\n"+
			`data: {"seq":%d,"time":"2026-11-22T00:00:0%d.000Z","stream":%q,"line":%q,"attempt":%d}`+"\n\n",
			seq, seq, seq, stream, text, attempt)
	}
	var from []string
	answers := []func(w http.ResponseWriter){
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		func(w http.ResponseWriter) { _, _ = w.Write([]byte(line(1, 1, "STDOUT", "one"))) },
		func(w http.ResponseWriter) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
		func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(line(2, 2, "STDERR", "again") + line(3, 2, "STDOUT",
				"two") + "event: end\ndata: {\"status\":\"DEAD\"}\n\n"))
		},
	}
	n, gets := 0, 0
	api := newFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/logs/stream") {
			if gets++; gets == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = w.Write([]byte(
				`{"id":"x","status":"DEAD","reason":"EXIT_CODE","errorMessage":"ended with exit code 3","attempt":2}`))
			return
		}
		from = append(from, r.Header.Get("Last-Event-ID"))
		n++
		answers[n-1](w)
	})
	environ := []string{"PLATFORM_SCHEDULER_SERVER=" + api.URL, "PLATFORM_SCHEDULER_TOKEN=t", "TZ=Asia/Shanghai"}
	code, out, errOut := run(t, environ, "execution", "logs", "-f", "x", "--timestamps")
	require.Equal(t, 1, code)
	require.Equal(t, "2026-11-22 08:00:01+08:00 one\n2026-11-22 08:00:03+08:00 two\n", out)
	require.Contains(t, errOut, "--- attempt 2 ---\n2026-11-22 08:00:02+08:00 again\n")
	require.Contains(t, errOut, "trying again until the run has ended")
	require.True(t, strings.HasSuffix(errOut, "error: the run ended as DEAD (EXIT_CODE): ended with exit code 3\n"),
		errOut)
	api.Close() // all answers are given
	require.Equal(t, []string{"", "", "1", "1", "1"}, from, "it goes on after the last line")
}

func TestWhatWaitingDoesNotMendEndsFollowing(t *testing.T) {
	api := newFakeAPI(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"status":404,"detail":"there is no such execution"}`))
	})
	code, _, errOut := run(t, []string{"PLATFORM_SCHEDULER_SERVER=" + api.URL, "PLATFORM_SCHEDULER_TOKEN=t"}, "execution",
		"logs", "-f", "x")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "there is no such execution")
	require.Len(t, api.seen(), 1)
}

func TestWhatIsMisspeltIsAnsweredWithWhatWasMeant(t *testing.T) {
	for args, says := range map[string]string{
		"sever":               `unknown command "sever" for "platform-scheduler"; did you mean server?`,
		"job aply -f x":       `unknown command "aply" for "platform-scheduler job"; did you mean apply?`,
		"job list --staus X":  "unknown flag: --staus; did you mean --status?",
		"job zzz":             `unknown command "zzz" for "platform-scheduler job"` + "\n",
		"server --adr x":      "unknown flag: --adr; did you mean --addr?",
		"job list -o xml":     `--output is table, json or yaml, not "xml"`,
		"migrate status -o x": `--output is table, json or yaml, not "x"`,
	} {
		code, _, errOut := run(t, nil, strings.Fields(args)...)
		require.Equal(t, 2, code, args)
		require.Contains(t, errOut, says, args)
	}
	code, out, _ := run(t, nil, "--version")
	require.Zero(t, code)
	require.Regexp(t, `^platform-scheduler \S+\n$`, out)
}

// Warnings of the server about a definition that it accepts are printed beside it.
func TestWarningsOfDefinitionsAreShown(t *testing.T) {
	const answer = `{"dryRun":false,"groups":[],"items":[{"group":"default","name":"a","id":"1","action":"CREATE","changes":{},"error":null,` +
		`"warnings":[{"field":"routing.labels","code":"no_node","message":"no node carries gpu=yes"}]}],"created":1,"updated":0,"unchanged":0,"deleted":0,"failed":0}`
	api := newFakeAPI(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
	file := filepath.Join(t.TempDir(), "job.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: a\njobType: CUSTOM\njobClass: noop\n"), 0o600))
	environ := []string{"PLATFORM_SCHEDULER_SERVER=" + api.URL, "PLATFORM_SCHEDULER_TOKEN=t"}
	code, out, errOut := run(t, environ, "job", "apply", "-f", file)
	require.Zero(t, code)
	require.Contains(t, out, "+ create default/a\n1 created")
	require.Equal(t, "warning: default/a: routing.labels: no node carries gpu=yes\n", errOut)
	code, out, _ = run(t, environ, "job", "apply", "-f", file, "-o", "json")
	require.Zero(t, code)
	require.Equal(t, answer+"\n", out)
}
