package attempts_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

const second = attempts.Instant(time.Second)

func life() attempts.Life {
	return attempts.Begin(attempts.Entry{Epoch: 4, Lease: 20 * time.Second, Slots: attempts.Slots{1, 1}}, 100*second)
}

func run(name string) attempts.Run {
	return attempts.Run{Attempt: attempts.Attempt{Execution: name, Token: 1}}
}

func TestRunsComeFromTheAnswerToTheNewestPollOnce(t *testing.T) {
	l := life()
	l.Poll(100 * second)
	l.Poll(101 * second)
	require.Empty(t, l.Answer(attempts.Answer{Seq: 1, Runs: []attempts.Run{run("a")}}, 101*second).Begin)
	answer := attempts.Answer{Seq: 2, Runs: []attempts.Run{run("a"), run("b")}}
	require.Equal(t, []attempts.Run{run("a")}, l.Answer(answer, 101*second).Begin)
	require.Empty(t, l.Answer(answer, 101*second).Begin)
	require.Equal(t, []attempts.End{{Attempt: run("b").Attempt, Status: attempts.Returned}}, l.Ends(), "no slot is free")
	p := l.Poll(102 * second)
	require.Equal(t, attempts.Slots{0, 1}, p.Free)
	require.Equal(t, []attempts.Attempt{run("a").Attempt, run("b").Attempt}, p.Running)
	require.Equal(t, int64(2), p.Ack)
}

func TestAnEndIsHeldUntilItsReceiptAndRememberedForTwoLeases(t *testing.T) {
	l := life()
	l.Poll(100 * second)
	l.Answer(attempts.Answer{Seq: 1, Runs: []attempts.Run{run("a")}}, 100*second)
	l.End(run("a").Attempt, "SUCCESS")
	l.Receipts([]attempts.Receipt{{Attempt: run("a").Attempt, Kind: attempts.Retry}}, 101*second)
	require.Len(t, l.Ends(), 1)
	require.Equal(t, 0, l.Poll(101 * second).Free[attempts.General])
	l.Receipts([]attempts.Receipt{{Attempt: run("a").Attempt, Kind: "STALE"}}, 101*second)
	require.Empty(t, l.Ends())
	for _, c := range []struct {
		at     attempts.Instant
		begins int
	}{{110 * second, 0}, {125 * second, 0}, {140*second + second - 1, 0}, {141 * second, 1}} {
		p := l.Poll(c.at)
		w := l.Answer(attempts.Answer{
			Seq: p.Seq, LeaseSeq: p.Seq, Lease: 20 * time.Second, Runs: []attempts.Run{run("a")},
		}, c.at)
		require.Len(t, w.Begin, c.begins, c.at)
	}
}

func TestTheLeaseCountsFromTheStoredCall(t *testing.T) {
	l := life()
	require.Equal(t, 120*second, l.Until())
	l.Poll(105 * second)
	l.Poll(110 * second)
	l.Answer(attempts.Answer{Seq: 1, LeaseSeq: 1, Lease: 20 * time.Second}, 119*second)
	require.Equal(t, 125*second, l.Until(), "an older answer renews, too")
	l.Answer(attempts.Answer{Seq: 2, LeaseSeq: 0}, 119*second)
	require.Equal(t, 125*second, l.Until(), "a gateway without memory renews nothing")
	l.Poll(120 * second)
	l.Answer(attempts.Answer{Seq: 3, Hold: true}, 121*second)
	require.Equal(t, 140*second, l.Until())
	require.False(t, l.Over(140*second-1))
	require.True(t, l.Over(140*second))
	require.True(t, l.Over(0), "it stays over")
	require.Nil(t, l.Ends(), "nothing of it is sent any more")
}

func TestSleepCounts(t *testing.T) {
	require.Zero(t, attempts.Asleep(12*time.Second, 10*time.Second))
	gap := attempts.Asleep(14*time.Second, 10*time.Second)
	require.Equal(t, 4*time.Second, gap)
	l := life()
	l.Poll(101 * second)
	l.Slept(gap)
	require.Equal(t, 116*second, l.Until())
	w := l.Answer(attempts.Answer{
		Seq: 1, LeaseSeq: 1, Lease: 20 * time.Second, Runs: []attempts.Run{run("a")},
	}, 102*second)
	require.Empty(t, w.Begin)
	require.Equal(t, 117*second, l.Until())
	require.Len(t, l.Ends(), 1, "it goes back")
}

func TestAWorkerThatDrainsGivesBackAndLeaves(t *testing.T) {
	l := life()
	l.Poll(100 * second)
	l.Stop()
	_, ok := l.Leave()
	require.True(t, ok)
	require.True(t, l.Over(100*second))
	l = life()
	l.Stop()
	p := l.Poll(100 * second)
	require.True(t, p.Stopping)
	require.Zero(t, p.Free)
	require.Empty(t, l.Answer(attempts.Answer{Seq: 1, Runs: []attempts.Run{run("a")}}, 100*second).Begin)
	_, ok = l.Leave()
	require.False(t, ok)
	l.Receipts([]attempts.Receipt{{Attempt: run("a").Attempt, Kind: "ACCEPTED"}}, 100*second)
	epoch, ok := l.Leave()
	require.True(t, ok)
	require.Equal(t, int64(4), epoch)
}

// A life that is never copied remembers just what one does that is.
func TestAnOwnLifeDoesTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	entry := attempts.Entry{Epoch: 1, Lease: 10 * time.Second, Slots: attempts.Slots{3, 0}}
	copied, own := attempts.Begin(entry, 0), attempts.Begin(entry, 0)
	own.Own()
	now, begun, again := attempts.Instant(0), 0, 0
	for range 20_000 {
		now += attempts.Instant(random.Int64N(int64(time.Second)))
		p := copied.Poll(now)
		require.Equal(t, p, own.Poll(now))
		answer := attempts.Answer{Seq: p.Seq, LeaseSeq: p.Seq, Lease: 10 * time.Second}
		for range random.IntN(3) {
			answer.Runs = append(answer.Runs, run(strconv.Itoa(random.IntN(100))))
		}
		work := copied.Answer(answer, now)
		require.Equal(t, work, own.Answer(answer, now))
		begun += len(work.Begin)
		again += len(answer.Runs) - len(work.Begin)
		for _, a := range copied.Working() {
			if random.IntN(2) == 0 {
				copied.End(a, "SUCCESS")
				own.End(a, "SUCCESS")
			}
		}
		require.Equal(t, copied.Ends(), own.Ends())
		for _, e := range copied.Ends() {
			receipts := []attempts.Receipt{{Attempt: e.Attempt, Kind: []string{"ACCEPTED", attempts.Retry}[random.IntN(2)]}}
			copied.Receipts(receipts, now)
			own.Receipts(receipts, now)
		}
		require.ElementsMatch(t, copied.Ended, own.Ended)
	}
	require.Greater(t, begun, 1000)
	require.Greater(t, again, 1000)
}
