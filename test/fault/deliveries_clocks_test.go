package fault_test

import (
	"database/sql"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/rig"
	"github.com/platform-scheduler/platform-scheduler/test/silence"
)

// stepped counts the steps of clocks of one kind.
type stepped struct {
	all, open, deadlines int
	// of are those that met open alerts of a type.
	of map[string]int
}

// stepClock sets a clock off, ahead and behind, while jobs fail and recover, and sets it right again: that of a
// node by about an hour, that of the store by less than a minute. It returns by how much at most.
func (p *post) stepClock(kind string) time.Duration {
	m := p.rig.Members[p.random.IntN(len(p.rig.Members))]
	off, set := time.Duration(p.random.IntN(3600)+60)*time.Second, m.StepClock
	if kind == storeClock {
		off, set = time.Duration(p.random.IntN(5)+10)*time.Second, p.rig.StepStoreClock
		if *deliveriesFor > 0 {
			off += time.Duration(p.random.IntN(30)) * time.Second
		}
	}
	if p.random.IntN(2) == 0 {
		off = -off
	}
	steps, most := []time.Duration{off, 0}, off.Abs()
	if *deliveriesFor > 0 {
		steps, most = []time.Duration{off, -off, 0}, 2*off.Abs()
	}
	for _, step := range steps {
		p.meet(kind)
		require.NoError(p.t, set(step))
		rig.Sleep(p.t.Context(), p.span(3))
	}
	p.t.Logf("%s: %v", kind, steps)
	if kind == nodeClock {
		return 0 // it decides nothing
	}
	p.repeats = time.Now().Add(off.Abs())
	return most
}

// aged waits until the clock of the store is beyond all that it has shown.
func (p *post) aged() {
	rig.Sleep(p.t.Context(), max(time.Until(p.repeats.Add(silence.Quiet)), 0))
}

// meet counts what a step of a clock is about to meet.
func (p *post) meet(kind string) {
	n := p.steps[kind]
	if n == nil {
		n = &stepped{of: map[string]int{}}
		p.steps[kind] = n
	}
	n.all++
	types := 0
	p.each("SELECT DISTINCT alert_type FROM scheduler_alert WHERE open_key IS NOT NULL AND status <> 'RESOLVED' AND "+
		"job_id IS NOT NULL", func(rows *sql.Rows) error {
		var of string
		err := rows.Scan(&of)
		n.of[of]++
		types++
		return err
	})
	if types > 0 {
		n.open++
	}
	if p.count("SELECT COUNT(*) FROM scheduler_deadline WHERE moment < UTC_TIMESTAMP(3) + INTERVAL 80 SECOND") > 0 {
		n.deadlines++
	}
}
