package baseline

import (
	"math"
	"time"
)

// sure is how probable it must be that a run misses its deadline.
const sure = 0.8

// AtRisk tells whether a run will miss a deadline that lies ahead, by how long runs
// usually take. start is when it has started, or is expected to; it is in the time zone
// of Run.Start. The chance counts only runs that took at least as long as this one has.
func (s *State) AtRisk(start, now, deadline time.Time) (f Finding, found bool) {
	offset, known := s.offset(start)
	if !known || !deadline.After(now) {
		return f, false
	}
	level := float64(s.level) + offset
	// Durations are taken as log-logistic: like a normal distribution of the logarithm,
	// but what is long overdue has no exact end.
	shape := math.Pi / math.Sqrt(3) / max(float64(s.spread), steady)
	longer := func(d time.Duration) float64 {
		if d <= 0 {
			return 1
		}
		return 1 / (1 + math.Exp(shape*(logOf(d)-level)))
	}
	age := max(now.Sub(start), 0)
	still := longer(age)
	chance := longer(deadline.Sub(start)) / still
	if !(chance >= sure) {
		return f, false
	}
	half := expOf(level + math.Log(2/still-1)/shape) // half of them take longer
	f = Finding{Code: DeadlineAtRisk, Params: s.params(start)}
	f.Params.ValueMs, f.Params.Running = age.Milliseconds(), age > 0
	f.Params.Deadline, f.Params.ExpectedEnd = deadline, start.Add(half)
	f.Params.Chance = math.Floor(chance*100) / 100
	return f, true
}
