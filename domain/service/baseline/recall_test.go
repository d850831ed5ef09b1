package baseline_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
)

// share counts what was tried and what was found.
type share struct{ found, of int }

func (s *share) add(found bool) {
	s.of++
	if found {
		s.found++
	}
}

func (s share) rate() float64 { return float64(s.found) / float64(max(s.of, 1)) }

// figures are what was measured of a history.
type figures struct {
	alarms, first        share
	worst                float64
	triple, tenfold, few share
}

const (
	jobs = 20
	runs = 3000
)

func (h *history) measure(seed uint64) (f figures) {
	for job := range jobs {
		r := rand.New(rand.NewPCG(seed, uint64(job)))
		var s baseline.State
		var own share
		for i := range runs {
			run, normal := h.run(r, i)
			_, alarm := s.Evaluate(run)
			own.add(alarm)
			f.alarms.add(alarm)
			if i < 100 {
				f.first.add(alarm)
			}
			if normal && i >= max(h.known, 100) && i%5 == 0 && run.Status == entity.StatusSuccess {
				_, found := s.Evaluate(times(run, 3))
				f.triple.add(found)
				_, found = s.Evaluate(times(run, 10))
				f.tenfold.add(found)
				_, found = s.Evaluate(times(run, 0.25))
				f.few.add(found)
			}
			s.Learn(run)
		}
		f.worst = max(f.worst, 1000*own.rate())
	}
	return f
}

// It prints the table of docs/baselines.md.
func TestRecallAndFalseAlarms(t *testing.T) {
	t.Parallel()
	seed := seed(t)
	var table strings.Builder
	table.WriteString("| history of a healthy job | 3 × | 10 × | ¼ | false alarms in 1,000 runs | worst job | in the " +
		"first 100 of a job |\n")
	table.WriteString("|---|---|---|---|---|---|---|\n")
	for _, h := range histories() {
		f := h.measure(seed)
		fmt.Fprintf(&table, "| %s | %.0f %% | %.0f %% | %.0f %% | %.2f | %.1f | %.1f |\n",
			h.name, 100*f.triple.rate(), 100*f.tenfold.rate(), 100*f.few.rate(),
			1000*f.alarms.rate(), f.worst, 100*f.first.rate())
		assert.LessOrEqual(t, 1000*f.alarms.rate(), h.alarms, "%s: false alarms", h.name)
		assert.LessOrEqual(t, f.worst, h.worst, "%s: false alarms of the worst job", h.name)
		assert.GreaterOrEqual(t, f.triple.rate(), h.triple, "%s: three times as long", h.name)
		assert.GreaterOrEqual(t, f.tenfold.rate(), h.tenfold, "%s: ten times as long", h.name)
		assert.GreaterOrEqual(t, f.few.rate(), h.few, "%s: a quarter", h.name)
	}
	t.Logf("\n%s", table.String())
}

// outages is a job of whose runs a share fails by itself; from each 400th on some more
// fail, for so many runs.
type outages struct {
	name        string
	usual, more float64
	long        int
	// The floors: share of outages found, within how many runs in the mean, and most
	// false alarms in 1,000 runs outside of them.
	found, within, alarms float64
}

