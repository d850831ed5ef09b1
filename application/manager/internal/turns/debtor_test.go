package turns_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

type storeTime struct{}

func (storeTime) Now() time.Time { return time.Now() }

// look is one call of Pay: how far it reaches back, and how long after the one before.
type look struct {
	after, grace time.Duration
	leads        bool
}

// debtor runs one in a bubble: pay answers each look.
func debtor(t *testing.T, leads *atomic.Bool, pay func() (bool, error)) (
	d *turns.Debtor, looks *[]look, noted *[]error,
) {
	looks, noted = &[]look{}, &[]error{}
	last := time.Now()
	d = turns.NewDebtor(turns.Debts{
		Clock: clock.NewSystem(), StoreClock: storeTime{}, Leads: leads.Load,
		Pay: func(_ context.Context, until time.Time, leads bool) (bool, error) {
			now := time.Now()
			*looks = append(*looks, look{now.Sub(last), now.Sub(until), leads})
			last = now
			return pay()
		},
		Note: func(err error) { *noted = append(*noted, err) },
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		d.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return d, looks, noted
}

// A node pays at once what it owes itself. Rows of others are those of the leader, once their own process has had time.
func TestADebtorLeavesRowsToTheProcessThatMadeThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var leads atomic.Bool
		d, looks, noted := debtor(t, &leads, func() (bool, error) { return false, nil })
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		require.Empty(t, *looks)
		require.Equal(t, []error{nil, nil, nil}, *noted, "the loop of a node that does not lead goes on")
		d.Wake()
		synctest.Wait()
		require.Equal(t, []look{{2500 * time.Millisecond, 0, false}}, *looks)
		leads.Store(true)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []look{{time.Second, time.Second, true}}, (*looks)[1:])
	})
}

// A look that left rows, or failed, has another one soon, without the grace.
func TestADebtorGoesOnWhileRowsAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var leads atomic.Bool
		leads.Store(true)
		refused := errors.New("refused")
		answers := []func() (bool, error){
			func() (bool, error) { return true, nil }, func() (bool, error) { return false, refused },
			func() (bool, error) { panic("it breaks") }, func() (bool, error) { return false, nil },
		}
		_, looks, noted := debtor(t, &leads, func() (bool, error) {
			next := answers[0]
			answers = append(answers[1:], next)
			return next()
		})
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, []look{
			{0, time.Second, true},
			{5 * time.Millisecond, 0, true},
			{500 * time.Millisecond, 0, true},
			{500 * time.Millisecond, 0, true},
		}, *looks)
		require.NoError(t, (*noted)[0])
		require.ErrorIs(t, (*noted)[1], refused)
		require.ErrorContains(t, (*noted)[2], "it breaks")
		require.NoError(t, (*noted)[3])
	})
}
