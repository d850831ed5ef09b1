package delivery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func run(execution string, token int64, kind entity.SlotKind) delivery.Run {
	return delivery.Run{Attempt: delivery.Attempt{Execution: execution, Token: token}, Kind: kind}
}

func TestAnAttemptIsNamedByExecutionAndToken(t *testing.T) {
	a, ok := delivery.ParseAttempt("019aa7c2-1b2c:17")
	require.True(t, ok)
	require.Equal(t, delivery.Attempt{Execution: "019aa7c2-1b2c", Token: 17}, a)
	for _, s := range []string{"", "x", ":1", "x:", "x:0", "x:-1", "x:+1", "x:01", "x:9223372036854775808"} {
		_, ok := delivery.ParseAttempt(s)
		require.False(t, ok, s)
	}
}

// V6 of the design, clamp(5 s … 20 s), 3 beats and 5 s; 10,000 workers make 500 calls a second.
func TestTheTimingGrowsWithTheWorkers(t *testing.T) {
	for workers, beat := range map[int]time.Duration{0: 5, 2000: 5, 4000: 10, 8000: 20, 10_000: 20} {
		got := delivery.TimingFor(workers)
		require.Equal(t, beat*time.Second, got.Beat, workers)
		require.Equal(t, 3*beat*time.Second+5*time.Second, got.Lease, workers)
	}
}

func TestAPollThatComesTwiceGetsTheSameAnswer(t *testing.T) {
	s := delivery.NewSession(3)
	require.Equal(t, delivery.ArrivalForeign, s.Poll(delivery.Poll{Epoch: 2, Seq: 1}, 0))
	require.Equal(t, delivery.ArrivalNew, s.Poll(delivery.Poll{Epoch: 3, Seq: 5, Free: entity.Slots{1, 2}}, 0))
	require.True(t, s.Unread())
	require.Zero(t, s.Credits(), "nothing is claimed before the read")
	require.False(t, s.Held(4, nil), "a read for an older poll says nothing")
	require.True(t, s.Held(5, []delivery.Run{run("a", 1, entity.SlotCommand)}))
	require.Equal(t, entity.Slots{1, 1}, s.Credits())
	require.Equal(t, int64(5), s.Claiming())
	require.Zero(t, s.Credits(), "a claim is under way")
	s.Claimed(5, []delivery.Run{run("b", 2, entity.SlotGeneral)}, true)
	first := s.Answer()
	require.Len(t, first.Runs, 2)
	s.Stored(5, 20*time.Second)
	require.Equal(t, delivery.ArrivalRepeated, s.Poll(delivery.Poll{Epoch: 3, Seq: 5}, 0))
	require.Equal(t, first, s.Answer())
	require.Equal(t, delivery.ArrivalOutdated, s.Poll(delivery.Poll{Epoch: 3, Seq: 4}, 0))
}

func TestNothingIsClaimedForACallThatBrokeOff(t *testing.T) {
	s := delivery.NewSession(1)
	poll := delivery.Poll{Epoch: 1, Seq: 1, Free: entity.Slots{2}}
	s.Poll(poll, 0)
	require.True(t, s.Held(1, nil))
	s.Gone(2)
	require.Equal(t, entity.Slots{2}, s.Credits(), "that was another poll")
	s.Poll(poll, 0) // it was sent again, while the first call still seems to wait
	s.Gone(1)
	require.Equal(t, entity.Slots{2}, s.Credits(), "one call waits")
	s.Gone(1)
	require.Zero(t, s.Credits())
	s.Gone(1)
	require.Equal(t, delivery.ArrivalRepeated, s.Poll(poll, 0))
	require.Equal(t, entity.Slots{2}, s.Credits(), "the worker is back")
	s.Gone(1)
	s.Poll(delivery.Poll{Epoch: 1, Seq: 2, Free: entity.Slots{1}}, 0)
	require.True(t, s.Held(2, nil))
	s.Gone(1)
	require.Equal(t, entity.Slots{1}, s.Credits(), "a new poll waits")
}

