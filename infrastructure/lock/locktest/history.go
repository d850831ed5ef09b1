package locktest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/test/randtest"
)

// The size of a random history.
const (
	historyClients = 8
	historyNames   = 3
	historySteps   = 60
	checkTimeout   = 20 * time.Second
)

// action is one call of a history, and result what it returned. token is that
// of the lease that is renewed or released, or of the one that was granted.
type action struct {
	op    string
	name  string
	token int64
}

type result struct {
	ok    bool
	token int64
}

// register is one lock of the model: the token that holds it (0: free) and the
// highest that was ever granted.
type register struct{ held, last int64 }

// doubtful is step for a lock that may be refused although it is free.
func doubtful(state, input, output any) (bool, any) {
	if input.(action).op == "lock" && !output.(result).ok {
		return true, state
	}
	return step(state, input, output)
}

// step says whether a lock in that state may answer so. No lease runs out
// within a history.
func step(state, input, output any) (bool, any) {
	s, in, out := state.(register), input.(action), output.(result)
	switch {
	case in.op == "lock" && out.ok:
		return s.held == 0 && out.token > s.last, register{held: out.token, last: out.token}
	case in.op == "lock":
		return s.held != 0, s
	case out.ok != (s.held == in.token):
		return false, s
	case in.op == "unlock" && out.ok:
		return true, register{last: s.last}
	default:
		return true, s
	}
}

func byName(history []porcupine.Operation) (parts [][]porcupine.Operation) {
	at := map[string]int{}
	for _, o := range history {
		name := o.Input.(action).name
		if _, ok := at[name]; !ok {
			at[name], parts = len(parts), append(parts, nil)
		}
		parts[at[name]] = append(parts[at[name]], o)
	}
	return parts
}

// Linearizable lets eight clients lock, renew and release three locks at
// random, also with leases that are over, and checks that one order of the
// calls explains all answers. The seed of the choices is logged.
func Linearizable(t *testing.T, one, two repository.Locker) { check(t, one, two, step) }

// Exclusive is Linearizable for a locker that may refuse a lock although it is
// free: what it grants must be explained, and what it refuses need not.
func Exclusive(t *testing.T, one, two repository.Locker) { check(t, one, two, doubtful) }

func check(t *testing.T, one, two repository.Locker, step func(state, input, output any) (bool, any)) {
	t.Helper()
	seed := randtest.Seed(t)
	start := time.Now()
	histories := make([][]porcupine.Operation, historyClients)
	clients := make([]*client, historyClients)
	var history []porcupine.Operation
	for n := range clients {
		l := one
		if n%2 == 1 {
			l = two
		}
		clients[n] = &client{t: t, id: n, locker: l, start: start, random: rand.New(rand.NewPCG(seed, uint64(n)))}
		history = append(history, clients[n].once()...)
	}
	var wg sync.WaitGroup
	for n, c := range clients {
		wg.Go(func() { histories[n] = c.run() })
	}
	wg.Wait()
	granted := 0
	for _, h := range histories {
		history = append(history, h...)
	}
	for _, o := range history {
		if o.Input.(action).op == "lock" && o.Output.(result).ok {
			granted++
		}
	}
	require.Greater(t, granted, historyClients, "the locks change hands")
	model := porcupine.Model{Partition: byName, Init: func() any { return register{} }, Step: step}
	require.Equal(t, porcupine.Ok, porcupine.CheckOperationsTimeout(model, history, checkTimeout),
		"%d calls, %d locks taken, seed %d", len(history), granted, seed)
}

// client makes one of the histories.
type client struct {
	t      *testing.T
	id     int
	locker repository.Locker
	start  time.Time
	random *rand.Rand
	leases []repository.Lease
}

// once takes and releases each lock while nobody else asks. So the locks change hands, however
// the calls of run meet.
func (c *client) once() (history []porcupine.Operation) {
	for n := range historyNames {
		history = c.do(history, action{op: "lock", name: nameOf(n)}, repository.Lease{})
		if len(c.leases) == 0 {
			continue
		}
		lease := c.leases[0]
		c.leases = nil
		history = c.do(history, action{op: "unlock", name: lease.Name, token: lease.Token}, lease)
	}
	return history
}

func (c *client) run() (history []porcupine.Operation) {
	for range historySteps {
		in := action{op: "lock", name: nameOf(c.random.IntN(historyNames))}
		var lease repository.Lease
		if len(c.leases) > 0 && c.random.IntN(3) > 0 {
			lease = c.leases[max(0, len(c.leases)-1-c.random.IntN(3))]
			in = action{op: []string{"renew", "unlock", "unlock"}[c.random.IntN(3)], name: lease.Name, token: lease.Token}
		}
		history = c.do(history, in, lease)
		if c.t.Failed() {
			return history
		}
	}
	return history
}

func nameOf(n int) string { return fmt.Sprint("history-", n) }

// do makes one call and adds it to the history.
func (c *client) do(history []porcupine.Operation, in action, lease repository.Lease) []porcupine.Operation {
	called := time.Since(c.start)
	out, err := c.call(in, lease)
	returned := time.Since(c.start)
	if err != nil {
		c.t.Errorf("%s %s: %v", in.op, in.name, err)
		return history
	}
	return append(history, porcupine.Operation{
		ClientId: c.id, Input: in, Output: out, Call: int64(called), Return: int64(returned),
	})
}

func (c *client) call(in action, lease repository.Lease) (out result, err error) {
	ctx := c.t.Context()
	switch in.op {
	case "renew":
		out.ok, err = c.locker.Renew(ctx, lease, long)
	case "unlock":
		out.ok, err = c.locker.Unlock(ctx, lease)
	default:
		lease, out.ok, err = c.locker.TryLock(ctx, in.name, fmt.Sprint("client-", c.id), long)
		if out.token = lease.Token; out.ok {
			c.leases = append(c.leases, lease)
		}
	}
	return out, err
}
