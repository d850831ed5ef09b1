package alert_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

func TestASettingComesBackAsItWas(t *testing.T) {
	r := &alert.Rule{
		Head: alert.Head{ID: "r", Name: "n", Group: "g", Enabled: true, Version: 3, CreateTime: noon, UpdateTime: at(1)},
		Type: alert.JobFailed, Level: alert.Info, Scope: alert.Scope{JobIDs: []string{"j"}}, ChannelIDs: []string{"c"},
		Notify: alert.NotifyEach,
	}
	s, err := alert.SettingOf(alert.KindRule, r)
	require.NoError(t, err)
	require.Equal(t, r.Head, s.Head)
	require.JSONEq(t, `{"v":1,"type":"JOB_FAILED","level":"INFO","scope":{"jobIds":["j"],"groups":null,"labels":null,"steps":false},
		"threshold":0,"windowSec":0,"forSec":0,"keepSec":0,"resolveAfterSec":0,"notify":"EACH","expression":"",
		"channelIds":["c"],"actions":null,"editorId":"","labels":null,"default":""}`, s.Document)
	back, err := alert.Read[alert.Rule](s)
	require.NoError(t, err)
	require.Equal(t, r, back)
	s.Document = `{"type":"JOB_FAILED","tomorrow":1}`
	_, err = alert.Read[alert.Rule](s)
	require.NoError(t, err, "a newer node wrote it")
	s.Document = `{"type":1}`
	_, err = alert.Read[alert.Rule](s)
	require.ErrorContains(t, err, `read the alert rule "n"`)
}
