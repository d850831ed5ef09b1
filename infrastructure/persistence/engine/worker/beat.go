package worker

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// alive is the condition of a row whose lease may be renewed.
const alive = " AND status <> 'DOWN'"

// BeatWorkers implements repository.Workers. Every node locks rows in the order of their ids.
func (r *Workers) BeatWorkers(ctx context.Context, gateway string, beats []repository.WorkerBeat) (
	refused []string, err error,
) {
	beats = slices.Clone(beats)
	slices.SortFunc(beats, func(a, b repository.WorkerBeat) int { return strings.Compare(a.ID, b.ID) })
	for part := range slices.Chunk(beats, r.aside.Dialect.MaxRows) {
		beat := r.beatServer
		if r.aside.Dialect.IsSQLite() {
			beat = r.beatFile
		}
		no, err := beat(ctx, gateway, part)
		if err != nil {
			return nil, err
		}
		refused = append(refused, no...)
	}
	return refused, nil
}

const beatFile = "UPDATE scheduler_worker SET last_beat = ?, gateway = ?, beat_ms = ?, lease_ms = MAX(lease_ms, ?), " +
	"running = ?, command_running = ?, status = CASE WHEN ? = 1 THEN 'DRAINING' ELSE status END, update_time = ? " +
	"WHERE id = ? AND epoch = ?" + alive

func (r *Workers) beatFile(ctx context.Context, gateway string, beats []repository.WorkerBeat) (
	refused []string, err error,
) {
	err = r.aside.Change(ctx, repository.LaneComplete, "worker-beat", func(ctx context.Context, c *sqldb.Conn) error {
		refused = nil
		_, at := c.Now()
		return c.ExecEach(ctx, "worker.beat", len(beats), func(i int) (string, []any) {
			b := &beats[i]
			return beatFile, []any{
				at[0], gateway, b.Beat.Milliseconds(), b.Lease.Milliseconds(), b.Running[entity.SlotGeneral],
				b.Running[entity.SlotCommand], sqlvalue.Flag(b.Stopping), at[0], b.ID, b.Epoch,
			}
		}, func(i int, found int64) error {
			if found == 0 {
				refused = append(refused, beats[i].ID)
			}
			return nil
		})
	})
	return refused, err
}

func (r *Workers) beatServer(ctx context.Context, gateway string, beats []repository.WorkerBeat) ([]string, error) {
	c := r.aside.Pool
	now, _ := c.Now()
	v := bulk.NewUpdate(len(beats), func(i int) any { return beats[i].ID })
	set := "t.last_beat = " + now + ", t.update_time = " + now +
		", t.gateway = " + v.Expr(bulk.AsID, func(int) any { return gateway }) +
		", t.beat_ms = " + v.Expr(bulk.AsInt, func(i int) any { return beats[i].Beat.Milliseconds() }) +
		", t.lease_ms = GREATEST(t.lease_ms, " +
		v.Expr(bulk.AsInt, func(i int) any { return beats[i].Lease.Milliseconds() }) + ")" +
		", t.running = " + v.Expr(bulk.AsInt, func(i int) any { return beats[i].Running[entity.SlotGeneral] }) +
		", t.command_running = " + v.Expr(bulk.AsInt, func(i int) any { return beats[i].Running[entity.SlotCommand] }) +
		", t.status = CASE WHEN " + v.Expr(bulk.AsInt, func(i int) any { return sqlvalue.Flag(beats[i].Stopping) }) +
		" = 1 THEN 'DRAINING' ELSE t.status END"
	where := "t.epoch = " + v.Expr(bulk.AsInt, func(i int) any { return beats[i].Epoch }) + " AND t.status <> 'DOWN'"
	query, args := v.Statement(c.Dialect, "scheduler_worker", set, where)
	found, err := r.aside.ExecAtOnce(ctx, repository.LaneComplete, "worker.beat", query, args...)
	if err != nil || found == int64(len(beats)) {
		return nil, err
	}
	return r.fenced(ctx, beats)
}

// fenced are those of the beats whose rows have another epoch, or are DOWN.
func (r *Workers) fenced(ctx context.Context, beats []repository.WorkerBeat) (ids []string, err error) {
	asked := make([]string, len(beats))
	for i, b := range beats {
		asked[i] = b.ID
	}
	type life struct {
		id    string
		epoch int64
	}
	alive, err := sqldb.CollectIn(ctx, r.aside.Pool, "worker.epochs", "SELECT id, epoch FROM scheduler_worker WHERE {in}"+
		alive, "id", asked, func(rows *sql.Rows) (l life, err error) {
		err = rows.Scan(&l.id, &l.epoch)
		return l, err
	})
	if err != nil {
		return nil, err
	}
	for _, b := range beats {
		if !slices.Contains(alive, life{b.ID, b.Epoch}) {
			ids = append(ids, b.ID)
		}
	}
	return ids, nil
}

// LeaveWorker implements repository.Workers.
func (r *Workers) LeaveWorker(ctx context.Context, id string, epoch int64) (bool, error) {
	return r.end(ctx, "worker.leave", " WHERE id = ? AND epoch = ?", id, epoch)
}

// DownWorker implements repository.Workers.
func (r *Workers) DownWorker(ctx context.Context, w worker.Worker) (bool, error) {
	return r.end(ctx, "worker.down", " WHERE id = ? AND epoch = ? AND last_beat = ?", w.ID, w.Epoch,
		sqlvalue.TimeArg(w.LastBeat))
}

// end ends a life. Its runs are owed now, but no sooner than those of the life before it, whose lease may still hold.
func (r *Workers) end(ctx context.Context, name, where string, args ...any) (bool, error) {
	now, at := r.aside.Pool.Now()
	found, err := r.aside.ExecAtOnce(ctx, repository.LaneComplete, name, "UPDATE scheduler_worker SET status = 'DOWN', "+
		"running = 0, command_running = 0, former_epoch = epoch, former_until = CASE WHEN former_until > "+now+
		" THEN former_until ELSE "+now+" END, update_time = "+now+where+alive, slices.Concat(at, at, at, args)...)
	return found == 1 && err == nil, err
}
