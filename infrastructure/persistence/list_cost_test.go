package persistence_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// BenchmarkListCost measures what pages of lists cost, first and late ones,
// over PS_LIST_ROWS runs (1,000,000) and a tenth as many jobs, dead letters and
// audit rows.
//
//	go test -run '^$' -bench ListCost -benchtime 1x -timeout 30m ./infrastructure/persistence
func BenchmarkListCost(b *testing.B) {
	rows, err := strconv.Atoi(cmp.Or(os.Getenv("PS_LIST_ROWS"), "1000000"))
	require.NoError(b, err)
	for b.Loop() {
		costLists(b, dbtest.SQLite(b), rows)
		if dbtest.HasMySQL(b) {
			costLists(b, dbtest.MySQL(b), rows)
		}
	}
}

func costLists(b *testing.B, cfg persistence.Config, rows int) {
	b.Helper()
	s := dbtest.Open(b, cfg)
	began := time.Now()
	h := fillHistory(b, s, rows)
	info := s.Info()
	fmt.Printf("\n%s %s: %d runs of %d jobs, %d jobs in all, filled in %s\n", info.Driver, info.Version, rows, historyJobs,
		rows/10, time.Since(began).Round(time.Second))
	fmt.Printf("  %-34s %8s %8s %8s %8s %8s %8s %7s %7s\n", "ms a page of 50", "1st", "10th", "100th", "1000th", "p99",
		"max", "pages", "rows")
	for _, l := range h.lists(s) {
		l.walk(b)
	}
}

// costed is a list that is walked page by page.
type costed struct {
	name string
	page func(p repository.Page) (n int, next string, err error)
}

// walk reads up to 1,000 pages and prints what they took.
func (l costed) walk(b *testing.B) {
	b.Helper()
	var took []float64
	seen := 0
	p := repository.Page{Limit: 50}
	for len(took) < 1000 {
		began := time.Now()
		n, next, err := l.page(p)
		took = append(took, float64(time.Since(began).Microseconds())/1000)
		require.NoError(b, err, l.name)
		seen += n
		if next == "" {
			break
		}
		p.Cursor = next
	}
	fmt.Printf("  %-34s", l.name)
	for _, n := range []int{1, 10, 100, 1000} {
		if n > len(took) {
			fmt.Printf(" %8s", "–")
			continue
		}
		fmt.Printf(" %8.1f", took[n-1])
	}
	pages := len(took)
	took = slices.Sorted(slices.Values(took))
	fmt.Printf(" %8.1f %8.1f %7d %7d\n", took[pages*99/100], took[pages-1], pages, seen)
}

// lists are the lists of the API with each documented filter.
func (h history) lists(s *persistence.Store) []costed {
	ctx := h.t.Context()
	var out []costed
	runs := func(name string, f repository.ExecutionFilter) {
		out = append(out, costed{"runs " + name, func(p repository.Page) (int, string, error) {
			rows, next, err := s.Executions.List(ctx, f, p)
			return len(rows), next, err
		}})
	}
	runs("all", repository.ExecutionFilter{})
	runs("job", repository.ExecutionFilter{JobID: benchJobID(7)})
	runs("job without runs", repository.ExecutionFilter{JobID: benchJobID(historyJobs + 1)})
	runs("from, to: the middle", repository.ExecutionFilter{From: h.at(h.rows / 4), To: h.at(h.rows / 2)})
	runs("SUCCESS", repository.ExecutionFilter{Status: entity.StatusSuccess})
	runs("FAILED, 2 %", repository.ExecutionFilter{Status: entity.StatusFailed})
	runs("DEAD, 1 in 50,000", repository.ExecutionFilter{Status: entity.StatusDead})
	runs("WAITING, none", repository.ExecutionFilter{Status: entity.StatusWaiting})
	runs("RUNNING, the newest 20", repository.ExecutionFilter{Status: entity.StatusRunning})
	runs("job and FAILED", repository.ExecutionFilter{JobID: benchJobID(7), Status: entity.StatusFailed})
	runs("node of half of them", repository.ExecutionFilter{NodeID: "node-1"})
	runs("node that left long ago", repository.ExecutionFilter{NodeID: "node-gone"})
	runs("node that never was", repository.ExecutionFilter{NodeID: "node-x"})
	runs("MANUAL, 1 in 5,000", repository.ExecutionFilter{Trigger: entity.TriggerManual})
	runs("RETRY, none", repository.ExecutionFilter{Trigger: entity.TriggerRetry})
	runs("a group, 5 %", repository.ExecutionFilter{Groups: []string{"group 3"}})
	runs("a group with one old run", repository.ExecutionFilter{Groups: []string{"rare"}})
	runs("a group without jobs", repository.ExecutionFilter{Groups: []string{"none"}})
	runs("a group, FAILED", repository.ExecutionFilter{Groups: []string{"group 3"}, Status: entity.StatusFailed})
	jobs := func(name string, f repository.JobFilter) {
		out = append(out, costed{"jobs " + name, func(p repository.Page) (int, string, error) {
			rows, next, err := s.Jobs.List(ctx, f, p)
			return len(rows), next, err
		}})
	}
	jobs("all", repository.JobFilter{})
	jobs("name contains, all", repository.JobFilter{NameContains: "JOB"})
	jobs("name contains, 1 in 1,000", repository.JobFilter{NameContains: "777"})
	jobs("name contains, none", repository.JobFilter{NameContains: "nobody"})
	jobs("PAUSED, 1 in 1,000", repository.JobFilter{Status: entity.JobPaused})
	jobs("COMMAND, none", repository.JobFilter{Type: entity.JobCommand})
	jobs("group, 5 %", repository.JobFilter{Group: "group 3"})
	jobs("of a restricted user, one", repository.JobFilter{Groups: []string{"rare"}})
	letters := func(name string, f repository.DeadLetterFilter) {
		out = append(out, costed{"dead letters " + name, func(p repository.Page) (int, string, error) {
			rows, next, err := s.DeadLetters(ctx, f, p)
			return len(rows), next, err
		}})
	}
	letters("all", repository.DeadLetterFilter{})
	letters("of a job", repository.DeadLetterFilter{JobID: benchJobID(7)})
	letters("waiting, of a reason, none", repository.DeadLetterFilter{Reason: entity.ReasonPanic, Waiting: true})
	letters("of a group", repository.DeadLetterFilter{Groups: []string{"group 3"}})
	letters("of a group with one", repository.DeadLetterFilter{Groups: []string{"rare"}})
	audits := func(name string, f repository.AuditFilter) {
		out = append(out, costed{"audit " + name, func(p repository.Page) (int, string, error) {
			rows, next, err := s.ListAudit(ctx, f, p)
			return len(rows), next, err
		}})
	}
	audits("all", repository.AuditFilter{})
	audits("of a user", repository.AuditFilter{UserID: "user-3"})
	audits("of an object", repository.AuditFilter{Object: "job 11"})
	audits("of an action, none", repository.AuditFilter{Action: "DELETE /nothing"})
	return out
}
