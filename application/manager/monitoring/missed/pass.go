package missed

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// fireOf names a fire of a job.
type fireOf struct{ job, fire string }

// pass compares the ends of some jobs. Ends are read before digests: each transaction stores both, so that what has a
// digest is found with it. The ends that lack one are read again, to bound the memory.
func (s *Search) pass(ctx context.Context, state repository.Fold) error {
	to, stored, sharded, err := s.read(ctx, s.from, state.LackingSince)
	if err != nil {
		return fmt.Errorf("read what has ended: %w", err)
	}
	if len(stored) > 0 {
		seq, err := s.subtract(ctx, stored)
		if err != nil {
			return err
		}
		n, err := s.store(ctx, seq, to, stored, sharded, state.LackingSince)
		if s.found += n; err != nil {
			return err
		}
	}
	if s.from = to; to != (repository.EndCursor{}) {
		return nil
	}
	return s.finish(ctx, state)
}

// read counts the ends behind a place by their prints, up to the end of a job. to is the place of the last one; zero:
// nothing is behind it. sharded are the fires of which a shard other than the first has ended.
func (s *Search) read(ctx context.Context, from repository.EndCursor, since time.Time) (
	to repository.EndCursor, stored map[uint64]int, sharded map[fireOf]bool, err error,
) {
	stored, sharded = map[uint64]int{}, map[fireOf]bool{}
	var first []*entity.Execution // of fires that may have no other shard
	n, more := 0, false
	for at := from; ; at = to {
		page, err := s.Rows.FinalAfter(ctx, at, since, pageSize)
		if err != nil {
			return to, nil, nil, err
		}
		for _, e := range page {
			if more = n >= endsOfPass && e.JobID != to.JobID; more {
				break
			}
			to = repository.EndCursor{JobID: e.JobID, ID: e.ID}
			n++
			if e.ShardIndex != 0 {
				sharded[fireOf{e.JobID, e.FireKey}] = true
			}
			if statistics.MayBeWhole(e) {
				first = append(first, e)
			} else if end, ok := endOf(e, false); ok {
				stored[end.Print()]++
			}
		}
		if more || len(page) < pageSize {
			break
		}
	}
	for _, e := range first {
		if end, ok := endOf(e, !sharded[fireOf{e.JobID, e.FireKey}]); ok {
			stored[end.Print()]++
		}
	}
	if !more {
		to = repository.EndCursor{}
	}
	return to, stored, sharded, nil
}

func endOf(e *entity.Execution, whole bool) (statistics.End, bool) {
	return statistics.EndOf(e, e.UpdateTime, whole)
}

// subtract takes away the ends that have a digest, or had one that was added up. It returns the number of the fold's
// batch: while it is the same and no batch is open, no digest has become a note.
func (s *Search) subtract(ctx context.Context, stored map[uint64]int) (seq int64, err error) {
	before, err := s.Ends.FoldState(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the state of the fold: %w", err)
	}
	take := func(mark uint64) {
		if n := stored[mark]; n > 1 {
			stored[mark] = n - 1
		} else if n == 1 {
			delete(stored, mark)
		}
	}
	for after := (repository.BinaryID{}); ; {
		digests, err := s.Ends.DigestsAfter(ctx, after, digestsOfPage)
		if err != nil {
			return 0, fmt.Errorf("read digests: %w", err)
		}
		for _, d := range digests {
			ends, _ := statistics.Decode(d.Data) // the fold tells of what cannot be read, and does not count it
			for i := range ends {
				take(ends[i].Print())
			}
			after = d.ID
		}
		if len(digests) < digestsOfPage {
			break
		}
	}
	for after := int64(-1); ; {
		notes, err := s.Ends.NotesAfter(ctx, after, notesOfPage)
		if err != nil {
			return 0, fmt.Errorf("read the notes of what counts: %w", err)
		}
		for _, n := range notes {
			for _, mark := range n.Prints {
				take(mark)
			}
			after = n.Seq
		}
		if len(notes) < notesOfPage {
			break
		}
	}
	return before.Seq, s.unmoved(ctx, before)
}

// unmoved is errMoved where a batch was closed since a state was read: its ends may have been taken away twice.
func (s *Search) unmoved(ctx context.Context, before repository.Fold) error {
	now, err := s.Ends.FoldState(ctx)
	if err != nil {
		return fmt.Errorf("read the state of the fold: %w", err)
	}
	if now.Seq != before.Seq || len(now.IDs) == 0 && len(before.IDs) > 0 {
		return errMoved
	}
	return nil
}

// store stores digests of the ends up to a place that lack one. It returns how many there were.
func (s *Search) store(ctx context.Context, seq int64, to repository.EndCursor, lacking map[uint64]int,
	sharded map[fireOf]bool, since time.Time,
) (total int, err error) {
	var ends []statistics.End
	for at := s.from; len(lacking) > 0; {
		page, err := s.Rows.FinalAfter(ctx, at, since, pageSize)
		if err != nil {
			return total, fmt.Errorf("read what has ended again: %w", err)
		}
		last := len(page) < pageSize
		for _, e := range page {
			at = repository.EndCursor{JobID: e.JobID, ID: e.ID}
			end, ok := endOf(e, statistics.MayBeWhole(e) && !sharded[fireOf{e.JobID, e.FireKey}])
			if mark := end.Print(); ok && lacking[mark] > 0 {
				if lacking[mark]--; lacking[mark] == 0 {
					delete(lacking, mark)
				}
				ends = append(ends, end)
			}
			if last = last || at == to; at == to {
				break
			}
		}
		if len(ends) > 0 {
			if err := s.insert(ctx, seq, ends); err != nil {
				return total, err
			}
			total, ends, seq = total+len(ends), ends[:0], seq+1
		}
		if last {
			break
		}
	}
	return total, nil
}

// insert stores digests of ends in one transaction, oldest first. Their moment is that of their ends, so that asOf says
// what does not count yet. It gives the fold another number, so that nobody else who has compared the same ends inserts
// them, too; errMoved where somebody has, or where a batch is open.
func (s *Search) insert(ctx context.Context, seq int64, ends []statistics.End) error {
	slices.SortStableFunc(ends, func(a, b statistics.End) int { return a.At.Compare(b.At) })
	err := s.Store.Write(ctx, repository.LaneLogs, "missed-insert", func(ctx context.Context, tx repository.Tx) error {
		state, err := tx.Statistics.LockFold(ctx)
		if err != nil {
			return err
		}
		if state.Seq != seq || len(state.IDs) > 0 {
			return errMoved
		}
		for part := range slices.Chunk(ends, statistics.MaxEnds) {
			at := part[0].At
			digest := statistics.EncodeEnds(part, at)
			if err := tx.Statistics.AddDigests(ctx, at, []statistics.Digest{digest}); err != nil {
				return err
			}
		}
		state.Seq++
		return tx.Statistics.SaveFold(ctx, state)
	})
	if err != nil {
		return fmt.Errorf("store digests of %d ends: %w", len(ends), err)
	}
	return nil
}
