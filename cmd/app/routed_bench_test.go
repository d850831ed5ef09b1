package app_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

// How late runs start that a scheduler puts into the queues of three nodes: with
// hints, and without Redis, when the nodes find them by asking.
func BenchmarkRunsInTheQueuesOfThreeNodes(b *testing.B) {
	for name, hints := range map[string]bool{"hints": true, "asking": false} {
		b.Run(name, func(b *testing.B) {
			cfgs := peers(b, allRoles, allRoles, allRoles)
			var nodes []*node
			for _, cfg := range cfgs {
				if !hints {
					cfg.Redis = redistest.Gone(b)
				}
				nodes = append(nodes, startNode(b, cfg, &script{}))
			}
			defer func() {
				for _, n := range nodes {
					n.stop()
				}
			}()
			a := nodes[0]
			settled(nodes)
			var jobs []*entity.Job
			for i := range 7 {
				jobs = append(jobs, a.create(newJob(string(rune('A'+i)), func(j *entity.Job) {
					every(time.Duration(700+10*i) * time.Millisecond)(j)
					j.Routing.Strategy = entity.RouteRoundRobin
				})))
			}
			var late []time.Duration
			require.Eventually(b, func() bool {
				late = late[:0]
				for _, j := range jobs {
					for _, r := range a.rows(j.ID) {
						if r.Status.Final() {
							late = append(late, r.Lateness())
						}
					}
				}
				return len(late) >= 300
			}, 2*time.Minute, 500*time.Millisecond)
			slices.Sort(late)
			for name, share := range map[string]int{"p50-ms": 50, "p99-ms": 99} {
				b.ReportMetric(late[len(late)*share/100].Seconds()*1000, name)
			}
		})
	}
}
