package notifying

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// A message shows 1 KiB of labels an alert: first what it is about, and of the labels of people those that have room.
func TestAMessageShowsABoundedPartOfTheLabels(t *testing.T) {
	labels := map[string]string{"alertname": "JOB_FAILED", "rule": "my rule", "job": "settle", "group": "billing"}
	require.Equal(t, labels, shown(labels))
	for i := range 64 {
		labels[fmt.Sprintf("a%02d", i)] = strings.Repeat("<", 255)
	}
	labels["b"] = "fits"
	told := alert.Contents{Total: 1, Alerts: []alert.ListedAlert{{Alert: &alert.Alert{Labels: labels}}}}
	m := compose(alert.Notification{CreateTime: time.Unix(0, 0)}, told, []string{"a00", "job"}, "")
	require.Equal(t, "my rule", m.Alerts[0].RuleName)
	require.Equal(t, map[string]string{"a00": labels["a00"], "job": "settle"}, m.GroupLabels, "groups go by all labels")
	out := m.Alerts[0].Labels
	for _, name := range []string{"alertname", "rule", "job", "group", "b"} {
		require.Equal(t, labels[name], out[name])
	}
	require.LessOrEqual(t, jsonLen(out), bounds.ShownLabelBytes)
	for name, value := range out {
		require.Equal(t, labels[name], value, "no value is cut")
	}
}
