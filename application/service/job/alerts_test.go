package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// A definition names channels that exist, of its own group or of all groups, however it
// comes to be.
func TestADefinitionNamesChannelsOfItsGroupAlone(t *testing.T) {
	d := newDesk(t)
	for name, group := range map[string]string{"all": "", "pay": "pay", "risk": "risk"} {
		require.NoError(t, d.Store.AddAlertSetting(t.Context(), alert.Setting{
			Head: alert.Head{
				ID: "c-" + name, Name: name, Group: group, Enabled: true, Version: 1, CreateTime: noon(0),
				UpdateTime: noon(0),
			},
			Kind: alert.KindChannel, Document: "{}",
		}))
	}
	telling := func(name, group string, channels ...string) *entity.Job {
		return enginetest.Job(name, func(j *entity.Job) {
			j.Group, j.Alerts = group, entity.JobAlerts{OnFailure: channels, OnEnd: []string{"all"}}
		})
	}
	refused := func(err error, want ...string) {
		t.Helper()
		var invalid *apperror.Error
		require.ErrorAs(t, err, &invalid)
		var got []string
		for _, f := range invalid.Fields {
			got = append(got, f.Field+" "+f.Code)
			require.NotEmpty(t, f.Message)
		}
		require.Equal(t, want, got)
	}
	_, err := d.Jobs.Create(t.Context(), telling("a", "pay", "pay", "risk", "none"), false)
	refused(err, "alerts.onFailure[1] channel_not_allowed", "alerts.onFailure[2] unknown_channel")
	own, err := d.Jobs.Create(t.Context(), telling("a", "pay", "pay", "all"), false)
	require.NoError(t, err)
	require.Equal(t, []string{"pay", "all"}, own.Alerts.OnFailure)
	require.Empty(t, d.Jobs.ChannelWarnings(t.Context(), own))
	_, err = d.Jobs.Replace(t.Context(), own.ID, telling("a", "risk", "pay"), 1, 0)
	refused(err, "alerts.onFailure[0] channel_not_allowed")
	_, err = d.Jobs.Copy(t.Context(), own.ID, "copy", "risk")
	refused(err, "alerts.onFailure[0] channel_not_allowed")

	definitions := definition.NewDefinitionService(d.Store.Jobs, d.Jobs.ForDocuments(), d.Groups, d.Secrets, d.Alerting)
	plan, err := definitions.Plan(t.Context(), definition.Document{Jobs: []definition.Definition{
		{Job: telling("b", "pay", "pay")}, {Job: telling("c", "pay", "none")},
	}}, false)
	require.NoError(t, err, "a channel may be made after the jobs of a document that name it")
	require.Empty(t, plan.Jobs[0].Warnings)
	require.Equal(t, "alerts.onFailure[0]", plan.Jobs[1].Warnings[0].Field)
	require.Equal(t, "unknown_channel", plan.Jobs[1].Warnings[0].Code)
	definitions.Apply(t.Context(), plan)
	require.NoError(t, plan.Jobs[1].Err)
	stored, err := d.Jobs.Get(t.Context(), plan.Jobs[1].After.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"none"}, stored.Alerts.OnFailure, "the reference stays, and works once the channel is there")
	_, err = definitions.Plan(t.Context(), definition.Document{Jobs: []definition.Definition{
		{Job: telling("b", "pay", "pay")}, {Job: telling("c", "pay", "risk", "none")},
	}}, false)
	refused(err, "jobs[1].alerts.onFailure[0] channel_not_allowed")

	require.NoError(t, d.Store.DropAlertSetting(t.Context(), alert.KindChannel, "c-pay", 1))
	found := d.Jobs.ChannelWarnings(t.Context(), own)
	require.Len(t, found, 1)
	require.Equal(t, "alerts.onFailure[0] unknown_channel", found[0].Field+" "+found[0].Code)
}