func TestMemorySparesTheReadOnlyWhereItSuffices(t *testing.T) {
	s := delivery.NewSession(1)
	s.Poll(delivery.Poll{Epoch: 1, Seq: 1}, 0)
	s.Held(1, nil)
	s.Answer()
	s.Poll(delivery.Poll{Epoch: 1, Seq: 2, Ack: 1, Free: entity.Slots{1}}, 0)
	require.False(t, s.Unread())
	seq := s.Claiming()
	s.Poll(delivery.Poll{Epoch: 1, Seq: 3, Ack: 1, Free: entity.Slots{1}}, 0)
	require.True(t, s.Unread(), "the answer to poll 2 was not given")
	s.Held(3, nil)
	s.Claimed(seq, []delivery.Run{run("a", 1, entity.SlotGeneral)}, true)
	require.Empty(t, s.Answer().Runs, "a claim for an older poll is not delivered without a read")
	s.Poll(delivery.Poll{Epoch: 1, Seq: 4, Ack: 3}, 0)
	require.True(t, s.Unread())
}

func TestAnAnswerIsBoundedAndTheRestComesNext(t *testing.T) {
	s := delivery.NewSession(1)
	s.Poll(delivery.Poll{Epoch: 1, Seq: 1}, 0)
	var runs []delivery.Run
	for i := range delivery.MaxRuns + 1 {
		runs = append(runs, run("a", int64(i+1), entity.SlotGeneral))
	}
	s.Held(1, runs)
	require.Len(t, s.Answer().Runs, delivery.MaxRuns)
	s.Poll(delivery.Poll{Epoch: 1, Seq: 2, Ack: 1}, 0)
	require.True(t, s.Unread())
}

func TestABeatThatWaitedIsDropped(t *testing.T) {
	s := delivery.NewSession(1)
	s.Poll(delivery.Poll{Epoch: 1, Seq: 1}, time.Minute)
	_, ok := s.Beat(time.Minute + 2*time.Second)
	require.True(t, ok)
	_, ok = s.Beat(time.Minute + 2*time.Second + 1)
	require.False(t, ok)
	require.Zero(t, s.Answer().Lease, "no beat is stored: the answer renews nothing")
}

func TestALeaseIsTakenOverWhenItsTimeHasCome(t *testing.T) {
	timing := delivery.TimingFor(1)
	var none delivery.Registration
	r, ok := none.Register("a", timing, start)
	require.True(t, ok)
	require.Equal(t, int64(1), r.Epoch)
	again, ok := r.Register("a", timing, start.Add(time.Second))
	require.True(t, ok)
	require.Equal(t, int64(1), again.Epoch)

	_, ok = r.Register("b", timing, start.Add(12499*time.Millisecond))
	require.False(t, ok)
	next, ok := r.Register("b", timing, start.Add(12500*time.Millisecond))
	require.True(t, ok)
	require.Equal(t, int64(2), next.Epoch)
	require.False(t, next.Lost(1, start.Add(20*time.Second)))
	require.True(t, next.Lost(1, start.Add(20*time.Second+1)))
	require.False(t, next.Lost(2, start.Add(time.Hour)))
	_, ok = next.Beat(1, timing, start)
	require.False(t, ok)
	third, ok := next.Register("c", timing, start.Add(time.Hour))
	require.True(t, ok)
	require.Equal(t, next.LeaseUntil, third.FormerUntil)

	left := r.Leave(1)
	require.True(t, left.Lost(1, start))
	after, ok := left.Register("b", timing, start)
	require.True(t, ok)
	require.True(t, after.Lost(1, start), "who left holds nothing")
}

func TestALeaseNeverGetsShorter(t *testing.T) {
	r, _ := delivery.Registration{}.Register("a", delivery.TimingFor(10_000), start)
	r, _ = r.Beat(1, delivery.TimingFor(1), start.Add(time.Second))
	require.Equal(t, start.Add(66*time.Second), r.LeaseUntil)
	require.Equal(t, 5*time.Second, r.Timing.Beat)
}

