package delivery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/delivery"
)

// Rows that the store dated while its clock was off may be in another order, by that step and no more.
func TestAStepOfTheStoresClockExcusesItsDatesAlone(t *testing.T) {
	spoiled := func(step delivery.Fault) []string {
		h := good()
		h.Faults = append(h.Faults, step)
		h.Alerts[1].Start = at(4)                                       // before the end of the former
		h.Deliveries[1].Start, h.Deliveries[1].End = at(8+15), at(9+15) // the receipt says 8
		return delivery.Check(h)
	}
	step := delivery.Fault{Kind: "step", From: at(7), Until: at(10), Step: at(15).Sub(at(0))}
	require.Empty(t, spoiled(step))
	step.Step = at(10).Sub(at(0))
	require.Len(t, spoiled(step), 1, "it was off by less than the receipt shows")
	step.From, step.Until = at(100), at(110)
	require.Len(t, spoiled(step), 2, "it was off at another time")
}

// A receiver answers late, and the store's clock is set back meanwhile: the attempt ends before it began.
func TestAnAttemptMayEndByAnotherClock(t *testing.T) {
	spoiled := func(step delivery.Fault) []string {
		h := good()
		h.Faults = append(h.Faults, step)
		h.Deliveries[1].End = at(16 - 15)
		return delivery.Check(h)
	}
	step := delivery.Fault{Kind: "step", From: at(15), Until: at(25), Step: at(15).Sub(at(0))}
	require.Empty(t, spoiled(step))
	step.From = at(30)
	step.Until = at(40)
	require.Len(t, spoiled(step), 1, "no sender waits so long")
}
