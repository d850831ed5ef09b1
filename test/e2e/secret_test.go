//go:build linux

package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// canary is a value that nobody else would write.
func canary() string {
	return fmt.Sprintf("canary-%016x-%016x/+\"q\"", rand.Uint64(), rand.Uint64())
}

// trigger makes a job and runs it once.
func (b *binary) trigger(job map[string]any, params string) (execution string) {
	b.t.Helper()
	job["name"] = fmt.Sprintf("job %d", rand.Int())
	var created struct{ ID string }
	b.must(201, http.MethodPost, "/api/v1/jobs", job, &created)
	var run struct {
		IDs []string `json:"executionIds"`
	}
	b.must(202, http.MethodPost, "/api/v1/jobs/"+created.ID+"/trigger",
		map[string]any{"params": map[string]any{"day": params}}, &run)
	return run.IDs[0]
}

// everywhere reads all that the server shows or keeps, by the place's name.
func (b *binary) everywhere(ids []string) map[string][]byte {
	b.t.Helper()
	out := map[string][]byte{}
	paths := []string{
		"/metrics", "/api/v1/jobs?limit=200", "/api/v1/executions?limit=200", "/api/v1/dead-letters",
		"/api/v1/secrets",
	}
	for _, id := range ids {
		paths = append(paths, "/api/v1/executions/"+id, "/api/v1/executions/"+id+"/logs",
			"/api/v1/executions/"+id+"/attempts")
	}
	for _, path := range paths {
		status, body := b.call(http.MethodGet, path, nil)
		require.Equal(b.t, 200, status, path)
		out[path] = body
	}
	// The store, its journals, the server's log: every file.
	require.NoError(b.t, filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		out[path], err = os.ReadFile(path)
		return err
	}))
	return out
}

// A secret reaches the run that names it and no other place, in no common form.
func TestASecretIsSeenByItsRunAlone(t *testing.T) {
	b := startBinary(t)
	value := canary()
	b.must(201, http.MethodPost, "/api/v1/secrets", map[string]any{"name": "CANARY", "value": value}, nil)
	var got []string
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Header.Get("Authorization"), r.URL.Query().Get("key"), string(body))
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprintf(w, "you sent %s %s %s", r.URL.RawQuery, body, r.Header.Get("Authorization"))
	}))
	t.Cleanup(target.Close)
	script := `printf '%s\n' "$1" "$KEY" "$1" >&2; printf '%s' "user:$1" | base64 -w0; echo; printf '%s' "$1" | od -An -tx1 | tr -d ' \n'; printf '%s' "$1"; exit 3`
	fail := map[string]any{"maxRetries": 1, "intervalMs": 10}
	ids := []string{
		b.trigger(map[string]any{"jobType": "HTTP", "retryPolicy": fail, "jobData": map[string]any{
			"url": target.URL + "/x?key=${secret.CANARY}&day=${params.day}", "method": "POST",
			"body":    `{"k":"${secret.CANARY}"}`,
			"headers": map[string]any{"Authorization": "Bearer ${secret.CANARY}"},
		}}, "7"),
		b.trigger(map[string]any{"jobType": "HTTP", "jobData": map[string]any{"url": "http://127.0.0.1:2/${secret.CANARY}"}},
			"7"),
		b.trigger(map[string]any{"jobType": "COMMAND", "jobData": map[string]any{
			"command": []string{"sh", "-c", `set -- "$KEY"; ` + script}, "env": map[string]any{"KEY": "${secret.CANARY}"},
		}}, "7"),
		b.trigger(map[string]any{
			"jobType": "CUSTOM", "jobClass": "echo",
			"jobData": map[string]any{"text": "<${secret.CANARY}>"},
		}, "7"),
		b.trigger(map[string]any{
			"jobType": "CUSTOM", "jobClass": "fail", "retryPolicy": fail,
			"jobData": map[string]any{"message": "no ${secret.CANARY}"},
		}, "7"),
		b.trigger(map[string]any{"jobType": "HTTP", "jobData": map[string]any{"url": "http://${secret.CANARY}/x"}}, "7"),
	}
	ends := make([]ending, len(ids))
	for i, id := range ids {
		ends[i] = b.ends(id)
	}
	require.Len(t, got, 6, "one call for each of two attempts")
	require.Equal(t, []string{"Bearer " + value, value}, got[:2])
	require.JSONEq(t, `{"k":"`+strings.ReplaceAll(value, `"`, `\"`)+`"}`, got[2])
	require.Equal(t, []string{"DEAD", "HTTP_STATUS"}, []string{ends[0].Status, ends[0].Reason})
	require.Equal(t, "EXIT_CODE", ends[2].Reason, ends[2].ErrorMessage)
	require.Equal(t, "<***>", ends[3].Result)
	require.Equal(t, "no ***", ends[4].ErrorMessage)
	require.Equal(t, "INVALID", ends[5].Reason)

	forms := []string{value[7:23], value[24:40], hex.EncodeToString([]byte(value[7:23]))}
	for before := range 3 {
		whole := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + value))
		forms = append(forms, whole[8:24])
	}
	for place, content := range b.everywhere(ids) {
		for _, form := range forms {
			require.False(t, bytes.Contains(content, []byte(form)), "%s holds %q", place, form)
		}
	}
	seen := b.everywhere(ids)
	require.Contains(t, string(seen["/api/v1/executions/"+ids[2]+"/logs"]), "***",
		"the log was searched where it was written")
}

