package job_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// The plan of a document names the voters that are not there, as the save of a workflow does: nothing of the document
// is applied then. A team that the document makes is there by then, and a workflow that stays as it is may keep one
// that has gone.
func TestAPlanNamesVotersThatAreNotThere(t *testing.T) {
	d := servicetest.New(t)
	require.NoError(t, d.Store.AddAlertSetting(t.Context(), alert.Setting{
		Head: alert.Head{ID: "c-night", Name: "phones", Enabled: true, Version: 1, CreateTime: noon(0), UpdateTime: noon(0)},
		Kind: alert.KindChannel, Document: `{"type": "webhook", "address": "https://example.test"}`,
	}))
	definitions := definition.NewDefinitionService(d.Store.Jobs, d.Jobs.ForDocuments(), d.Groups, d.Secrets, d.Alerting)
	release := func(text, who string) []definition.Definition {
		return []definition.Definition{{Job: enginetest.Job("release", func(j *entity.Job) {
			j.Type, j.Class = entity.JobWorkflow, ""
			j.Data = fmt.Sprintf(`{"steps": [{"name": "ask", "approval": {"text": %q, %s}}]}`, text, who)
		})}}
	}
	plan := func(doc definition.Document) (*definition.Plan, error) {
		return definitions.Plan(t.Context(), doc, false)
	}
	team := func(group string) definition.Document {
		return definition.Document{
			Jobs: release("Go?", `"teams": ["night"]`), Kinds: []alert.Kind{alert.KindTeam},
			Settings: []definition.Setting{{
				Kind: alert.KindTeam, Path: "alerting.teams[0]", Value: &alert.Team{
					Head: alert.Head{Name: "night", Group: group, Enabled: true}, ChannelIDs: []string{"phones"},
				},
			}},
		}
	}

	_, err := plan(definition.Document{Jobs: release("Go?", `"users": ["nobody"]`)})
	requireField(t, err, "jobs[0].jobData.steps[0].approval.users[0]", "unknown_value")
	_, err = plan(definition.Document{Jobs: release("Go?", `"teams": ["night"]`)})
	requireField(t, err, "jobs[0].jobData.steps[0].approval.teams[0]", "unknown_value")
	_, err = plan(team("other"))
	requireField(t, err, "jobs[0].jobData.steps[0].approval.teams[0]", "unknown_value")

	p, err := plan(team(""))
	require.NoError(t, err)
	definitions.Apply(t.Context(), p)
	require.NoError(t, p.Settings[0].Err)
	require.NoError(t, p.Jobs[0].Err)

	made := alert.HeadOf(p.Settings[0].After)
	require.NoError(t, d.Store.DropAlertSetting(t.Context(), alert.KindTeam, made.ID, made.Version))
	again, err := plan(definition.Document{Jobs: release("Go?", `"teams": ["night"]`)})
	require.NoError(t, err)
	require.Equal(t, definition.ActionUnchanged, again.Jobs[0].Action)
	_, err = plan(definition.Document{Jobs: release("Go on?", `"teams": ["night"]`)})
	requireField(t, err, "jobs[0].jobData.steps[0].approval.teams[0]", "unknown_value")
}
