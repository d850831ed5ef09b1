package template_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
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
