package notify_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
)

// sent opens a channel with URL standing for the receiver, sends, and returns the call.
func sent(t *testing.T, kind alert.ChannelType, config string, m alert.Message) notifytest.Call {
	t.Helper()
	r := notifytest.NewReceiver(t, notifytest.Answer(200, named(t, kind).Taken))
	c, err := channels(t, 0).Open(kind, alert.ChannelConfig(strings.ReplaceAll(config, "URL", r.URL)))
	require.NoError(t, err)
	require.Equal(t, alert.ResultSent, c.Send(t.Context(), m).Result)
	require.Len(t, r.Calls(), 1)
	return r.Calls()[0]
}

func hmac256(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestDingTalkSignsAndCallsThoseOfTheConfiguration(t *testing.T) {
	m := notifytest.Message()
	m.Content.Markdown = "**x** @all @139"
	call := sent(t, "DINGTALK", `{"webhook":"URL/robot/send?access_token=abc","secret":"SECx",
		"atMobiles":["13800138000"],"atUserIds":["u1"],"atAll":true}`, m)
	u, err := url.Parse(call.URL)
	require.NoError(t, err)
	require.Equal(t, "abc", u.Query().Get("access_token"))
	require.Equal(t, "1795329060000", u.Query().Get("timestamp"))
	require.Equal(t, hmac256("SECx", "1795329060000\nSECx"), u.Query().Get("sign"))
	require.JSONEq(t, `{"msgtype":"markdown","markdown":{"title":"［CRITICAL］ nightly_close: job failed",
		"text":"**x** ＠all ＠139\n\n@13800138000 @u1"},
		"at":{"atMobiles":["13800138000"],"atUserIds":["u1"],"isAtAll":true}}`, call.Body)
	call = sent(t, "DINGTALK", `{"webhook":"URL/robot/send?access_token=abc"}`, m)
	require.Equal(t, "/robot/send?access_token=abc", call.URL, "a robot that checks words has no signature")
}

func TestFeishuSignsAndCallsThoseOfTheConfiguration(t *testing.T) {
	m := notifytest.Message()
	m.Content.Markdown = "**x** <at id=all></at>"
	call := sent(t, "FEISHU", `{"webhook":"URL/hook/abc","secret":"k","atUserIds":["ou_1"],"atAll":true}`, m)
	require.JSONEq(t, `{"timestamp":"1795329060","sign":"`+hmac256("1795329060\nk", "")+`","msg_type":"interactive",
		"card":{"config":{"wide_screen_mode":true},
		"header":{"title":{"tag":"plain_text","content":"[CRITICAL] nightly_close: job failed"},"template":"red"},
		"elements":[{"tag":"markdown","content":"**x** ＜at id=all>＜/at>\n<at id=ou_1></at><at id=all></at>"}]}}`, call.Body)
	m.Firing = false
	require.Contains(t, sent(t, "FEISHU", `{"webhook":"URL/hook/abc"}`, m).Body, `"template":"green"`)
}

func TestWeComCallsThoseOfTheConfiguration(t *testing.T) {
	m := notifytest.Message()
	m.Content.Markdown = strings.Repeat("长", 4000)
	call := sent(t, "WECOM", `{"webhook":"URL/send?key=k","atUserIds":["zhangsan","lisi"]}`, m)
	var got struct{ Markdown struct{ Content string } }
	require.NoError(t, json.Unmarshal([]byte(call.Body), &got))
	require.LessOrEqual(t, len(got.Markdown.Content), 4096)
	require.True(t, strings.HasSuffix(got.Markdown.Content, "…\n<@zhangsan><@lisi>"), "what is cut leaves room for them")
}

func TestSlackCallsThoseOfTheConfiguration(t *testing.T) {
	call := sent(t, "SLACK", `{"webhook":"URL/services/T/B/X","mentions":["here","U123","S456"]}`,
		notifytest.Message())
	require.JSONEq(t, `{"text":"[CRITICAL] nightly_close: job failed","blocks":[
		{"type":"header","text":{"type":"plain_text","text":"[CRITICAL] nightly_close: job failed"}},
		{"type":"section","text":{"type":"mrkdwn","text":"the job failed\n<!here> <@U123> <!subteam^S456>","verbatim":true}}]}`,
		call.Body)
}

func TestTelegramReadsHTMLOrGetsPlainText(t *testing.T) {
	const config = `{"apiUrl":"URL/","token":"123456:AAAAAAAAAAAA","chatId":"-1001","threadId":7}`
	for name, c := range map[string]struct {
		markdown string
		html     bool
	}{
		"marks":               {`<b>x</b> <a href="https://h.example/?a=1&amp;b=2">y</a>`, true},
		"nested":              {"<b><i>x</i></b>", true},
		"not closed":          {"<b>x", false},
		"closed out of order": {"<b><i>x</b></i>", false},
		"unknown":             {"<h1>x</h1>", false},
		"half a tag":          {"<b", false},
		"a person":            {`<a href="tg://user?id=1">x</a>`, false},
		"a link to nowhere":   {"<a>x</a>", false},
		"an attribute":        {`<b href="https://x">y</b>`, false},
		"too long":            {"<b>" + strings.Repeat("x", 5000) + "</b>", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := notifytest.Message()
			m.Content.Markdown = c.markdown
			call := sent(t, "TELEGRAM", config, m)
			require.Equal(t, "/bot123456:AAAAAAAAAAAA/sendMessage", call.URL)
			var got map[string]any
			require.NoError(t, json.Unmarshal([]byte(call.Body), &got))
			require.Equal(t, []any{"-1001", 7.0}, []any{got["chat_id"], got["message_thread_id"]})
			if c.html {
				require.Equal(t, []any{"HTML", c.markdown}, []any{got["parse_mode"], got["text"]})
				return
			}
			require.Equal(t, []any{nil, m.Content.Text}, []any{got["parse_mode"], got["text"]})
		})
	}
}

