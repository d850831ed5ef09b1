package job_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	jobs "github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// naming is a job of a group that names a secret.
func naming(name, group, secret string) *entity.Job {
	return enginetest.Job(name, func(j *entity.Job) {
		j.Group, j.Data = group, fmt.Sprintf(`{"text":"<${secret.%s}>"}`, secret)
	})
}

// A definition names secrets of its own group and those for every group, however
// it comes to be.
func TestADefinitionNamesSecretsOfItsGroupAlone(t *testing.T) {
	d := newDesk(t)
	for _, s := range []secret.SecretInput{
		{Name: "ALL"},
		{Name: "PAY", Groups: []string{"pay"}},
		{Name: "RISK", Groups: []string{"risk"}},
	} {
		s.Value = "hunter2"
		_, err := d.Secrets.Create(t.Context(), s)
		require.NoError(t, err)
	}
	refused := func(err error, what string) {
		t.Helper()
		var invalid *apperror.Error
		require.ErrorAs(t, err, &invalid, what)
		require.Equal(t, "secret_not_allowed", invalid.Fields[0].Code, what)
		require.Contains(t, invalid.Fields[0].Message, "RISK", what)
	}
	_, err := d.Jobs.Create(t.Context(), naming("a", "pay", "RISK"), false)
	refused(err, "create")
	for _, secret := range []string{"PAY", "ALL", "NONE"} {
		_, err := d.Jobs.Create(t.Context(), naming("of "+secret, "pay", secret), false)
		require.NoError(t, err, secret)
	}
	own, err := d.Jobs.Create(t.Context(), naming("own", "risk", "RISK"), false)
	require.NoError(t, err)

	_, err = d.Jobs.Copy(t.Context(), own.ID, "copy", "pay")
	refused(err, "copy")
	_, err = d.Jobs.Copy(t.Context(), own.ID, "copy", "risk")
	require.NoError(t, err)
	_, err = d.Jobs.Replace(t.Context(), own.ID, naming("own", "pay", "RISK"), 1, 0)
	refused(err, "move")
	clean, err := d.Jobs.Replace(t.Context(), own.ID, naming("own", "risk", "ALL"), 1, 0)
	require.NoError(t, err)
	_, err = d.Jobs.Replace(t.Context(), own.ID, naming("own", "pay", "RISK"), clean.Version, 0)
	refused(err, "edit")

	definitions := definition.NewDefinitionService(d.Store.Jobs, d.Jobs.ForDocuments(), d.Groups, d.Secrets, d.Alerting)
	document := definition.Document{Jobs: []definition.Definition{
		{Job: naming("b", "risk", "RISK")},
		{Job: naming("c", "pay", "RISK")},
	}}
	_, err = definitions.Plan(t.Context(), document, false)
	refused(err, "import")
	require.ErrorContains(t, err, "jobs[1].jobData")

	// The secret was taken from the job meanwhile: a version of before does not
	// come back, and the job does not run.
	_, err = d.Secrets.Edit(t.Context(),
		secret.SecretEdit{
			SecretInput: secret.SecretInput{Name: "RISK", Groups: []string{"ops"}}, KeepValue: true,
			Version: 1,
		})
	require.True(t, apperror.Is(err, apperror.KindConflict), "%v", err)
	_, err = d.Secrets.Edit(t.Context(),
		secret.SecretEdit{
			SecretInput: secret.SecretInput{Name: "RISK", Groups: []string{"ops"}}, KeepValue: true, Version: 1,
			Force: true,
		})
	require.NoError(t, err)
	_, err = d.restore(own.ID, 1, clean.Version)
	refused(err, "restore")
	copied, _, err := d.Jobs.List(t.Context(), repository.JobFilter{Group: "risk", NameContains: "copy"},
		repository.Page{Limit: 10})
	require.NoError(t, err)
	_, err = d.Jobs.Trigger(t.Context(), copied[0].ID, jobs.Trigger{Source: entity.TriggerManual})
	refused(err, "trigger")
}
