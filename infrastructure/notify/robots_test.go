package notify_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
)

func named(t *testing.T, kind alert.ChannelType) subject {
	t.Helper()
	for _, e := range notifytest.HTTPExamples(t) {
		if e.Type == kind {
			return subject{e}
		}
	}
	t.Fatal(kind)
	return subject{}
}

// Robots answer 200 with a code of their own.
func TestWhatCodesOfRobotsMean(t *testing.T) {
	judged := map[alert.ChannelType]bool{}
	for _, c := range []struct {
		kind   alert.ChannelType
		status int
		body   string
		want   alert.Result
		code   string
		after  time.Duration
	}{
		{"DINGTALK", 200, `{"errcode":310000,"errmsg":"sign not match"}`, alert.ResultRefused, "errcode_310000", 0},
		{"DINGTALK", 200, `{"errcode":300001,"errmsg":"token is not exist"}`, alert.ResultRefused, "errcode_300001", 0},
		{"DINGTALK", 200, `{"errcode":130101,"errmsg":"send too fast"}`, alert.ResultFailed, "errcode_130101", 10 * time.Minute},
		{"DINGTALK", 200, `{"status":1111,"wait":5,"punish":"deny","errcode":130101,"errmsg":"x"}`, alert.ResultFailed, "errcode_130101", 10 * time.Minute},
		{"DINGTALK", 200, `{"errcode":410100,"errmsg":"too fast"}`, alert.ResultFailed, "errcode_410100", time.Minute},
		{"DINGTALK", 200, `{"errcode":-1,"errmsg":"system busy"}`, alert.ResultFailed, "errcode_-1", 0},
		{"WECOM", 200, `{"errcode":45009,"errmsg":"api freq out of limit"}`, alert.ResultFailed, "errcode_45009", time.Minute},
		{"WECOM", 200, `{"errcode":93000,"errmsg":"invalid webhook url"}`, alert.ResultRefused, "errcode_93000", 0},
		{"WECOM", 200, `{"errcode":40058,"errmsg":"exceed max length"}`, alert.ResultRefused, "errcode_40058", 0},
		{"WECOM", 200, `{"errcode":-1,"errmsg":"busy"}`, alert.ResultFailed, "errcode_-1", 0},
		{"FEISHU", 200, `{"code":19021,"msg":"sign match fail"}`, alert.ResultRefused, "errcode_19021", 0},
		{"FEISHU", 400, `{"code":19021,"msg":"sign match fail"}`, alert.ResultRefused, "errcode_19021", 0},
		{"FEISHU", 200, `{"code":11232,"msg":"frequency limited psm[x]"}`, alert.ResultFailed, "errcode_11232", 52 * time.Second},
		{"FEISHU", 400, `{"code":99991400,"msg":"request trigger frequency limit"}`, alert.ResultFailed, "errcode_99991400", 52 * time.Second},
		{"FEISHU", 200, `{"code":9499,"msg":"Bad Request"}`, alert.ResultRefused, "errcode_9499", 0},
		{"FEISHU", 200, `{"code":9499,"msg":"frequency limited psm"}`, alert.ResultFailed, "errcode_9499", 52 * time.Second},
		{"FEISHU", 200, `{"StatusCode":0,"StatusMessage":"success"}`, alert.ResultSent, "", 0},
		{"FEISHU", 500, `{"code":0,"msg":"?"}`, alert.ResultFailed, "http_500", 0},
		{"FEISHU", 200, `{"code":1,"msg":"internal"}`, alert.ResultFailed, "errcode_1", 0},
		{
			"TELEGRAM", 429, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 41","parameters":{"retry_after":41}}`,
			alert.ResultFailed, "errcode_429", 41 * time.Second,
		},
		{"TELEGRAM", 401, `{"ok":false,"error_code":401,"description":"Unauthorized"}`, alert.ResultRefused, "errcode_401", 0},
		{
			"TELEGRAM", 400, `{"ok":false,"error_code":400,"description":"group upgraded","parameters":{"migrate_to_chat_id":-1009}}`,
			alert.ResultRefused, "errcode_400", 0,
		},
		{"TELEGRAM", 502, `{"ok":false,"error_code":502,"description":"Bad Gateway"}`, alert.ResultFailed, "errcode_502", 0},
	} {
		judged[c.kind] = true
		t.Run(fmt.Sprint(c.kind, c.status, c.body), func(t *testing.T) {
			r := notifytest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Ogw-Ratelimit-Reset", "52")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			got := named(t, c.kind).open(t, r.URL).Send(t.Context(), notifytest.Message())
			require.Equal(t, []any{c.want, c.code, c.after}, []any{got.Result, got.Code, got.RetryAfter}, got.Text)
		})
	}
	for _, e := range notifytest.HTTPExamples(t) {
		require.True(t, judged[e.Type] || !e.Reads, "the answers of %s are read: say above what refusals mean", e.Type)
	}
}

