package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
)

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// The secrets of a channel are written, kept over edits, and never read.
func TestSecretsOfChannelsAreWrittenAndNeverRead(t *testing.T) {
	e := newEdge(t)
	r := notifytest.NewReceiver(t, notifytest.Answer(http.StatusOK, ""))
	body := fmt.Sprintf(`{"name":"hook","type":"WEBHOOK","config":{"url":"%s/keys-path?token=clear-token","secret":"%s",`+
		`"headers":{"X-Key":"header-value"}}}`, r.URL, hookSecret)
	made := e.call("POST", "/api/v1/alert-channels", body).want(201)
	id, path := made.id(), "/api/v1/alert-channels/"+made.id()
	shown := made.json()
	require.Equal(t, []any{"headers", "secret"}, sorted(shown["secrets"]))
	require.Equal(t, map[string]any{"url": r.URL + "/keys-path?token=***"}, shown["config"])
	require.Equal(t, "en", shown["language"])
	stored, err := e.Store.AlertSetting(t.Context(), alert.KindChannel, id)
	require.NoError(t, err)
	require.NotEmpty(t, stored.KeyID)
	for _, secret := range []string{hookSecret, "header-value", "clear-token"} {
		require.NotContains(t, string(stored.Sealed)+stored.Document, secret, "it is sealed")
		for _, url := range []string{path, "/api/v1/alert-channels", "/api/v1/audit-logs"} {
			require.NotContains(t, e.call("GET", url, "").body, secret)
		}
	}
	require.NotContains(t, e.last().Changes, "keys-path", "the audit log keeps no path of an address")
	require.Contains(t, e.last().Changes, r.URL)
	// An edit of what was read keeps the secrets, and the address that was shown hidden.
	edit := fmt.Sprintf(`{"name":"hook 2","type":"WEBHOOK","config":{"url":"%s/keys-path?token=***"},"language":"zh",
		"version":1}`,
		r.URL)
	e.call("PUT", path, edit).want(200)
	tried := e.call("POST", path+"/test", "").want(200).json()
	require.Equal(t, "SENT", tried["result"])
	entry := e.last()
	require.Equal(t, []string{"POST /api/v1/alert-channels/:id/test", id, "hook 2"},
		[]string{entry.Action, entry.Object, entry.ObjectName})
	require.Contains(t, entry.Changes, `"result":[null,"SENT"]`)
	call := r.Calls()[0]
	require.Equal(t, "/keys-path?token=clear-token", call.URL)
	require.Equal(t, "header-value", call.Header.Get("X-Key"))
	require.True(t, strings.HasPrefix(call.Header.Get("webhook-signature"), "v1,"))
	e.call("POST", path+"/test", "").want(429)
	e.Clock.Advance(5 * time.Second)
	e.call("POST", path+"/test", "").want(200)
	// Nobody gets a secret by sending it elsewhere.
	stolen := e.call("PUT", path, `{"name":"hook","type":"WEBHOOK","config":{"url":"http://127.0.0.1:1/"},"version":2}`).
		want(422)
	require.Contains(t, stolen.body, "config.secret")
	e.call("PUT", path, `{"name":"hook","type":"SLACK","config":{"webhook":"https://x.example"},"version":2}`).want(422)
	e.call("PUT", path, `{"name":"hook 3","type":"WEBHOOK","version":2}`).want(200)
	e.Clock.Advance(5 * time.Second)
	require.Equal(t, "SENT", e.call("POST", path+"/test", "").want(200).json()["result"], "the configuration is kept")
	e.call("DELETE", path, "").want(204)
}

func sorted(list any) []any {
	out := list.([]any)
	if len(out) == 2 && out[0].(string) > out[1].(string) {
		out[0], out[1] = out[1], out[0]
	}
	return out
}

