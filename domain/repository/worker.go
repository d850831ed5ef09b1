package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// WorkerBeat is a sign of life of a worker.
type WorkerBeat struct {
	ID    string
	Epoch int64
	// Running is how many runs of each kind it has.
	Running entity.Slots
	// Stopping: it gets no new runs from now on.
	Stopping bool
	// Beat and Lease hold from this beat on. The lease of a life never becomes shorter: it may count on a longer one that
	// it was told before.
	Beat, Lease time.Duration
}

// BeginWorker decides about a registration. former is the row as it is, nil where there is none; now is the store's
// time. It returns the row that is to be: epoch, status, former runs and beat are its business. An error refuses.
type BeginWorker func(former *worker.Worker, now time.Time) (worker.Worker, error)

// WorkerReader reads workers.
type WorkerReader interface {
	// Worker is one; apperror.KindNotFound where there is none.
	Worker(ctx context.Context, id string) (worker.Worker, error)
	// WorkersByID are those of the ids that there are, in no order.
	WorkersByID(ctx context.Context, ids []string) ([]worker.Worker, error)
	// WorkersAlive counts those that are not DOWN, and names those that drain.
	WorkersAlive(ctx context.Context) (alive int, draining []string, err error)
	// WorkersOf are those of a group that are not DOWN, by id, at most so many.
	WorkersOf(ctx context.Context, group string, limit int) ([]worker.Worker, error)
	// ListWorkers pages over all, or over those of a group or a status, by id.
	ListWorkers(ctx context.Context, group string, status worker.Status, p Page) (
		workers []worker.Worker, next string, err error)
}

// Workers keeps workers and their leases. Each time in it is the store's.
type Workers interface {
	WorkerReader
	// Register writes what begin makes of the row of a worker. Of a group there are never more than its MaxWorkers that
	// are not DOWN; one more is refused as apperror.KindConflict, and so is a worker of a group that is gone.
	RegisterWorker(ctx context.Context, id, group string, begin BeginWorker) (worker.Worker, error)
	// BeatWorkers renews leases by one statement. refused are the ids of those that have another epoch, or are DOWN.
	BeatWorkers(ctx context.Context, gateway string, beats []WorkerBeat) (refused []string, err error)
	// LeaveWorker makes a worker DOWN that stops in order; false where its life is over already.
	LeaveWorker(ctx context.Context, id string, epoch int64) (bool, error)
	// DrainWorker keeps new runs away from a worker, or lets them in again.
	DrainWorker(ctx context.Context, id string, draining bool) error
	// LateWorkers are those that have not beaten for at least shortest, and those whose former runs are owed an end; by
	// id, and the store's time of the look.
	LateWorkers(ctx context.Context, shortest time.Duration) (workers []worker.Worker, now time.Time, err error)
	// DownWorker makes a worker DOWN if its row still has this epoch and this beat.
	DownWorker(ctx context.Context, w worker.Worker) (bool, error)
	// ClearFormer notes that no former runs are owed any more, if the row still says the same of them.
	ClearFormer(ctx context.Context, w worker.Worker) error
	// ForgetWorkers removes workers that are DOWN, have not beaten since that time, owe nothing, and have no run that
	// waits for them; and lists of handlers that no worker offers.
	ForgetWorkers(ctx context.Context, before time.Time) (int, error)
}

// WorkerCount is how many workers a worker group has in each state.
type WorkerCount struct {
	Group string
	// JobGroups are those whose jobs may name the worker group.
	JobGroups          []string
	Up, Draining, Down int
}

// WorkerCounts counts workers.
type WorkerCounts interface {
	// CountWorkers counts those of each worker group, by name, also where there are none.
	CountWorkers(ctx context.Context) ([]WorkerCount, error)
}

// WorkerGroupHolder is for transactions that store jobs of workers.
type WorkerGroupHolder interface {
	// HoldWorkerGroup is a worker group that nobody changes before the transaction ends; apperror.KindNotFound where there
	// is none. Whoever locks rows of jobs does it before.
	HoldWorkerGroup(ctx context.Context, name string) (worker.Group, error)
}

// WorkerLister reads a worker group and its workers inside of a transaction.
type WorkerLister interface {
	// WorkerGroup is one; apperror.KindNotFound where there is none.
	WorkerGroup(ctx context.Context, name string) (worker.Group, error)
	// WorkersOf are those of a group that are not DOWN, by id, at most so many.
	WorkersOf(ctx context.Context, group string, limit int) ([]worker.Worker, error)
}

// MaxStranded is how many jobs StrandJobs is told at most.
const MaxStranded = 21

// StrandJobs decides whether a worker group may leave jobs behind that name it and that its workers would not run any
// more. They come by id, with id, name, group and type alone. An error keeps the group as it is, and nil as a function
// lets it go. It is asked in the transaction, and until that ends no other job can name the group.
type StrandJobs func(jobs []*entity.Job) error

// WorkerGroups keeps worker groups and their tokens.
type WorkerGroups interface {
	WorkerCounts
	// WorkerGroup is one; apperror.KindNotFound where there is none.
	WorkerGroup(ctx context.Context, name string) (worker.Group, error)
	// WorkerGroups lists all, by name.
	WorkerGroups(ctx context.Context) ([]worker.Group, error)
	// PutWorkerGroup makes a group, or changes it where its version is that of g; version 0 makes. Otherwise it is
	// apperror.KindConflict. strand hears of the jobs that the former group ran and this one does not; where there may be
	// such, all jobs are read.
	PutWorkerGroup(ctx context.Context, g worker.Group, strand StrandJobs) (worker.Group, error)
	// DropWorkerGroup deletes a group with its tokens. strand hears of all jobs that name it; all jobs are read. One with
	// workers that are not DOWN is refused as apperror.KindConflict.
	DropWorkerGroup(ctx context.Context, name string, strand StrandJobs) error
	// AddWorkerToken adds a token to a group; most is how many of it may be valid at once.
	AddWorkerToken(ctx context.Context, t worker.Token, most int) error
	// WorkerTokenByHash is the token of a hash that has not expired; apperror.KindNotFound else.
	WorkerTokenByHash(ctx context.Context, hash string, now time.Time) (worker.Token, error)
	// WorkerTokens are those of a group, expired ones too, by id; of all groups where it is empty.
	WorkerTokens(ctx context.Context, group string) ([]worker.Token, error)
	// DropWorkerToken revokes a token and returns it.
	DropWorkerToken(ctx context.Context, group, id string) (worker.Token, error)
	// UseWorkerToken notes when a token was used.
	UseWorkerToken(ctx context.Context, id string, at time.Time) error
}