// It prints the second table of docs/baselines.md.
func TestRecallOfFailures(t *testing.T) {
	t.Parallel()
	seed := seed(t)
	var table strings.Builder
	table.WriteString("| failures | outages found | after runs | false alarms in 1,000 runs |\n|---|---|---|---|\n")
	for _, o := range []outages{
		{name: "0.1 %, never more", usual: 0.001, alarms: 0.05},
		{name: "1 %, never more", usual: 0.01, alarms: 0.1},
		{name: "5 %, never more", usual: 0.05, alarms: 0.2},
		{name: "20 %, never more", usual: 0.2, alarms: 0.3},
		{name: "0.1 %; 5 in a row fail", usual: 0.001, more: 1, long: 5, found: 0.97, within: 4, alarms: 0.15},
		{name: "1 %; 8 in a row fail", usual: 0.01, more: 1, long: 8, found: 0.97, within: 5, alarms: 0.3},
		{name: "5 %; 12 in a row fail", usual: 0.05, more: 1, long: 12, found: 0.97, within: 7, alarms: 1},
		{name: "5 %; 30 % of 50 runs fail", usual: 0.05, more: 0.3, long: 50, found: 0.6, within: 35, alarms: 0.3},
		{name: "1 %; 30 % of 50 runs fail", usual: 0.01, more: 0.3, long: 50, found: 0.8, within: 25, alarms: 0.3},
		{name: "20 %; 12 in a row fail", usual: 0.2, more: 1, long: 12, found: 0.85, within: 11, alarms: 1.7},
	} {
		found, within, alarms := o.measure(seed)
		fmt.Fprintf(&table, "| %s | %s | %s | %.2f |\n", o.name,
			orDash(o.long, "%.0f %%", 100*found), orDash(o.long, "%.1f", within), alarms)
		assert.GreaterOrEqual(t, found, o.found, "%s: outages found", o.name)
		assert.LessOrEqual(t, within, o.within, "%s: runs until then", o.name)
		assert.LessOrEqual(t, alarms, o.alarms, "%s: false alarms", o.name)
	}
	t.Logf("\n%s", table.String())
}

func orDash(long int, format string, value float64) string {
	if long == 0 {
		return "–"
	}
	return fmt.Sprintf(format, value)
}

func (o *outages) measure(seed uint64) (found, within, alarms float64) {
	var outage, healthy share
	after := 0
	for job := range jobs {
		r := rand.New(rand.NewPCG(seed, uint64(job)))
		var s baseline.State
		told := true
		for i := range runs {
			during := i >= 400 && i%400 < o.long
			if during && i%400 == 0 {
				outage.add(false)
				told = false
			}
			run := ran(i, time.Minute)
			if r.Float64() < o.usual || during && r.Float64() < o.more {
				run.Status = entity.StatusFailed
			}
			_, alarm := s.Evaluate(run)
			s.Learn(run)
			if !during {
				healthy.add(alarm)
			} else if alarm && !told {
				told = true
				outage.found++
				after += i%400 + 1
			}
		}
	}
	return outage.rate(), float64(after) / float64(max(outage.found, 1)), 1000 * healthy.rate()
}

// Runs of an ordinary job have deadlines around their usual end. Told in time is before
// the deadline; in vain is what ended in time nevertheless.
func TestRecallOfMissedDeadlines(t *testing.T) {
	t.Parallel()
	seed := seed(t)
	var table strings.Builder
	table.WriteString("| noise | missed deadlines told before | how long before, of the usual duration | told in vain |\n")
	table.WriteString("|---|---|---|---|\n")
	for _, noise := range []float64{0.05, 0.1, 0.2, 0.5} {
		r := rand.New(rand.NewPCG(seed, 1))
		h := history{factor: always(30), noise: noise, every: 24 * time.Hour}
		var s baseline.State
		for i := range 200 {
			run, _ := h.run(r, i)
			s.Learn(run)
		}
		var missed, told share
		ahead := 0.0
		for range 2000 {
			run, _ := h.run(r, 200)
			deadline := run.Start.Add(time.Duration((0.5 + r.Float64()) * 30 * float64(time.Minute)))
			end := run.Start.Add(run.Duration)
			at := time.Time{}
			for now := run.Start; now.Before(deadline) && now.Before(end); now = now.Add(20 * time.Second) {
				if _, found := s.AtRisk(run.Start, now, deadline); found {
					at = now
					break
				}
			}
			if late := end.After(deadline); late {
				missed.add(!at.IsZero())
			}
			if !at.IsZero() {
				told.add(!end.After(deadline))
				ahead += deadline.Sub(at).Minutes() / 30
			}
		}
		ahead /= float64(told.of)
		fmt.Fprintf(&table, "| ±%.0f %% | %.0f %% | %.0f %% | %.0f %% |\n",
			100*noise, 100*missed.rate(), 100*ahead, 100*told.rate())
		assert.GreaterOrEqual(t, missed.rate(), 0.95, "noise %v: told before the deadline", noise)
		assert.LessOrEqual(t, told.rate(), 0.25, "noise %v: told in vain", noise)
		assert.GreaterOrEqual(t, ahead, 0.15, "noise %v: how long before", noise)
	}
	t.Logf("\n%s", table.String())
}