func TestAWrongChannelIsRefusedWithAllItsFaults(t *testing.T) {
	e := newEdge(t)
	for body, fields := range map[string][]string{
		`{}`:                          {"name", "type"},
		`{"name":"n","type":"PAGER"}`: {"type"},
		`{"name":"n","type":"SLACK"}`: {"config"},
		`{"name":"n","type":"SLACK","config":{"webhook":"ftp://x","other":1},"language":"fr"}`: {"language", "config"},
		`{"name":"n","type":"EMAIL","config":{"host":"h","from":"no address","to":["x"]}}`:     {"config.from", "config.to"},
	} {
		got := e.call("POST", "/api/v1/alert-channels", body).want(422)
		for _, field := range fields {
			require.Contains(t, got.body, `"field":"`+field, body)
		}
	}
}

// A user of a group sees a channel of all groups by its name alone, and writes none.
func TestAUserOfAGroupSeesSharedChannelsByNameAlone(t *testing.T) {
	e := newEdge(t)
	body := `{"name":"shared","type":"WEBHOOK","config":{"url":"http://127.0.0.1:1/secret-path"}}`
	id := e.call("POST", "/api/v1/alert-channels", body).want(201).id()
	got := e.call("GET", "/api/v1/alert-channels/"+id, "", as(boundToken)...).want(200)
	require.Equal(t, map[string]any{}, got.json()["config"])
	require.NotContains(t, got.body, "secret-path")
	require.NotContains(t, e.call("GET", "/api/v1/alert-channels", "", as(boundToken)...).want(200).body, "secret-path")
	e.call("POST", "/api/v1/alert-channels/"+id+"/test", "", as(boundToken)...).want(403)
	e.call("DELETE", "/api/v1/alert-channels/"+id, "", as(boundToken)...).want(403)
}

// A user without the right to write a channel sees no address of it: the path may be a key.
func TestAViewerSeesNoAddressOfAChannel(t *testing.T) {
	e := newEdge(t)
	body := `{"name":"shared","type":"WEBHOOK","config":{"url":"http://127.0.0.1:1/secret-path"}}`
	id := e.call("POST", "/api/v1/alert-channels", body).want(201).id()
	for _, path := range []string{"/api/v1/alert-channels", "/api/v1/alert-channels/" + id} {
		for _, token := range []string{viewerToken, operatorToken} {
			require.NotContains(t, e.call("GET", path, "", as(token)...).want(200).body, "secret-path")
		}
		require.Contains(t, e.call("GET", path, "").want(200).body, "secret-path")
	}
}

func TestTemplatesAreTriedAndShown(t *testing.T) {
	e := newEdge(t)
	wrong := e.call("POST", "/api/v1/alert-templates", `{"name":"t","text":{"en":"a\n{{.Nope}}","fr":"x"}}`).want(422)
	require.Contains(t, wrong.body, `"field":"text.en"`)
	require.Contains(t, wrong.body, "line 2")
	require.Contains(t, wrong.body, `"field":"text"`)
	e.call("POST", "/api/v1/alert-templates", `{"name":"t"}`).want(422)
	made := e.call("POST", "/api/v1/alert-templates", `{"name":"t","title":{"en":"own {{.Subject}}","zh":"自己的"}}`).
		want(201)
	require.Equal(t, map[string]any{"en": "own {{.Subject}}", "zh": "自己的"}, made.json()["title"])
	shown := e.call("POST", "/api/v1/alert-templates/preview", `{"title":{"zh":"自己的 {{.Subject}}"},"language":"zh",`+
		`"channelType":"SLACK"}`).want(200).json()
	require.Equal(t, "自己的 nightly_close", shown["title"])
	require.NotEmpty(t, shown["markdown"])
	e.call("POST", "/api/v1/alert-templates/preview", `{"text":{"en":"{{"}}`).want(422)
	both := e.call("POST", "/api/v1/alert-templates/preview", `{"language":"fr","channelType":"FAX"}`).want(422)
	require.Contains(t, both.body, "channelType")
	require.Contains(t, both.body, "language")
	e.call("DELETE", "/api/v1/alert-templates/"+made.id(), "").want(204)
}
