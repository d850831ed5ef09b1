package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// NodeReader reads the registry.
type NodeReader interface {
	// All lists it, by id.
	All(ctx context.Context) ([]entity.Node, error)
}

// Nodes is the registry, the one truth of membership (engine rule 25). Every
// beat and every registration is stamped with the store's own clock. A row is
// changed by statements that commit by themselves, so that nobody who freezes
// holds the lock of another's row; Register, of one's own row, is the exception.
type Nodes interface {
	// Register writes the node with its former epoch plus one, and returns that
	// epoch. It is UP. A life that comes back under its own epoch, which others have
	// declared over, is DRAINING where it was so when they did.
	Register(ctx context.Context, n entity.Node) (epoch int64, err error)
	// Connect opens the connection of the beats, where there is none. It may take long
	// while the store is away.
	Connect(ctx context.Context) error
	// Heartbeat refreshes roles, load and beat of the row if the epoch is still
	// ours and nobody has declared it DOWN; ok is false otherwise. It makes a
	// SUSPECT node UP again, and leaves a DRAINING one as it is.
	Heartbeat(ctx context.Context, n entity.Node) (ok bool, err error)
	// Mark changes the status of a node if its row still has this epoch and
	// this beat. cause is why, for DOWN.
	Mark(ctx context.Context, n entity.Node, status entity.NodeStatus, cause string) (ok bool, err error)
	// Drain keeps new runs away from a node, or lets them in again;
	// apperror.KindNotFound for an unknown one, apperror.KindConflict for one that is
	// DOWN.
	Drain(ctx context.Context, id string, draining bool) error
	// Leave marks the node DOWN at a stop in order.
	Leave(ctx context.Context, id string, epoch int64) error
	NodeReader
	// View lists the registry, by id, and the store's time of the look.
	View(ctx context.Context) (nodes []entity.Node, now time.Time, err error)
	// ForgetNodes removes nodes that are DOWN, have not beaten since that time,
	// run nothing and have nothing waiting in their queue. One that comes back
	// is a new one: its epochs begin at 1.
	ForgetNodes(ctx context.Context, before time.Time) (int, error)
}

// NodeTroubles keeps what of each node works less well than it should.
type NodeTroubles interface {
	// PutTrouble writes reasons by parts into the row of a node, if it still has that epoch.
	PutTrouble(ctx context.Context, id string, epoch int64, parts map[string]string) error
	// Troubles are those of the nodes that are not DOWN, by node.
	Troubles(ctx context.Context) (map[string]map[string]string, error)
}
