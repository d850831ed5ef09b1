package explain_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Nobody fires because the nodes stand by: the answer says so, and why. A node that works, and plans nothing, names
// those that stand by. A node that stands by beside one that plans says nothing.
func TestTheNodesStandBy(t *testing.T) {
	reason := "the store stands by since 2026-11-20T11:59:00Z, set by ann: drill"
	own := "the nodes stand by since 2026-11-20 11:59:00Z, so that nobody fires or runs jobs: " + reason
	others := "node node-9 stands by; its part standby of /readyz says why"
	for name, c := range map[string]struct {
		alone   bool
		after   time.Duration
		reason  string
		verdict explain.Verdict
		code    explain.Code
		// other is whether another node says in the registry that it stands by.
		other bool
		told  string
	}{
		"overdue":                  {true, 20 * time.Second, reason, explain.Overdue, "STANDBY", false, own},
		"to come":                  {true, time.Second, reason, explain.Planned, "NOT_DUE", false, own},
		"beside one that does":     {true, 20 * time.Second, reason, explain.Overdue, "STANDBY", true, own},
		"the other one":            {true, 20 * time.Second, "", explain.Overdue, "STANDBY", true, others},
		"the other one, to come":   {true, time.Second, "", explain.Planned, "NOT_DUE", true, others},
		"beside a node that works": {false, 20 * time.Second, reason, explain.Overdue, "UNDECIDED", true, ""},
		"they do not":              {true, 20 * time.Second, "", explain.Overdue, "NO_SCHEDULER", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := servicetest.New(t)
			job := d.Create(every(nil))
			if c.alone {
				d.Die(t)
			}
			if c.other {
				_, err := d.Store.Register(t.Context(), entity.Node{
					ID: "node-9", Roles: []string{entity.RoleAPI, entity.RoleStandby}, Version: "1",
				})
				require.NoError(t, err)
			}
			d.Clock.Advance(c.after)
			a, err := explainer(d, func(p *explain.ExplainService) {
				p.Standby = func() (string, time.Time) { return c.reason, noon(-time.Minute) }
			}).Explain(t.Context(), explain.Query{JobID: job.ID, At: noon(10 * time.Second), SeesRuns: true})
			require.NoError(t, err)
			require.Equal(t, string(c.verdict)+" "+string(c.code), string(a.Verdict)+" "+string(a.Code), a.Text)
			saysWhole(t, a.Verdict, a.Code, a.Params, a.Text)
			told := ""
			for _, f := range a.Facts {
				saysWhole(t, "", f.Code, f.Params, f.Text)
				if f.Code == explain.FactStandsBy || f.Code == explain.FactNodeStandsBy {
					require.Empty(t, told, "one of both is said")
					told = f.Text
				}
				require.False(t, c.told != "" && f.Code == explain.FactNobodyFires, "one of both is said")
			}
			require.Equal(t, c.told, told)
		})
	}
}
