package monitoring

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// writer implements repository.StatisticsWriter.
type writer struct{ c *sqldb.Conn }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.StatisticsWriter { return &writer{c} }

// AddDigests implements repository.StatisticsWriter. Ids are of the present, so that
// rows lie in the order of their transactions, nearly.
func (w *writer) AddDigests(ctx context.Context, now time.Time, digests []statistics.Digest) error {
	return bulk.Insert(ctx, w.c, "digest.insert", "scheduler_end_digest (id, time, ends, data)", 4, "", digests,
		func(args []any, d statistics.Digest) []any {
			id, _ := identity.Bytes(identity.RandomID(now)) // what it makes is an id
			return append(args, id[:], now.UnixMilli(), d.Ends, d.Data)
		})
}

// theFold is the id of the one row of the fold.
const theFold = 1

// LockFold implements repository.StatisticsWriter. The first one makes the row.
func (w *writer) LockFold(ctx context.Context) (repository.Fold, error) {
	for range 2 {
		f, ok, err := foldState(ctx, w.c, w.c.Dialect.ForUpdate)
		if err != nil || ok {
			return f, err
		}
		_, err = w.c.Exec(ctx, "fold.begin",
			"INSERT INTO scheduler_fold (id, seq, ids, scopes, folded_until, whole, lacking_since, noted) VALUES (?, 0, ?, 0, "+
				"0, 0, 0, 0)"+
				w.c.Dialect.OnDuplicateKeep("id"), theFold, []byte{})
		if err != nil {
			return f, err
		}
	}
	return repository.Fold{}, fmt.Errorf("the row of the fold went while it was locked")
}

// SaveFold implements repository.StatisticsWriter.
func (w *writer) SaveFold(ctx context.Context, f repository.Fold) error {
	_, err := w.c.Exec(ctx, "fold.save",
		"UPDATE scheduler_fold SET seq = ?, ids = ?, scopes = ?, folded_until = ?, whole = ?, lacking_since = ?, noted = ? "+
			"WHERE id = ?",
		f.Seq, joined(f.IDs), sqlvalue.Flag(f.Scopes), millis(f.Until), sqlvalue.Flag(f.Whole), millis(f.LackingSince),
		f.Noted,
		theFold)
	return err
}

// OldestDigests implements repository.StatisticsWriter.
func (w *writer) OldestDigests(ctx context.Context, limit int) ([]repository.DigestHead, error) {
	return sqldb.Collect(ctx, w.c, "digest.oldest", "SELECT id, time, ends FROM scheduler_end_digest ORDER BY id LIMIT ?",
		[]any{limit}, func(rows *sql.Rows) (d repository.DigestHead, err error) {
			var at int64
			err = rows.Scan(scanID(&d.ID), &at, &d.Ends)
			d.Time = moment(at)
			return d, err
		})
}

// DropDigests implements repository.StatisticsWriter.
func (w *writer) DropDigests(ctx context.Context, ids []repository.BinaryID) error {
	for part := range slices.Chunk(ids, w.c.Dialect.MaxRows) {
		in, args := inBytes(w.c.Dialect, "id", part, bytesOfID)
		if _, err := w.c.Exec(ctx, "digest.drop", "DELETE FROM scheduler_end_digest WHERE "+in, args...); err != nil {
			return err
		}
	}
	return nil
}

// Reader reads for the fold and for the API: repository.DigestReader and
// repository.StatisticsReader. Safe for concurrent use.
type Reader struct{ c *sqldb.Conn }

// NewReader gives the repository over the connections of c.
func NewReader(c *sqldb.Conn) *Reader { return &Reader{c} }

// FoldState implements repository.DigestReader.
func (r *Reader) FoldState(ctx context.Context) (repository.Fold, error) {
	f, _, err := foldState(ctx, r.c, "")
	return f, err
}

func foldState(ctx context.Context, c *sqldb.Conn, lock string) (f repository.Fold, ok bool, err error) {
	return sqldb.First(ctx, c, "fold.state",
		"SELECT seq, ids, scopes, folded_until, whole, lacking_since, noted FROM scheduler_fold WHERE id = ?"+lock,
		[]any{theFold}, func(rows *sql.Rows) (f repository.Fold, err error) {
			var ids []byte
			var until, since int64
			if err = rows.Scan(&f.Seq, &ids, &f.Scopes, &until, &f.Whole, &since, &f.Noted); err != nil {
				return f, err
			}
			if until != 0 {
				f.Until = moment(until)
			}
			if since != 0 {
				f.LackingSince = moment(since)
			}
			f.IDs, err = divided(ids)
			return f, err
		})
}

// digestsAtOnce bounds the digests of one read: some 6 MB at the very most.
const digestsAtOnce = 100

// Digests implements repository.DigestReader.
func (r *Reader) Digests(ctx context.Context, ids []repository.BinaryID) ([]repository.Digest, error) {
	out := make([]repository.Digest, 0, len(ids))
	for part := range slices.Chunk(ids, digestsAtOnce) {
		in, args := inBytes(r.c.Dialect, "id", part, bytesOfID)
		found, err := sqldb.Collect(ctx, r.c, "digest.read",
			"SELECT id, time, data FROM scheduler_end_digest WHERE "+in+" ORDER BY id", args,
			func(rows *sql.Rows) (d repository.Digest, err error) {
				var at int64
				err = rows.Scan(scanID(&d.ID), &at, &d.Data)
				d.Time = moment(at)
				return d, err
			})
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// DigestsSince implements repository.DigestReader.
func (r *Reader) DigestsSince(ctx context.Context) (oldest, youngest time.Time, ok bool, err error) {
	for _, end := range []struct {
		order string
		to    *time.Time
	}{{"ASC", &oldest}, {"DESC", &youngest}} {
		found, err := sqldb.Collect(ctx, r.c, "digest.since",
			"SELECT time FROM scheduler_end_digest ORDER BY id "+end.order+" LIMIT 1", nil,
			func(rows *sql.Rows) (at int64, err error) { err = rows.Scan(&at); return at, err })
		if err != nil || len(found) == 0 {
			return oldest, youngest, false, err
		}
		*end.to = moment(found[0])
	}
	return oldest, youngest, true, nil
}