// A value lives on under a new key, and its run is given the new value after
// it was replaced.
func TestSecretsSurviveARestartUnderANewKey(t *testing.T) {
	b := startBinary(t)
	b.must(201, http.MethodPost, "/api/v1/secrets", map[string]any{"name": "ROT", "value": "first value"}, nil)
	run := func() ending {
		return b.ends(b.trigger(map[string]any{"jobType": "COMMAND", "jobData": map[string]any{
			"command": []string{"sh", "-c", `printf '%s' "$ROT" | wc -c`}, "env": map[string]any{"ROT": "${secret.ROT}"},
		}}, ""))
	}
	require.Equal(t, "11", run().Result)
	b.kill()
	file := filepath.Join(b.dir, "secret-key")
	old, err := os.ReadFile(file)
	require.NoError(t, err)
	fresh := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)) + "\n"
	require.NoError(t, os.WriteFile(file, append([]byte(fresh), old...), 0o600))
	b.start()
	require.Equal(t, "11", run().Result)
	b.kill()
	require.NoError(t, os.WriteFile(file, []byte(fresh), 0o600))
	b.start()
	require.Equal(t, "11", run().Result, "nothing needs the former key any more")
	b.must(200, http.MethodPut, "/api/v1/secrets/ROT", map[string]any{"value": "second value!", "version": 1}, nil)
	require.Equal(t, "13", run().Result)
	b.kill()
	require.NoError(t, os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{8}, 32))+"\n"),
		0o600))
	b.start()
	_, ready := b.call(http.MethodGet, "/readyz", nil)
	require.Contains(t, string(ready), `"part":"secrets"`, "a key that is lost is seen: %s", ready)
	require.Contains(t, string(ready), "1 secrets cannot be opened here")
	b.must(204, http.MethodDelete, "/api/v1/secrets/ROT", nil, nil)
	end := run()
	require.Equal(t, []string{"FAILED", "SECRET_MISSING"}, []string{end.Status, end.Reason})
	require.Contains(t, end.ErrorMessage, "there is no secret named ROT")
}

// as is the server for somebody else.
func (b *binary) as(name string, rights map[string]any) *binary {
	b.t.Helper()
	body := map[string]any{"username": name, "password": "correct horse battery", "role": "operator"}
	maps.Copy(body, rights)
	b.must(201, http.MethodPost, "/api/v1/users", body, nil)
	var login struct{ Token string }
	b.must(200, http.MethodPost, "/api/v1/auth/login", map[string]any{"username": name, "password": body["password"]},
		&login)
	other := *b
	other.server = &server{t: b.t, url: b.url, token: login.Token}
	return &other
}

