package notify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

func TestEveryTypeSaysWhichFieldsAreSecret(t *testing.T) {
	c := channels(t, 0)
	want := map[alert.ChannelType][]string{
		alert.ChannelWebhook: {"secret", "secrets", "headers"}, alert.ChannelEmail: {"password"},
		alert.ChannelDingTalk: {"webhook", "secret"}, alert.ChannelWeCom: {"webhook"},
		alert.ChannelFeishu: {"webhook", "secret"}, alert.ChannelSlack: {"webhook"},
		alert.ChannelTelegram: {"token"}, alert.ChannelAlertmanager: {"password", "token"},
	}
	for _, kind := range alert.ChannelTypes() {
		got, err := c.SecretNames(kind)
		require.NoError(t, err)
		require.Equal(t, want[kind], got, kind)
	}
	_, err := c.SecretNames("PIGEON")
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

// Who edits a channel need not know its secrets, but cannot have them sent elsewhere.
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
