package markup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
)

// message is about n jobs, and says in its last line how many it leaves out.
func message(n int) alert.Message {
	m := alert.Message{Total: n}
	for i := range n {
		m.Alerts = append(m.Alerts, alert.MessageAlert{ID: fmt.Sprintf("id%d!", i), JobName: fmt.Sprint("job ", i)})
	}
	m.Fewer = func(count int) alert.Content {
		var b strings.Builder
		for _, a := range m.Alerts[:count] {
			b.WriteString("* " + a.JobName + " failed\n")
		}
		return alert.Content{Text: b.String() + fmt.Sprint("more: ", n-count)}
	}
	m.Content = m.Fewer(n)
	return m
}

func form(most int) markup.Form {
	return markup.Form{
		Text: func(c alert.Content) string { return c.Text }, Fits: markup.Within(most, markup.Bytes), Spell: markup.Clean,
	}
}

func TestTheBoundOfAFormFallsBetweenAlertsAndKeepsTheLastLine(t *testing.T) {
	for _, most := range []int{30, 100, 500, 1000, 5000} {
		text, listed := form(most).Fill(message(100))
		require.LessOrEqual(t, len(text), most)
		lines := strings.Split(text, "\n")
		require.Equal(t, fmt.Sprint("more: ", 100-len(listed)), lines[len(lines)-1])
		require.Len(t, lines, len(listed)+1)
		require.NotContains(t, text, "…")
		for i, id := range listed {
			require.Equal(t, fmt.Sprintf("id%d!", i), id)
		}
	}
}

func TestOneAlertThatIsTooLongIsCutBeforeTheLastLine(t *testing.T) {
	m := message(1)
	m.Content.Text = "* job 0 failed: " + strings.Repeat("字", 100) + "\nsince noon"
	text, listed := form(60).Fill(m)
	require.LessOrEqual(t, len(text), 60)
	require.True(t, strings.HasSuffix(text, "…\nsince noon"), text)
	require.Equal(t, []string{"id0!"}, listed)
	text, listed = form(5).Fill(m)
	require.Empty(t, text)
	require.Empty(t, listed)
}

func TestAnAlertIsNamedByItsWholeName(t *testing.T) {
	m := alert.Message{Alerts: []alert.MessageAlert{
		{ID: "a", JobName: "job 1"},
		{ID: "b", JobName: "job 12"},
		{ID: "c", NodeID: "node-3"},
		{ID: "d", Summary: "Nothing ran."},
		{ID: "e", Summary: strings.Repeat("long ", 50)},
		{ID: "0af3", JobName: "x"},
		{ID: "f", JobName: "对账"},
	}}
	m.Content.Text = "job 12, node-3. Nothing ran. " + strings.Repeat("long ", 30) + "https://h/alerts/0af3 夜间对账失败"
	_, listed := form(1000).Fill(m)
	require.Equal(t, []string{"b", "c", "d", "e", "0af3", "f"}, listed)
}