// An operator of one group does not get at the secrets of another, by no way that
// a definition takes, and a secret that is taken away is gone.
func TestASecretStaysInItsGroups(t *testing.T) {
	b := startBinary(t)
	var got []string
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, string(body))
	}))
	t.Cleanup(target.Close)
	b.must(201, http.MethodPost, "/api/v1/secrets", map[string]any{
		"name": "GB", "value": "S3cr3t-Value-42",
		"groups": []string{"gb"},
	}, nil)
	thief := b.as("thief", map[string]any{"groups": map[string]string{"ga": "operator"}, "secrets": true})
	job := func(group string) map[string]any {
		return map[string]any{
			"name": "take", "group": group, "jobType": "HTTP", "retryPolicy": map[string]any{"maxRetries": 3, "intervalMs": 10},
			"jobData": map[string]any{"url": target.URL, "method": "POST", "body": "${secret.GB}"},
		}
	}
	status, answer := thief.call(http.MethodPost, "/api/v1/jobs", job("ga"))
	require.Equal(t, 422, status, string(answer))
	require.Contains(t, string(answer), "secret_not_allowed")
	status, answer = thief.call(http.MethodPost, "/api/v1/import", map[string]any{"version": 1, "jobs": []any{job("ga")}})
	require.Equal(t, 422, status, string(answer))
	status, answer = thief.call(http.MethodPost, "/api/v1/secrets", map[string]any{
		"name": "GB", "value": "x-x-x-x-x",
		"groups": []string{"ga"},
	})
	require.Equal(t, 409, status, string(answer))
	require.NotContains(t, string(answer), "gb")
	for _, path := range []string{"/api/v1/secrets/GB"} {
		status, _ = thief.call(http.MethodPut, path, map[string]any{"groups": []string{"ga"}, "version": 1})
		require.Equal(t, 404, status)
		status, _ = thief.call(http.MethodDelete, path, nil)
		require.Equal(t, 404, status)
	}
	var listed struct{ Items []any }
	thief.must(200, http.MethodGet, "/api/v1/secrets", nil, &listed)
	require.Empty(t, listed.Items)
	require.Empty(t, got)

	var owner struct{ ID string }
	b.must(201, http.MethodPost, "/api/v1/jobs", job("gb"), &owner)
	var run struct {
		IDs []string `json:"executionIds"`
	}
	b.must(202, http.MethodPost, "/api/v1/jobs/"+owner.ID+"/trigger", map[string]any{}, &run)
	require.Equal(t, "SUCCESS", b.ends(run.IDs[0]).Status)
	require.Equal(t, []string{"S3cr3t-Value-42"}, got)
	b.must(202, http.MethodPost, "/api/v1/jobs/"+owner.ID+"/trigger", map[string]any{"delaySec": 2}, &run)
	status, answer = b.call(http.MethodPut, "/api/v1/secrets/GB", map[string]any{"groups": []string{"gc"}, "version": 1})
	require.Equal(t, 409, status, string(answer))
	require.Contains(t, string(answer), owner.ID)
	b.must(200, http.MethodPut, "/api/v1/secrets/GB", map[string]any{
		"groups": []string{"gc"}, "version": 1,
		"force": true,
	}, nil)
	end := b.ends(run.IDs[0])
	require.Equal(t, []string{"FAILED", "SECRET_MISSING"}, []string{end.Status, end.Reason})
	status, answer = b.call(http.MethodPost, "/api/v1/jobs/"+owner.ID+"/trigger", map[string]any{})
	require.Equal(t, 422, status, string(answer))
	require.Len(t, got, 1)
	var failed struct{ Items []map[string]any }
	b.must(200, http.MethodGet, "/api/v1/executions/"+run.IDs[0]+"/attempts", nil, &failed)
	require.Len(t, failed.Items, 1, "it was tried once")
}
