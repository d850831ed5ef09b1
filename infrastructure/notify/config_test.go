package notify_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
)

func TestEveryTypeSaysWhichFieldsAreSecret(t *testing.T) {
	c := channels(t, 0)
	all, err := notifytest.Examples()
	require.NoError(t, err)
	for _, e := range all {
		var want []string
		for name, value := range e.Fill("http://h:1", func() string { return secretValue }) {
			if text, err := json.Marshal(value); err == nil && strings.Contains(string(text), secretValue) {
				want = append(want, name)
			}
		}
		got, err := c.SecretNames(e.Type)
		require.NoError(t, err)
		require.Subset(t, got, want, e.Type)
		require.Subset(t, append(want, "secrets", "password"), got, e.Type)
	}
	_, err = c.SecretNames("PIGEON")
	require.True(t, apperror.Is(err, apperror.KindInvalid))
	_, err = c.Open("PIGEON", "{}")
	require.True(t, apperror.Is(err, apperror.KindInvalid))
}

const oldWebhook = `{"url":"https://h.example/in","secret":"` + secretValue + `","headers":{"X-Key":"` + secretValue + `"}}`

func TestSecretsAreNotRead(t *testing.T) {
	open, given, err := channels(t, 0).Public(alert.ChannelWebhook, oldWebhook)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"url": "https://h.example/in"}, open)
	require.Equal(t, []string{"secret", "headers"}, given)
}

// An editor of a channel sees no secret of it, and cannot send one elsewhere: kinds names the fields that say where.
func TestAnEditThatMovesTheReceiverGivesTheSecretsAgain(t *testing.T) {
	c := channels(t, 0)
	all, err := notifytest.Examples()
	require.NoError(t, err)
	for _, e := range all {
		old := e.Text("http://here.example:1", secretValue)
		shown, given, err := c.Public(e.Type, old)
		require.NoError(t, err)
		moved := false
		for name, value := range shown {
			if text, ok := value.(string); ok && strings.Contains(text, "here.example") {
				shown[name], moved = strings.Replace(text, "here", "elsewhere", 1), true
			}
		}
		if !moved { // the address is a secret itself
			continue
		}
		edited, err := json.Marshal(shown)
		require.NoError(t, err)
		_, err = c.Merge(e.Type, old, alert.ChannelConfig(edited))
		require.NotEmpty(t, given, e.Type)
		for _, name := range given {
			require.ErrorContains(t, err, "config."+name+": enter it again", "%s sends it elsewhere", e.Type)
		}
	}
}

// An editor of a channel need not know its secrets, but cannot have them sent elsewhere.
func TestAnEditKeepsTheSecretsOfTheSameTarget(t *testing.T) {
	c := channels(t, 0)
	merged, err := c.Merge(alert.ChannelWebhook, oldWebhook, `{"url":"https://h.example/in"}`)
	require.NoError(t, err)
	require.JSONEq(t, oldWebhook, string(merged))

	merged, err = c.Merge(alert.ChannelWebhook, oldWebhook, `{"url":"https://h.example/in","secret":"","headers":null}`)
	require.NoError(t, err)
	require.NotContains(t, string(merged), `"secret":"`+secretValue)
	require.Contains(t, string(merged), `"X-Key":"`+secretValue)

	_, err = c.Merge(alert.ChannelWebhook, oldWebhook, `{"url":"https://evil.example/in"}`)
	require.ErrorContains(t, err, "config.secret: enter it again, because url changed")
	require.ErrorContains(t, err, "config.headers: enter it again")
	_, err = c.Merge(alert.ChannelEmail, `{"host":"a.example","from":"a@b.example","to":["a@b.example"],"username":"u","password":"`+
		secretValue+`"}`, `{"host":"a.example","tls":"NONE","from":"a@b.example","to":["a@b.example"],"username":"u"}`)
	require.ErrorContains(t, err, "config.password")

	_, err = c.Merge(alert.ChannelWebhook, oldWebhook, `{"url":"nowhere","secret":"","headers":{}}`)
	require.ErrorContains(t, err, "config.url", "the whole is checked")
}
