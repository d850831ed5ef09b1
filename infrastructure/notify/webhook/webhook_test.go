package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/post"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/webhook"
)

var now = time.Unix(1_614_265_330, 0)

func client(t *testing.T) *post.Client {
	t.Helper()
	c := post.New(clocktest.NewManual(now), post.Settings{Guard: notifytest.Loopback()})
	t.Cleanup(c.Close)
	return c
}

func send(t *testing.T, config string, m alert.Message) notifytest.Call {
	t.Helper()
	r := notifytest.NewReceiver(t, notifytest.Answer(204, ""))
	c, wrong := webhook.Open(alert.ChannelConfig(strings.ReplaceAll(config, "URL", r.URL)), client(t))
	require.Empty(t, wrong)
	require.Equal(t, alert.ResultSent, c.Send(t.Context(), m).Result)
	require.Len(t, r.Calls(), 1)
	return r.Calls()[0]
}

// The key and the id are those of the example in the specification of Standard Webhooks; what is
// compared is what a receiver computes by its rules.
func TestAReceiverCanCheckTheSignature(t *testing.T) {
	const old, fresh = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "another-key-of-24-bytes!"
	m := notifytest.Message()
	m.ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	call := send(t, `{"url":"URL","secret":"`+old+`","secrets":["`+fresh+`"],"headers":{"X-Env":"prod"}}`, m)
	require.Equal(t, m.ID, call.Header.Get("webhook-id"))
	require.Equal(t, "1614265330", call.Header.Get("webhook-timestamp"))
	require.Equal(t, "prod", call.Header.Get("X-Env"))

	decoded, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(old, "whsec_"))
	require.NoError(t, err)
	var want []string
	for _, key := range [][]byte{decoded, []byte(fresh)} {
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "%s.%s.%s", m.ID, "1614265330", call.Body)
		want = append(want, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	require.Equal(t, strings.Join(want, " "), call.Header.Get("webhook-signature"))
}

func TestWithoutAKeyThereIsNoSignature(t *testing.T) {
	call := send(t, `{"url":"URL"}`, notifytest.Message())
	require.Empty(t, call.Header.Values("webhook-signature"))
	require.Equal(t, "ntf-7f3a", call.Header.Get("webhook-id"))
}

func TestTheBodyIsThatOfTheContract(t *testing.T) {
	m := notifytest.Message()
	call := send(t, `{"url":"URL"}`, m)
	require.JSONEq(t, `{
		"version": "1", "status": "firing", "groupLabels": {"group": "billing"}, "truncatedAlerts": 0,
		"externalUrl": "https://scheduler.example/alerts",
		"alerts": [{
			"id": "alert-1", "fingerprint": "fp-1", "alertType": "JOB_FAILED", "alertLevel": "CRITICAL", "status": "FIRING",
			"ruleName": "failures", "group": "billing", "jobId": "job-1", "jobName": "nightly_close", "owner": "ann_lee",
			"executionId": "exec-1", "nodeId": "node-a", "content": "the job failed: exit code 3",
			"labels": {"team": "ledger"}, "count": 2, "startTime": "2026-11-22T06:29:15.000Z", "endTime": null,
			"url": "https://scheduler.example/alerts/alert-1"
		}]
	}`, call.Body)

	m.Firing, m.Alerts[0].Status, m.Alerts[0].EndTime = false, "RESOLVED", m.Time
	var got struct {
		Status string
		Alerts []struct{ EndTime string }
	}
	require.NoError(t, json.Unmarshal([]byte(send(t, `{"url":"URL"}`, m).Body), &got))
	require.Equal(t, "resolved", got.Status)
	require.Equal(t, "2026-11-22T06:30:15.000Z", got.Alerts[0].EndTime)
}

// 10,000 alerts make one body of bounded size, which says how many it leaves out.
func TestManyAlertsAreCounted(t *testing.T) {
	m := notifytest.Message()
	for len(m.Alerts) < 150 {
		m.Alerts = append(m.Alerts, m.Alerts[0])
	}
	m.Total = 10_000
	var got struct {
		Alerts    []any `json:"alerts"`
		Truncated int   `json:"truncatedAlerts"`
	}
	require.NoError(t, json.Unmarshal([]byte(send(t, `{"url":"URL"}`, m).Body), &got))
	require.Len(t, got.Alerts, alert.MaxMessageAlerts)
	require.Equal(t, 10_000-alert.MaxMessageAlerts, got.Truncated)
}

func TestKeysAndHeadersAreChecked(t *testing.T) {
	for config, field := range map[string]string{
		`{"url":"https://h.example","secret":"short"}`:                                      "config.secret",
		`{"url":"https://h.example","secret":"whsec_not base64"}`:                           "config.secret",
		`{"url":"https://h.example","secrets":["a","b","c","d"]}`:                           "config.secrets",
		`{"url":"https://h.example","headers":{"Host":"x"}}`:                                "config.headers.Host",
		`{"url":"https://h.example","headers":{"content-length":"1"}}`:                      "config.headers.content-length",
		`{"url":"https://h.example","headers":{"Webhook-Signature":"v1,x"}}`:                "config.headers.Webhook-Signature",
		`{"url":"https://h.example","headers":{"X-A":"x\r\nX-B: y"}}`:                       "config.headers.X-A",
		`{"url":"https://h.example","headers":{"X A":"x"}}`:                                 "config.headers",
		`{"url":"https://h.example","headers":{"X-A":"` + strings.Repeat("x", 5000) + `"}}`: "config.headers.X-A",
		`{"url":"https://h.example/#x"}`:                                                    "config.url",
		`{"url":"https://h.example:25/"}`:                                                   "config.url",
		`{"url":"` + "https://h.example/" + strings.Repeat("x", 3000) + `"}`:                "config.url",
		`{"url":"http://169.254.169.254/latest"}`:                                           "config.url",
		`{"url":"file:///etc/passwd"}`:                                                      "config.url",
		`{}`:                                                                                "config.url",
	} {
		_, wrong := webhook.Open(alert.ChannelConfig(config), client(t))
		require.NotEmpty(t, wrong, config)
		require.Equal(t, field, wrong[0].Field, config)
	}
}

// The path of an address may be a key, so no result says it, even where the receiver does.
func TestAResultDoesNotRepeatThePath(t *testing.T) {
	const key = "c2VjcmV0LWtleQx7"
	for _, said := range []string{"no hook /services/" + key, "unknown key " + key} {
		r := notifytest.NewReceiver(t, notifytest.Answer(404, said))
		c, wrong := webhook.Open(alert.ChannelConfig(`{"url":"`+r.URL+"/services/"+key+`"}`), client(t))
		require.Empty(t, wrong)
		got := c.Send(t.Context(), notifytest.Message())
		require.Equal(t, alert.ResultRefused, got.Result)
		require.NotContains(t, got.Text, key)
		require.Contains(t, got.Text, "***")
	}
}
