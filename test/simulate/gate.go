package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/test/answer"
)

// errGone is what a connection says that has ended, errDead what a dead node sees: nothing is tried again.
var (
	errGone = fmt.Errorf("the connection has ended: %w", io.ErrUnexpectedEOF)
	errDead = errors.New("the node is dead")
)

// gate is the way of one life of a node to the store. While the node is frozen, or the store is silent, nothing begins;
// a transaction that has begun goes on to its end, as SQLite has one writer. Safe for concurrent use.
type gate struct {
	clock *nodeClock
	// writing has one place: that of the writer of the store, whichever node it is.
	writing chan struct{}
	gone    chan struct{}
	// dies ends the node, when it dies inside of a transaction.
	dies func()

	mu     sync.Mutex
	silent chan struct{} // nil, or closed when the store answers again
	// left is how many statements of write transactions the node lives on; 0: for ever. behind: it dies behind the
	// last one.
	left   int
	behind bool
	dead   bool
}

// silence keeps the store from answering, until the end is called.
func (g *gate) silence() (end func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wait := make(chan struct{})
	g.silent = wait
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.silent == wait {
			g.silent = nil
		}
		close(wait)
	})
}

// strike has the node die at one of the next statements of its transactions.
func (g *gate) strike(random *rand.Rand) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left, g.behind = 1+random.IntN(40), random.IntN(2) == 0
}

// spare ends a strike that was not met.
func (g *gate) spare() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = 0
}

// kill ends all connections at once: those that wait, too.
func (g *gate) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.dead {
		g.dead = true
		close(g.gone)
	}
}

func (g *gate) over() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

// open waits until the node can act and the store answers.
func (g *gate) open(ctx context.Context) error {
	for {
		g.mu.Lock()
		wait := (<-chan struct{})(g.silent)
		dead := g.dead
		g.mu.Unlock()
		if dead {
			return errDead
		}
		if thawed := g.clock.thawed(); thawed != nil {
			select { // a frozen process does not see that its time is over
			case <-thawed:
			case <-g.gone:
			}
			continue
		}
		if wait == nil {
			return nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return apperror.Unavailable(ctx.Err())
		case <-g.gone:
		}
	}
}

// struck counts a statement of a transaction, and tells whether the node dies at it.
func (g *gate) struck() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left == 0 || g.dead {
		return false
	}
	g.left--
	if g.left > 0 {
		return false
	}
	g.dead = true
	close(g.gone)
	go g.dies()
	return true
}

// The statements that begin and end the transactions of SQLite's writer.
const (
	begin    = "BEGIN IMMEDIATE"
	commit   = "COMMIT"
	rollback = "ROLLBACK"
)

// Statement implements answer.Wire.
func (g *gate) Statement(ctx context.Context, s *answer.Session, query string, pass, undo func() error) error {
	if !s.Writes {
		if err := g.open(ctx); err != nil {
			return err
		}
		if query != begin {
			return pass()
		}
		select {
		case g.writing <- struct{}{}:
		case <-g.gone:
			return errDead
		}
		if err := pass(); err != nil {
			<-g.writing
			return err
		}
		s.Writes = true
		return nil
	}
	struck := g.struck()
	if g.over() && !(struck && g.behind) {
		_ = undo()
		g.Closed(s)
		return errDead
	}
	err := pass()
	if struck || query == commit || query == rollback {
		if struck || err != nil {
			_ = undo() // it may be over already
		}
		g.Closed(s)
	}
	if struck {
		return errDead
	}
	return err
}

// Closed implements answer.Wire.
func (g *gate) Closed(s *answer.Session) {
	if s.Writes {
		s.Writes = false
		<-g.writing
	}
}
