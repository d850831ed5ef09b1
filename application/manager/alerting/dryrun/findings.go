package dryrun

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
)

// learnFrom is how far before the range baselines begin to learn.
const learnFrom = 30 * 24 * time.Hour

// runOf is what a baseline learns of an execution, see baseline.RunOf.
func runOf(e *entity.Execution, zone *time.Location) (r baseline.Run, ok bool) {
	asked := e.Trigger == entity.TriggerSchedule || e.Trigger == entity.TriggerDependency && e.Inline()
	if !asked || e.Item() || e.ShardTotal > 1 || e.StartTime.IsZero() || !e.Status.Final() {
		return r, false
	}
	return baseline.Run{
		Start: e.StartTime.In(zone), Duration: e.Duration, Status: e.Status, Version: e.JobVersion,
	}, e.Status == entity.StatusSuccess || e.Status.Failed()
}

// findings lets baselines learn the runs that were read, and judges those of the range.
func (p *past) findings(ctx context.Context) error {
	p.note("what is usual for a job is learned from the runs that were read; a job needs %d", baseline.MinRuns)
	if err := p.read(ctx, learnFrom); err != nil {
		return err
	}
	p.expect()
	states := map[string]*baseline.State{}
	for i, e := range p.execs {
		if more, err := p.goesOn(ctx, i, ended(e)); !more {
			if err != nil {
				return err
			}
			break
		}
		run, teaches := runOf(e, p.Zone)
		if !teaches {
			continue
		}
		state := states[e.JobID]
		if state == nil {
			state = &baseline.State{}
			states[e.JobID] = state
		}
		found, unusual := state.Evaluate(run)
		state.Learn(run)
		at := ended(e)
		if !p.inside(at) {
			continue
		}
		job := p.jobs[e.JobID]
		if unusual {
			s, yes := alerting.OnUnusual(p.rule, job, alerting.Unusual{
				Finding: found, At: at, Evidence: e.ID, ExecutionID: e.ID,
			})
			if yes {
				p.happened(s)
				continue
			}
		}
		if run.Status == entity.StatusSuccess {
			if known, err := p.recovered(ctx, job, at); err != nil {
				return err
			} else if !known {
				break
			}
		}
	}
	p.expireAll()
	return nil
}
