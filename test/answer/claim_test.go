package answer_test

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/test/answer"
)

// head picks the change that takes the first run of a queue which is ever taken.
type head struct {
	mu sync.Mutex
	id string
}

// take is what all claims have in common; see the argument at which their ids begin.
const (
	take     = "SET status = 'RUNNING', node_id = ?"
	firstRun = 5
)

func (h *head) match(query string, args []driver.NamedValue) bool {
	if !strings.Contains(query, take) || len(args) <= firstRun {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := ""
	for _, a := range args[firstRun:] {
		ids += fmt.Sprint(a.Value) + " "
	}
	if h.id == "" {
		h.id, _, _ = strings.Cut(strings.Trim(ids, `["`), " ")
		h.id, _, _ = strings.Cut(h.id, `"`)
	}
	return strings.Contains(ids, h.id)
}

func (h *head) run() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.id
}

// A waiting run that the store lets nobody take holds up none of those behind it, though
// there be room for one alone at a time (engine rule 10). It begins when the store takes it.
func TestARunThatNobodyCanTakeHoldsUpNoQueue(t *testing.T) {
	const jobs = 12
	ask := func(t *testing.T, mysql bool, slots int, answered error) {
		r := newRigOf(t, mysql, enginetest.Options{Slots: slots}, jobs)
		bad, release := &head{}, r.Script.Hold()
		for range 20 { // until runs without a slot wait in the store
			r.turn(t, 100*time.Millisecond)
		}
		r.store.Set(&answer.Rule{Place: answer.Statement, Match: bad.match, Err: answered})
		release()
		r.await(t, "all other runs of four fires", func() bool {
			ended := 0
			for _, job := range r.jobs {
				for _, exec := range r.Executions(t, job.ID) {
					if exec.Status == entity.StatusSuccess && exec.ScheduledTime.Before(enginetest.Noon.Add(35*time.Second)) {
						ended++
					}
				}
			}
			return ended == 4*jobs-1
		})
		require.Less(t, r.Clock.Now().Sub(enginetest.Noon), 45*time.Second, "the queue was held up")
		require.Positive(t, r.store.Given())
		require.Less(t, r.store.Given(), 60, "what is passed over is not asked for all the time")
		require.Equal(t, entity.StatusWaiting, r.Execution(t, bad.run()).Status)
		require.Contains(t, r.Runner.PassedOver(), bad.run())
		r.store.Set(nil)
		r.await(t, "the run that was passed over", func() bool {
			return r.Execution(t, bad.run()).Status == entity.StatusSuccess
		})
		require.Empty(t, r.Runner.PassedOver())
	}
	value := &mysql.MySQLError{Number: 1264, Message: "Out of range value for column 'attempt'"}
	for _, slots := range []int{1, 6} {
		bubble(t, fmt.Sprintf("sqlite/%d slots", slots), func(t *testing.T) {
			ask(t, false, slots, unknownToSQLite(t))
		})
		bubble(t, fmt.Sprintf("mysql/%d slots", slots), func(t *testing.T) {
			dbtest.NeedMySQL(t)
			ask(t, true, slots, answer.Numbers()[0].Err())
		})
		bubble(t, fmt.Sprintf("mysql, its value/%d slots", slots), func(t *testing.T) {
			dbtest.NeedMySQL(t)
			ask(t, true, slots, value)
		})
	}
}
