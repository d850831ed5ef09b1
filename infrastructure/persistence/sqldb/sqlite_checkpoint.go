package sqldb

import (
	"context"
	"database/sql"
	"time"
)

// checkpointEvery is how often committed pages move into the file in the background,
// so that no commit has to.
const checkpointEvery = time.Second

// startCheckpoints runs the background checkpoints and returns what stops them.
func (s *Core) startCheckpoints(db *sql.DB) func() error {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		timer := s.Clock.NewTimer(checkpointEvery)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C():
				s.checkpoint(ctx, db)
				timer.Reset(checkpointEvery)
			}
		}
	}()
	return func() error {
		cancel()
		<-ended
		return nil
	}
}

// checkpoint copies what it can without making anybody wait.
func (s *Core) checkpoint(ctx context.Context, db *sql.DB) {
	start := s.Clock.Monotonic()
	_, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	if s.observe != nil {
		s.observe("store.checkpoint", s.Clock.Monotonic()-start, err)
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("the write-ahead log was not copied into the database file", "error", err)
	}
}
