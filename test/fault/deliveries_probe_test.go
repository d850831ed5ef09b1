package fault_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/delivery"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// probe has a run fail, kills a node at that moment, and measures until each channel has taken a
// message about it.
func (p *post) probe(kind string) {
	p.channelsTake()
	job := p.make(fmt.Sprint("probe ", p.random.Uint64()), "/probe", true, 0)
	var once sync.Once
	var event time.Time
	var victim *rig.Member
	killed := make(chan struct{})
	kill := func(query string, args ...any) {
		var id string
		err := p.db.QueryRowContext(p.t.Context(), query, args...).Scan(&id)
		for _, m := range p.rig.Members {
			if err == nil && m.ID == id {
				victim = m
				m.Kill()
			}
		}
		close(killed)
	}
	p.mu.Lock()
	p.probed = func(execution string) {
		switch kind {
		case killFailing:
			once.Do(func() {
				event = time.Now()
				kill("SELECT node_id FROM scheduler_job_execution WHERE id = ?", execution)
			})
		case killBroker:
			once.Do(func() {
				event = time.Now()
				if err := p.server.KillBroker(p.t.Context()); err != nil {
					p.t.Error(err)
				}
				close(killed)
			})
		case killLeader:
			once.Do(func() {
				event = time.Now()
				kill("SELECT node_id FROM scheduler_alert_evaluation")
			})
		}
	}
	p.mu.Unlock()
	if kind == killNotifier {
		p.ledger.Arrived(func(r delivery.Receipt) bool {
			mine := false
			for _, a := range r.Alerts {
				mine = mine || a.JobID == job
			}
			answer := true
			if mine {
				once.Do(func() {
					event, answer = time.Now(), false
					kill("SELECT lease_node FROM scheduler_notification WHERE id = ?", r.ID)
				})
			}
			return answer
		})
	}
	p.call("POST", "/api/v1/jobs/"+job+"/trigger", map[string]any{})
	select {
	case <-killed:
	case <-time.After(90 * time.Second):
		require.Fail(p.t, "the run has not failed", kind)
	}
	p.ledger.Arrived(nil)
	require.True(p.t, victim != nil || kind == killBroker, kind)
	for _, m := range p.rig.Members {
		if m.Up() {
			p.base = m.Base()
		}
	}
	if victim != nil && (*deliveriesFor == 0 || p.random.IntN(2) == 0) { // a supervisor is there, or it is not
		require.NoError(p.t, victim.Revive(p.t.Context()))
	}
	took := time.Duration(0)
	for _, channel := range []string{p.hook, p.mail} {
		var at time.Time
		require.Eventually(p.t, func() bool {
			at = p.heard(job, channel)
			return !at.IsZero()
		}, time.Minute, 50*time.Millisecond, "%s: a message by %s", kind, channel)
		took = max(took, at.Sub(event))
	}
	p.took[kind] = append(p.took[kind], took)
	p.t.Logf("%s: delivered %s after it", kind, took.Round(time.Millisecond))
	if took > deliveryBound {
		p.t.Errorf("%s: delivered after %s", kind, took)
	}
	if kind == killBroker {
		require.NoError(p.t, p.server.Up(p.t.Context()))
	}
	require.NoError(p.t, p.rig.Heal(p.t.Context()))
}

// channelsTake waits until no node holds back messages of a channel, for as long as it may do so. After many refusals a
// node tries that channel once a minute, which says nothing about a node that ends.
func (p *post) channelsTake() {
	for until := time.Now().Add(75 * time.Second); time.Now().Before(until); {
		if !slices.ContainsFunc(p.rig.Members, p.holdsBack) || !rig.Sleep(p.t.Context(), 200*time.Millisecond) {
			return
		}
	}
}

// holdsBack reports whether a node that is up says that channels do not take messages.
func (p *post) holdsBack(m *rig.Member) bool {
	if !m.Up() {
		return false
	}
	_, body, err := m.Node.Readiness(p.t.Context())
	return err == nil && strings.Contains(body, "do not take messages")
}

// heard is when a channel took a message about a job first.
func (p *post) heard(job, channel string) time.Time {
	ids := map[string]bool{}
	for _, id := range p.executions("SELECT t.notification_id FROM scheduler_notification_alert t JOIN scheduler_alert a "+
		"ON a.id = t.alert_id JOIN scheduler_notification n ON n.id = t.notification_id WHERE a.job_id = ? AND "+
		"n.channel_id = ?", job, channel) {
		ids[id] = true
	}
	for _, r := range p.ledger.Receipts() {
		if r.Accepted && ids[r.ID] {
			return r.At
		}
	}
	return time.Time{}
}
