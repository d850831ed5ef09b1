package detached_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Values of secrets do not get out by way of a target.
func TestSecretsAreHiddenInReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2)
		exec := r.detached(r.one(), r.job(func(j *entity.Job) {
			limited(1)(j)
			j.Data = `{"headers":{"Authorization":"Bearer ${secret.hunter-2}"}}`
		}).ID)
		secret := "hunter-2hunter-2" // of the vault of the test
		state := "at " + secret
		require.NoError(t, r.report(r.nodes[1], exec.ID, 1, entity.RunReport{
			Progress: -1, Checkpoint: &state,
			Lines: []string{"got " + secret},
		}))
		require.Equal(t, "at ***", r.one().Execution(t, exec.ID).Checkpoint)
		require.NoError(t, r.report(r.nodes[1], exec.ID, 1, entity.RunReport{
			Progress: -1, Status: entity.StatusFailed, NoRetry: true, Message: "no " + secret, Result: secret,
			Lines: []string{secret},
		}))
		got := r.one().Execution(t, exec.ID)
		require.Equal(t, []any{"no ***", "***"}, []any{got.ErrorMessage, got.Result})
		for _, c := range r.lines(exec.ID) {
			require.NotContains(t, c.Content, secret)
		}
	})
}

// An edit while the run is detached changes what its retries run by, and not
// what is hidden of this attempt.
func TestAnEditDoesNotUncoverSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		job := r.job(func(j *entity.Job) { j.Data = `{"body":"${secret.hunter-2}"}` })
		exec := r.detached(r.one(), job.ID)
		r.one().Change(t, job.ID, func(j *entity.Job) {
			j.Data = "{}"
			j.Version++
		})
		require.NoError(t, r.report(r.one(), exec.ID, 1, entity.RunReport{
			Progress: -1, Status: entity.StatusSuccess,
			Result: "hunter-2hunter-2",
		}))
		require.Equal(t, "***", r.one().Execution(t, exec.ID).Result)
	})
}

// Nor does a change of the secret itself: what the attempt opened is what its
// target may repeat, at its end and after it.
func TestASecretThatChangesIsHiddenAsTheRunOpenedIt(t *testing.T) {
	for name, now := range map[string]string{"changed": "tr0ub4dor&3", "deleted": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 2)
				exec := r.detached(r.one(), r.job(func(j *entity.Job) { j.Data = `{"body":"${secret.hunter-2}"}` }).ID)
				for _, n := range r.nodes {
					n.Vault.Change("hunter-2", now)
				}
				said := "I got hunter-2hunter-2, hunter-2 changed"
				hidden := "I got ***, hunter-2 changed"
				require.NoError(t, r.report(r.nodes[1], exec.ID, 1, entity.RunReport{
					Progress: -1, Checkpoint: &said,
					Lines: []string{said},
				}))
				require.Equal(t, hidden, r.one().Execution(t, exec.ID).Checkpoint)
				require.NoError(t, r.report(r.nodes[1], exec.ID, 1, entity.RunReport{
					Progress: -1, Status: entity.StatusFailed,
					Message: said, Result: said,
				}))
				got := r.one().Execution(t, exec.ID)
				require.Equal(t, []any{hidden, hidden}, []any{got.ErrorMessage, got.Result})
				requireCode(t, r.report(r.nodes[1], exec.ID, 1, entity.RunReport{
					Progress: -1, Status: entity.StatusSuccess,
					Message: said,
				}), apperror.KindConflict, "run_over")
				lines := r.lines(exec.ID)
				require.Contains(t, lines[len(lines)-1].Content, hidden, "also of a report that came too late")
				for _, c := range lines {
					require.NotContains(t, c.Content, "hunter-2hunter-2")
				}
				kept, _, err := r.one().Store.RunToken(t.Context(), exec.ID, entity.RunTokenHash(r.token(exec.ID, 1)))
				require.NoError(t, err)
				require.NotEmpty(t, kept.Sealed)
				require.NotContains(t, string(kept.Sealed), "hunter")
			})
		})
	}
}

// A node that lacks the key takes the end of a run, and none of its words.
func TestANodeWithoutTheKeyTakesAReportWithoutItsTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		stranger := r.one().Join(t, enginetest.Options{Key: 1})[1]
		exec := r.detached(r.one(), r.job(func(j *entity.Job) {
			limited(1)(j)
			j.Data = `{"body":"${secret.hunter-2}"}`
		}).ID)
		plain := r.detached(r.one(), r.job(func(j *entity.Job) { j.Name = "without secrets" }).ID)
		former, said := "page 3", "the words of the target"
		require.NoError(t, r.report(r.one(), exec.ID, 1, entity.RunReport{Progress: 10, Checkpoint: &former}))
		require.NoError(t, r.report(stranger, exec.ID, 1, entity.RunReport{
			Progress: 20, Checkpoint: &said,
			Lines: []string{said, ""},
		}))
		got := r.one().Execution(t, exec.ID)
		require.Equal(t, []any{20, former}, []any{got.Progress, got.Checkpoint}, "a retry goes on from what is known")
		require.NoError(t, r.report(stranger, exec.ID, 1, entity.RunReport{
			Progress: -1, Status: entity.StatusFailed, NoRetry: true, Message: said, Result: said, Checkpoint: &said,
		}))
		got = r.one().Execution(t, exec.ID)
		require.Equal(t, []any{entity.StatusFailed, former}, []any{got.Status, got.Checkpoint})
		require.Contains(t, got.ErrorMessage, "withheld")
		require.Contains(t, got.Result, "withheld")
		for _, c := range r.lines(exec.ID) {
			require.NotContains(t, c.Content, said)
		}
		require.NoError(t, r.report(stranger, plain.ID, 1, entity.RunReport{
			Progress: -1, Status: entity.StatusSuccess,
			Result: said,
		}))
		require.Equal(t, said, r.one().Execution(t, plain.ID).Result, "a run without secrets is not concerned")
	})
}

// A value too long to be kept is not known when its target reports.
func TestSecretsThatAreTooLongToBeKeptAreWithheld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		r.one().Vault.Change("huge", strings.Repeat("x", 1<<20+1))
		exec := r.detached(r.one(), r.job(func(j *entity.Job) { j.Data = `{"body":"${secret.huge}"}` }).ID)
		require.NoError(t, r.report(r.one(), exec.ID, 1, entity.RunReport{
			Progress: -1, Status: entity.StatusSuccess,
			Result: "x of the secret",
		}))
		got := r.one().Execution(t, exec.ID)
		require.Equal(t, entity.StatusSuccess, got.Status)
		require.Contains(t, got.Result, "withheld")
	})
}