// shown is what people see of a message: all strings of its JSON.
func shown(t *testing.T, body string) string {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal([]byte(body), &value))
	var all []string
	var walk func(v any)
	walk = func(v any) {
		switch x := v.(type) {
		case string:
			all = append(all, x)
		case []any:
			for _, e := range x {
				walk(e)
			}
		case map[string]any:
			if x["tag"] == "plain_text" || x["type"] == "plain_text" {
				require.NotContains(t, fmt.Sprint(x), "@") // the service reads no other marks there
				require.NotContains(t, fmt.Sprint(x), "\u202e")
				return
			}
			for _, e := range x {
				walk(e)
			}
		}
	}
	walk(value)
	return strings.Join(all, "\n")
}

// The name of a job calls nobody, forges nothing and breaks nothing, in no channel.
// A robot calls the people on call beside those of its configuration, and nobody when the alert is over. What has
// another form than its addresses is no text of the message.
func TestARobotCallsThePeopleOnCall(t *testing.T) {
	for kind, c := range map[alert.ChannelType]struct{ who, called string }{
		"DINGTALK": {"13800138000", "@13800138000"}, "WECOM": {"ann.wang", "<@ann.wang>"},
		"FEISHU": {"ou_ann", "<at id=ou_ann></at>"},
	} {
		require.NotNil(t, notify.ReachOf(kind), kind)
		s := named(t, kind)
		r := notifytest.NewReceiver(t, notifytest.Answer(200, s.Taken))
		channel, m := s.open(t, r.URL), notifytest.Message()
		m.To = []string{c.who, "<@all>", "x\n@all"}
		for _, m.Firing = range []bool{true, false} {
			require.Equal(t, alert.ResultSent, channel.Send(t.Context(), m).Result)
			visible := shown(t, r.Calls()[len(r.Calls())-1].Body)
			require.Equal(t, m.Firing, strings.Contains(visible, c.called), "%s: %s", kind, visible)
			require.NotContains(t, visible, "@all", kind)
		}
	}
}

func TestHostileTextsAreHarmless(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		dialect := notify.DialectOf(s.Type)
		for _, text := range append(notifytest.Hostile(), strings.Repeat("长", 12_000), strings.Repeat("😀<@", 5_000)) {
			r := notifytest.NewReceiver(t, notifytest.Answer(200, s.Taken))
			m := notifytest.Message()
			m.Alerts[0].JobName, m.Alerts[0].Summary, m.Alerts[0].RuleName = text, text, text
			m.Alerts[0].Labels = map[string]string{text: text}
			m.GroupLabels = map[string]string{"name": text}
			for _, content := range []alert.Content{
				{Title: text, Text: text, HTML: text, Markdown: dialect.Bold(dialect.Escape(text)) + "\n- " + dialect.Escape(text)},
				{Title: text, Text: text},
				// Even a template of a user calls nobody.
				{Title: text, Text: text, Markdown: text},
			} {
				m.Content = content
				got := s.open(t, r.URL).Send(t.Context(), m)
				require.Equal(t, alert.ResultSent, got.Result, got.Text)
				last := r.Calls()[len(r.Calls())-1]
				require.True(t, json.Valid([]byte(last.Body)))
				if s.Program {
					continue
				}
				visible := shown(t, last.Body)
				for _, c := range "\x00\x01\x07\x1b\r\u202e\u2066\u2069\u200b\u2028" {
					require.NotContains(t, visible, string(c), "%q", text)
				}
				if content.Markdown == text {
					for _, mark := range s.Calls {
						if !strings.Contains(mark, "http") {
							require.NotContains(t, visible, mark, "%q", text)
						}
					}
					continue
				}
				for _, mark := range s.Calls {
					require.NotContains(t, visible, mark, "%q", text)
				}
			}
		}
	})
}

// Over-long texts are cut at a character, with a mark, to what the service takes.
func TestTextsAreCutToTheBoundsOfTheService(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		for _, unit := range []string{"长", "x", "😀", "<", "\n", "\""} {
			r := notifytest.NewReceiver(t, notifytest.Answer(200, s.Taken))
			m := notifytest.Message()
			long := strings.Repeat(unit, 25_000)
			m.Content = alert.Content{Title: long, Text: long, Markdown: notify.DialectOf(s.Type).EscapeLines(long)}
			m.Alerts[0].Summary, m.Alerts[0].JobName, m.Alerts[0].Labels["x"] = long, long, long
			require.Equal(t, alert.ResultSent, s.open(t, r.URL).Send(t.Context(), m).Result)
			body := r.Calls()[0].Body
			n, most := s.Size(body), s.Bound.Most
			require.LessOrEqual(t, n, most, "%q", unit)
			require.Contains(t, body, "…")
			require.NotContains(t, body, "\ufffd")
			if !s.Program && unit == "长" {
				require.Greater(t, n, most*9/10, "no more is cut than must be")
			}
		}
	})
}
