package alerting_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// A silence with a typo is taken, and says that it holds nothing back.
func TestASilenceOfNothingWarns(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Add(t, enginetest.Job("settle", func(j *entity.Job) { j.Group = "pay" }))
	n.Add(t, enginetest.Job("count", func(j *entity.Job) { j.Group = "risk" }))
	silences := alerting.NewSilenceService(deps(n))
	create := func(group string, match map[string]string) *alert.Silence {
		t.Helper()
		s, err := silences.Create(t.Context(), &alert.Silence{
			Head: alert.Head{Enabled: true, Group: group}, Match: match, To: n.Time.Now().Add(time.Hour),
		})
		require.NoError(t, err)
		return s
	}
	type labels = map[string]string
	for name, c := range map[string]struct {
		group string
		match labels
		want  []string
	}{
		"a job of any group":          {"", labels{"job": "settle"}, nil},
		"a job of the group":          {"pay", labels{"job": "settle"}, nil},
		"a group":                     {"", labels{"group": "pay"}, nil},
		"a job and its group":         {"", labels{"job": "settle", "group": "pay"}, nil},
		"other labels":                {"", labels{"severity": "WARNING"}, nil},
		"no job":                      {"", labels{"job": "Settle"}, []string{"match.job unknown_job"}},
		"a job of another group":      {"risk", labels{"job": "settle"}, []string{"match.job unknown_job"}},
		"a job and another group":     {"", labels{"job": "settle", "group": "risk"}, []string{"match.job unknown_job"}},
		"no group":                    {"", labels{"group": "pays"}, []string{"match.group unknown_group"}},
		"neither":                     {"", labels{"group": "x", "job": "x"}, []string{"match.group unknown_group"}},
		"a group that is not its own": {"pay", labels{"group": "risk"}, []string{"match.group never_matches"}},
	} {
		s := create(c.group, c.match)
		read, err := silences.Get(t.Context(), s.ID)
		require.NoError(t, err)
		for _, shown := range []*alert.Silence{s, read} {
			var got []string
			for _, w := range shown.Warnings {
				got = append(got, w.Field+" "+w.Code)
				require.NotEmpty(t, w.Message)
			}
			require.Equal(t, c.want, got, name)
		}
	}
	s := create("", labels{"job": "later"})
	require.Len(t, s.Warnings, 1)
	n.Add(t, enginetest.Job("later", nil))
	next := *s
	next.Warnings = nil
	changed, err := silences.Replace(t.Context(), s, &next, 1)
	require.NoError(t, err)
	require.Empty(t, changed.Warnings, "the job is there now")
}
