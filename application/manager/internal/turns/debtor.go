package turns

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

const (
	// DebtInterval is how often the leader looks for what is owed and nobody has paid.
	DebtInterval = time.Second
	// debtGrace leaves a row to the process that made it: that one was woken by its commit.
	debtGrace = time.Second
	// retryPause follows a turn that failed; busyPause one that left rows, so that others come to their locks.
	retryPause = 500 * time.Millisecond
	busyPause  = 5 * time.Millisecond
)

// Debts are the parts of a Debtor.
type Debts struct {
	Clock      clock.Clock
	StoreClock clock.StoreClock
	// Leads tells whether this node does the tasks of the leader.
	Leads func() bool
	// Pay pays what is owed up to a moment. leads: what is due by the time alone is to be paid, too. left says that rows
	// stay which another look may take at once.
	Pay func(ctx context.Context, until time.Time, leads bool) (left bool, err error)
	// Note is told how each turn ended.
	Note func(err error)
}

// Debtor pays what commits owe: at once what this process owes, and on the leader what others have left. Wake is safe
// for concurrent use; Run is one loop.
type Debtor struct {
	debts Debts
	loop  Loop
	// woken: this process has added rows since the last look.
	woken atomic.Bool
}

// NewDebtor wires the parts.
func NewDebtor(debts Debts) *Debtor {
	d := &Debtor{debts: debts}
	d.loop = Loop{
		Signal: NewSignal(), Clock: debts.Clock, Leads: func() bool { return true }, Interval: DebtInterval, Turn: d.turn,
	}
	return d
}

// Wake makes the debtor look at once, after a commit that added rows.
func (d *Debtor) Wake() {
	d.woken.Store(true)
	d.loop.Wake()
}

// Run pays until ctx ends.
func (d *Debtor) Run(ctx context.Context) { d.loop.Run(ctx) }

func (d *Debtor) turn(ctx context.Context, _ int) Next {
	until, leads := d.debts.StoreClock.Now(), d.debts.Leads()
	switch {
	case d.woken.Swap(false):
	case leads:
		until = until.Add(-debtGrace)
	default:
		d.debts.Note(nil)
		return Next{Wait: DebtInterval}
	}
	var left bool
	err := batch.Guard(func() (err error) {
		left, err = d.debts.Pay(ctx, until, leads)
		return err
	})
	if ctx.Err() == nil {
		d.debts.Note(err)
	}
	switch {
	case err != nil:
		d.woken.Store(true)
		return Next{Wait: retryPause, Failed: true}
	case left:
		d.woken.Store(true)
		return Next{Wait: busyPause}
	}
	return Next{Wait: DebtInterval}
}
