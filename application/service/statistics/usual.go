package statistics

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// Usual is how long runs of a job usually take that start at a moment.
type Usual struct {
	// Duration is the usual one; 19 of 20 runs take from Low to High. More than Limit is unusual.
	Duration, Low, High, Limit time.Duration
	// Cell is the weekday or hour for which this is usual; empty is always.
	Cell string
	// Runs is how many runs taught it.
	Runs int
}

// addUsual says what is usual for a job now, and in each hour that is told of. Days have
// none: their hours differ. A baseline that cannot be read is as good as none: it begins
// anew with the next run.
func (s *StatisticsService) addUsual(
	ctx context.Context, out *Statistics, job repository.BinaryID, by statistics.Period, now time.Time,
) error {
	stored, err := s.Baselines.BaselinesOf(ctx, []repository.BinaryID{job})
	if err != nil {
		return err
	}
	row, ok := stored[job]
	if !ok {
		return nil
	}
	state, err := baseline.Decode(row.Data)
	if err != nil {
		return nil //nolint:nilerr // said above
	}
	out.Usual = usualAt(state, now.In(s.Zone))
	for i := range out.Lines {
		if by == statistics.Hour {
			out.Lines[i].Usual = usualAt(state, out.Lines[i].Start.In(s.Zone))
		}
	}
	return nil
}

// usualAt is nil while nobody can know.
func usualAt(state *baseline.State, start time.Time) *Usual {
	p, known := state.Usual(start)
	if !known {
		return nil
	}
	limit, _ := state.Limit(start)
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	return &Usual{
		Duration: ms(p.UsualMs), Low: ms(p.LowMs), High: ms(p.HighMs), Limit: limit, Cell: p.Cell, Runs: p.Runs,
	}
}