func TestAlertmanagerGetsAlertsOfItsForm(t *testing.T) {
	m := notifytest.Message()
	m.Alerts[0].Labels = map[string]string{
		"team": "ledger", "cost centre": "7", "1st": "x", "empty": "", "alertname": "forged",
	}
	m.Alerts[0].RunbookURL = "https://h.example/runbook"
	call := sent(t, alert.ChannelAlertmanager, `{"url":"URL/am/","username":"u","password":"p:w"}`, m)
	require.Equal(t, "/am/api/v2/alerts", call.URL)
	require.Equal(t, "Basic "+base64.StdEncoding.EncodeToString([]byte("u:p:w")), call.Header.Get("Authorization"))
	require.JSONEq(t, `[{"labels":{"alertname":"JOB_FAILED","severity":"critical","rule":"failures","group":"billing",
		"job":"nightly_close","job_id":"job-1","node":"node-a","fingerprint":"fp-1","team":"ledger","cost_centre":"7","_1st":"x"},
		"annotations":{"summary":"the job failed: exit code 3","owner":"ann_lee","execution_id":"exec-1",
		"runbook_url":"https://h.example/runbook"},
		"startsAt":"2026-11-22T06:29:15Z","endsAt":"2026-11-23T06:31:00Z",
		"generatorURL":"https://scheduler.example/alerts/alert-1"}]`, call.Body)

	m.Alerts[0].EndTime = m.Alerts[0].StartTime.Add(time.Minute)
	require.Contains(t, sent(t, alert.ChannelAlertmanager, `{"url":"URL"}`, m).Body, `"endsAt":"2026-11-22T06:30:15Z"`)
	m.Alerts[0].EndTime = m.Alerts[0].StartTime.Add(-time.Minute)
	require.Contains(t, sent(t, alert.ChannelAlertmanager, `{"url":"URL"}`, m).Body, `"endsAt":"2026-11-22T06:29:15Z"`)
	require.Equal(t, "Bearer t", sent(t, alert.ChannelAlertmanager, `{"url":"URL","token":"t"}`, m).Header.Get("Authorization"))
}

// Alertmanager keeps the last of two alerts with equal labels: that must be the newer episode.
func TestAlertmanagerGetsTheNewestEpisodeLast(t *testing.T) {
	m := notifytest.Message()
	older := m.Alerts[0]
	older.ID, older.StartTime = "alert-0", older.StartTime.Add(-time.Hour)
	older.EndTime = older.StartTime.Add(time.Minute)
	m.Alerts = append(m.Alerts, older) // the most urgent first, then the newest
	var got []struct{ StartsAt, EndsAt time.Time }
	require.NoError(t, json.Unmarshal([]byte(sent(t, alert.ChannelAlertmanager, `{"url":"URL"}`, m).Body), &got))
	require.Len(t, got, 2)
	require.Equal(t, older.EndTime.UTC(), got[0].EndsAt)
	require.Equal(t, m.Alerts[0].StartTime.UTC(), got[1].StartsAt)
	require.Equal(t, "alert-1", m.Alerts[0].ID, "the caller's list is as it was")
}

func TestWhatConfigurationsMayNotSay(t *testing.T) {
	for _, c := range []struct {
		kind          alert.ChannelType
		config, field string
	}{
		{"DINGTALK", `{"webhook":"https://h.example","atMobiles":["1\n@all"]}`, "config.atMobiles[0]"},
		{"DINGTALK", `{"webhook":"https://h.example","secret":"a\nb"}`, "config.secret"},
		{"WECOM", `{"webhook":"https://h.example","atUserIds":["a><@all"]}`, "config.atUserIds[0]"},
		{"FEISHU", `{"webhook":"https://h.example","atUserIds":["all></at>"]}`, "config.atUserIds[0]"},
		{"SLACK", `{"webhook":"https://h.example","mentions":["subteam^S1"]}`, "config.mentions[0]"},
		{"TELEGRAM", `{"token":"1:../../x","chatId":"-1"}`, "config.token"},
		{"TELEGRAM", `{"token":"1:AAAAAAAAAAAA","chatId":"x y"}`, "config.chatId"},
		{"TELEGRAM", `{"token":"1:AAAAAAAAAAAA","chatId":"-1","threadId":-1}`, "config.threadId"},
		{alert.ChannelAlertmanager, `{"url":"https://h.example","username":"u"}`, "config.username"},
		{alert.ChannelAlertmanager, `{"url":"https://h.example","username":"u","password":"p","token":"t"}`, "config.token"},
		{alert.ChannelAlertmanager, `{"url":"https://h.example","firingForSec":1}`, "config.firingForSec"},
		{alert.ChannelAlertmanager, `{"url":"https://h.example","token":"a\r\nX: y"}`, "config.token"},
	} {
		_, err := channels(t, 0).Open(c.kind, alert.ChannelConfig(c.config))
		require.ErrorContains(t, err, c.field, c.config)
	}
}