func TestAWorkerIsDownAfterTwoLooksByANodeWithoutAGap(t *testing.T) {
	r, _ := delivery.Registration{}.Register("a", delivery.TimingFor(1), start)
	node, over := 15*time.Second, start.Add(20*time.Second+time.Millisecond)
	first, down := r.Expired(delivery.Over{}, over, 35*time.Second, node)
	require.False(t, down)
	_, down = r.Expired(first, over, 35*time.Second-1, node)
	require.False(t, down, "the store may have been away for all")
	second, down := r.Expired(first, over, 35*time.Second, node)
	require.True(t, down)
	beaten, _ := r.Beat(1, delivery.TimingFor(1), over)
	_, ok := beaten.Down(second)
	require.False(t, ok)
	r, ok = r.Down(second)
	require.True(t, ok)
	require.True(t, r.Lost(1, over))
	_, ok = r.Beat(1, delivery.TimingFor(1), over)
	require.False(t, ok)
	again, ok := r.Register("a", delivery.TimingFor(1), over)
	require.True(t, ok)
	require.Equal(t, int64(2), again.Epoch, "what the former epoch held is lost")
}

func TestHoldNeedsNodesThatCannotBeatEither(t *testing.T) {
	require.Equal(t, 25*time.Second, delivery.HoldUntil(time.Minute, 10*time.Second, 15*time.Second))
	require.Equal(t, 20*time.Second, delivery.HoldUntil(20*time.Second, 10*time.Second, 15*time.Second))
	s := delivery.NewSession(1)
	s.Poll(delivery.Poll{Epoch: 1, Seq: 1}, 0)
	_, ok := s.Hold(25*time.Second, 25*time.Second)
	require.False(t, ok)
	a, ok := s.Hold(24*time.Second, 25*time.Second)
	require.True(t, ok)
	require.True(t, a.Hold)
}

func TestAnEndGetsItsReceipt(t *testing.T) {
	end := delivery.End{
		Worker: "@w", Epoch: 2, Attempt: delivery.Attempt{Execution: "a", Token: 7},
		Status: entity.StatusFailed, Reason: "PANIC",
	}
	row := func(status entity.Status, token, epoch int64, reason entity.Reason) *entity.Execution {
		return &entity.Execution{NodeID: "@w", Epoch: epoch, Token: token, Status: status, Reason: reason}
	}
	for name, c := range map[string]struct {
		found delivery.Found
		want  delivery.Receipt
	}{
		"the store is away": {delivery.Found{}, delivery.ReceiptRetry},
		"stored":            {delivery.Found{Decided: true, Stored: true}, delivery.ReceiptAccepted},
		"still running": {
			delivery.Found{Decided: true, Execution: row(entity.StatusRunning, 7, 2, "")}, delivery.ReceiptRetry,
		},
		"running elsewhere": {
			delivery.Found{Decided: true, Execution: row(entity.StatusRunning, 8, 2, "")}, delivery.ReceiptStale,
		},
		"stored before": {
			delivery.Found{Decided: true, Execution: row(entity.StatusFailed, 7, 2, "PANIC")}, delivery.ReceiptDuplicate,
		},
		"stored before, as the last failure": {
			delivery.Found{Decided: true, Execution: row(entity.StatusDead, 7, 2, "PANIC")}, delivery.ReceiptDuplicate,
		},
		"another reason": {
			delivery.Found{Decided: true, Execution: row(entity.StatusFailed, 7, 2, "NODE_LOST")}, delivery.ReceiptStale,
		},
		"in the record of the attempt": {
			delivery.Found{
				Decided: true, Execution: row(entity.StatusRunning, 8, 2, ""),
				Attempts: []entity.Attempt{{Status: entity.StatusFailed, Reason: "PANIC"}},
			}, delivery.ReceiptDuplicate,
		},
		"no row": {delivery.Found{Decided: true}, delivery.ReceiptStale},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, delivery.ReceiptFor(end, c.found)) })
	}
}
