// Package admit bounds calls that cost much: how many of them a user, and a node, has at once.
package admit

import (
	"fmt"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// retrySec is when a caller that was refused may come again.
const retrySec = 5

// Bounds are those of one kind of call.
type Bounds struct {
	// The field What names the calls in refusals, such as "dry runs"; Code is the code of a refusal.
	What, Code string
	// User and Node are how many there may be at once of one user, and on this node.
	User, Node int
	// Refused is called at each refusal; nil is nobody. It must not wait.
	Refused func()
}

// Gate lets calls in. Safe for concurrent use.
type Gate struct {
	bounds Bounds
	mu     sync.Mutex
	users  map[string]int
	all    int
}

// New makes a gate that nobody has passed.
func New(b Bounds) *Gate { return &Gate{bounds: b, users: map[string]int{}} }

// Enter lets a call of a user in, until leave is called; that may be called more than once. It
// does not wait: where the bounds are reached the error is an apperror.KindTooMany.
func (g *Gate) Enter(user string) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.users[user] >= g.bounds.User:
		return nil, g.refuse("you have %d %s under way, which is the most of one user: wait for an end", g.bounds.User)
	case g.all >= g.bounds.Node:
		return nil, g.refuse("this node does %d %s already, which is the most: try again in a moment", g.bounds.Node)
	}
	g.users[user]++
	g.all++
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.all--
		if g.users[user]--; g.users[user] == 0 {
			delete(g.users, user)
		}
	}), nil
}

func (g *Gate) refuse(format string, n int) error {
	if g.bounds.Refused != nil {
		g.bounds.Refused()
	}
	return &apperror.Error{
		Kind: apperror.KindTooMany, Code: g.bounds.Code, Message: fmt.Sprintf(format, n, g.bounds.What),
		RetryAfterSec: retrySec,
	}
}
