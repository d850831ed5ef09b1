package membership_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// hang is a call that does not return before the end of the test, whatever its
// context says.
type hang struct {
	armed, over chan struct{}
	began       chan struct{}
	once        sync.Once
}

func (h *hang) here() {
	select {
	case <-h.armed:
		h.once.Do(func() { close(h.began) })
		<-h.over
	default:
	}
}

// The parts of a node's work that may hang.
type (
	hangingMark struct {
		registry
		h *hang
	}
	hangingReap struct {
		*peer
		h *hang
	}
	hangingPlan struct {
		*peer
		h *hang
	}
	silentMetrics struct{}
)

func (r hangingMark) Mark(ctx context.Context, n entity.Node, s entity.NodeStatus, cause string) (bool, error) {
	r.h.here()
	return r.registry.Mark(ctx, n, s, cause)
}

func (w hangingReap) Reap(context.Context, string, int64) (int, error) { w.h.here(); return 0, nil }

func (p hangingPlan) Rebalanced(context.Context) error { p.h.here(); return nil }

func (silentMetrics) Beat(time.Duration, bool)    {}
func (silentMetrics) Asked(string)                {}
func (silentMetrics) Promised()                   {}
func (silentMetrics) Stopped(string)              {}
func (silentMetrics) Death(string, time.Duration) {}

// A node that judges, takes over or plans for longer than its lease goes on
// beating: else the others would take over from it, and hang in the same place.
func TestBeatsGoOnWhileOtherWorkHangs(t *testing.T) {
	for name, hangs := range map[string]func(d *membership.Deps, h *hang){
		"judging":     func(d *membership.Deps, h *hang) { d.Registry = hangingMark{d.Registry.(registry), h} },
		"taking over": func(d *membership.Deps, h *hang) { d.Worker = hangingReap{d.Worker.(*peer), h} },
		"planning":    func(d *membership.Deps, h *hang) { d.Planner = hangingPlan{d.Planner.(*peer), h} },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			h := &hang{armed: make(chan struct{}), over: make(chan struct{}), began: make(chan struct{})}
			beats := make(chan error, 100)
			c.join("z", nil).frozen = true
			a := c.join("a", func(d *membership.Deps) {
				d.Metrics, d.OnChange, d.OnBeat = silentMetrics{}, nil, func(err error) { beats <- err }
				hangs(d, h)
			})
			require.NoError(t, <-beats)
			close(h.armed)
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { a.Run(ctx) })
			defer running.Wait()
			defer stop()
			defer close(h.over)

			heard := func() {
				t.Helper()
				select {
				case err := <-beats:
					require.NoError(t, err)
				case <-time.After(20 * time.Second):
					require.Fail(t, "there is no beat")
				}
			}
			a.Wake() // what is heard of it says that its loop is there
			heard()
			beat := func() {
				t.Helper()
				c.clock.Advance(terms.Beat)
				heard()
			}
			for began := false; !began; {
				beat()
				select {
				case <-h.began:
					began = true
				default:
				}
			}
			for range 4 * terms.Lease / terms.Beat {
				beat()
				require.True(t, a.Lease.Holds())
			}
			require.WithinDuration(t, c.clock.Now(), c.row("a").LastHeartbeat, terms.Beat)
			require.Equal(t, entity.NodeUp, c.status("a"))
		})
	}
}
