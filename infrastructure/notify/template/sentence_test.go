package template_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// The sentence of an alert is in the language of its message; without the details that it needs it stays as
// the server has said it.
func TestSentencesAreInTheLanguageOfTheMessage(t *testing.T) {
	m := alert.Message{Firing: true, Level: "CRITICAL", Total: 1, Alerts: []alert.MessageAlert{{
		ID: "a", Type: "NODE_DOWN", Level: "CRITICAL", Status: "FIRING", NodeID: "node-3",
		Summary: "The node node-3 is DOWN.",
		Details: map[string]string{"node": "node-3"},
	}}}
	require.Contains(t, render(t, alert.ChannelEmail, "en", alert.Content{}, m).Text, "The node node-3 is DOWN.")
	require.Contains(t, render(t, alert.ChannelEmail, "zh", alert.Content{}, m).Text, "节点 node-3 处于 DOWN 状态。")
	m.Alerts[0].Type, m.Alerts[0].Details = "JOB_FAILED", map[string]string{
		"job": "对账 {cause}", "reason": "ERROR", "message": "数据库连接失败",
	}
	require.Contains(t, render(t, alert.ChannelEmail, "zh", alert.Content{}, m).Text,
		"任务 对账 {cause} 运行失败：ERROR, 数据库连接失败。", "a name is no text of the product")
	m.Alerts[0].Details = nil
	require.Contains(t, render(t, alert.ChannelEmail, "zh", alert.Content{}, m).Text, "The node node-3 is DOWN.")
	m.Alerts[0].Type, m.Alerts[0].Details = "CLOCK_SKEW", map[string]string{"node": "node-3", "offsetMs": "-2000"}
	require.Contains(t, render(t, alert.ChannelEmail, "zh", alert.Content{}, m).Text, "节点 node-3 的时钟偏差 -2000 毫秒。")
	delete(m.Alerts[0].Details, "offsetMs")
	require.Contains(t, render(t, alert.ChannelEmail, "zh", alert.Content{}, m).Text, "节点 node-3 的时钟有偏差。",
		"an alert of before has no offset")
	m.Alerts[0].Type, m.Alerts[0].Details = "TEST", map[string]string{"channel": "群"}
	out := render(t, alert.ChannelEmail, "zh", alert.Content{}, m)
	require.Contains(t, out.Text, "这是通道 群 的测试消息，一切正常。")
	require.Contains(t, out.Title, "测试")
}

// Each alert about a state has a sentence of its own in Chinese: the server gives the details that it needs.
func TestAlertsAboutStatesAreSaidInChinese(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	job := alerting.Job{ID: "j1", Name: "settle", Group: "pay"}
	st := &alerting.State{
		Now: now, Expected: now.Add(-time.Hour),
		Overdue:      []alerting.Overdue{{Job: job, Due: now.Add(-time.Hour)}, {Job: job}},
		Queues:       []alerting.Queue{{Name: alerting.Ready, Depth: 7, Oldest: now.Add(-time.Hour)}},
		Unroutable:   []alerting.Unroutable{{Job: job, Runs: 3, Wait: entity.WaitHandler, Oldest: now.Add(-time.Hour)}},
		WorkerGroups: []alerting.WorkerGroup{{Name: "shop", JobGroups: []string{"pay"}}},
		Troubles:     []alerting.Trouble{{Part: "kafka", Why: "no answer", Nodes: []string{"n1", "n2"}}},
		Suspended: []alerting.SuspendedRule{{
			Rule:       &alert.Rule{Head: alert.Head{ID: "r7", Name: "dear", Group: "pay"}},
			Suspension: alert.Suspension{RuleID: "r7", Until: now.Add(time.Hour), Why: "it took too much"},
		}},
	}
	for _, status := range []entity.NodeStatus{entity.NodeUp, entity.NodeSuspect, entity.NodeDown} {
		st.Nodes = append(st.Nodes, entity.Node{ID: "n", Status: status, ClockOffset: time.Hour})
	}
	for _, kind := range alert.RuleTypes() {
		if !kind.IsLevel() {
			continue
		}
		rule := &alert.Rule{Head: alert.Head{ID: "r1", Enabled: true}, Type: kind, Threshold: 1, WindowSec: 60}
		signals := alerting.Levels(rule, st)
		require.NotEmpty(t, signals, kind)
		for _, s := range signals {
			text := render(t, alert.ChannelEmail, "zh", alert.Content{}, alert.Message{
				Firing: true, Level: "CRITICAL", Total: 1, Alerts: []alert.MessageAlert{{
					ID: "a", Type: string(kind), Level: "CRITICAL", Status: "FIRING", Summary: s.Content, Details: s.Details,
				}},
			}).Text
			require.NotContains(t, text, s.Content, kind)
		}
	}
}

// Messages and the console say the same of an alert.
func TestTheConsoleHasTheSameSentences(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(text)
	}
	console := filepath.Join("..", "..", "..", "web", "src", "shared", "text")
	chinese := read(filepath.Join(console, "texts", "zh-CN.ts"))
	var own struct {
		Sentences map[string]string `json:"sentences"`
	}
	require.NoError(t, json.Unmarshal([]byte(read(filepath.Join("texts", "zh.json"))), &own))
	for name, text := range own.Sentences {
		if name != "test" { // the console shows no test messages
			require.Contains(t, chinese, fmt.Sprintf("%s: '%s'", name, text))
		}
	}
	table := read(filepath.Join(console, "alert.ts"))
	_, table, begins := strings.Cut(table, "Object.entries({")
	table, _, ends := strings.Cut(table, "} as const satisfies")
	require.True(t, begins && ends, "the table of the console is where this test looks for it")
	code := read("sentence.go")
	for _, found := range regexp.MustCompile(`\[('\w+'(?:, '\w+')*)\]`).FindAllStringSubmatch(table, -1) {
		name, needs, _ := strings.Cut(strings.ReplaceAll(found[1], "'", `"`), ", ")
		want := "{" + name + ", []string{" + needs + "}}"
		require.Contains(t, code, want)
	}
}
