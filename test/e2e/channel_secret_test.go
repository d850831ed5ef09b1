//go:build linux

package e2e_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
)

// What a channel holds in secret is nowhere but sealed, whatever happens to the channel; and it
// lives on under a new key.
func TestSecretsOfChannelsAreNowhereAndSurviveANewKey(t *testing.T) {
	b := startBinary(t)
	echo := notifytest.NewReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, "you sent %s with %s", r.URL, r.Header.Get("X-Key"))
	})
	value := "canary-header-5d1f7c0a"
	query, key := "canary-query-77aa01", "canary-signing-key-31337"
	var hook struct{ ID string }
	body := map[string]any{"name": "hook", "type": "WEBHOOK", "config": map[string]any{
		"url": echo.URL + "/in?token=" + query, "secret": key, "headers": map[string]any{"X-Key": value},
	}}
	b.must(201, http.MethodPost, "/api/v1/alert-channels", body, &hook)
	path := "/api/v1/alert-channels/" + hook.ID
	status, wrong := b.call(http.MethodPost, "/api/v1/alert-channels", map[string]any{
		"name": "w", "type": "WEBHOOK",
		"config": map[string]any{"url": "ftp://x.example/?token=" + query, "secret": key, "headers": map[string]any{
			"X-Key": value + "\n",
		}},
	})
	require.Equal(t, 422, status)
	require.NotContains(t, string(wrong), "canary")
	b.must(201, http.MethodPost, "/api/v1/alert-rules", map[string]any{
		"name": "each failure", "type": "JOB_FAILED", "level": "CRITICAL", "notify": "EACH", "channelIds": []string{hook.ID},
	}, nil)
	failed := b.trigger(map[string]any{
		"jobType": "CUSTOM", "jobClass": "fail",
		"jobData": map[string]any{"message": "no luck"},
	},
		"1")
	var alerts struct {
		Items []struct {
			ID         string
			Deliveries []struct{ Result, Code, Message string }
		}
	}
	b.await("a delivery that was refused", "/api/v1/alerts", &alerts, func() bool {
		for _, a := range alerts.Items {
			for _, d := range a.Deliveries {
				if d.Code == "http_400" {
					return true
				}
			}
		}
		return false
	})
	try := func() {
		t.Helper()
		var tried struct{ Result, Code, Message string }
		b.must(200, http.MethodPost, path+"/test", nil, &tried)
		require.Equal(t, []string{"REFUSED", "http_400"}, []string{tried.Result, tried.Code}, tried.Message)
		calls := echo.Calls()
		last := calls[len(calls)-1]
		require.Equal(t, []string{"/in?token=" + query, value}, []string{last.URL, last.Header.Get("X-Key")})
	}
	nowhere := func() {
		t.Helper()
		seen := b.everywhere([]string{failed})
		for _, path := range []string{
			path, "/api/v1/alert-channels", "/api/v1/audit-logs?limit=200", "/api/v1/alerts", "/readyz",
		} {
			_, seen[path] = b.call(http.MethodGet, path, nil)
		}
		require.Contains(t, string(seen["/api/v1/audit-logs?limit=200"]), "alert-channels", "the audit log was searched")
		for place, content := range seen {
			for _, secret := range []string{value, query, key} {
				require.False(t, bytes.Contains(content, []byte(secret)), "%s holds %s", place, secret)
			}
		}
	}
	try()
	nowhere()

	file := filepath.Join(b.dir, "secret-key")
	old, err := os.ReadFile(file)
	require.NoError(t, err)
	fresh := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)) + "\n"
	for _, keys := range [][]byte{append([]byte(fresh), old...), []byte(fresh)} { // then nothing needs the former one
		b.kill()
		require.NoError(t, os.WriteFile(file, keys, 0o600))
		b.start()
		try()
	}
	nowhere()
	b.kill()
	require.NoError(t, os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{8}, 32))+"\n"),
		0o600))
	b.start()
	var lost struct{ Result, Code, Message string }
	b.must(200, http.MethodPost, path+"/test", nil, &lost)
	require.Equal(t, []string{"FAILED", "config"}, []string{lost.Result, lost.Code})
	require.Contains(t, lost.Message, "secrets.key", "it says what to do")
	body["version"] = 1
	b.must(200, http.MethodPut, path, body, nil)
	b.kill()
	b.start()
	try()
	nowhere()
}
