package conformance

import (
	"bytes"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

// answer does what a call asks for. The lock is held, and let go while a poll is parked.
func (g *Gateway) answer(r *http.Request, c *Call) (int, map[string]any) {
	switch c.Kind {
	case "register":
		return http.StatusCreated, g.register(c)
	case "poll":
		return g.poll(r, c)
	case "report":
		return g.report(c)
	case "jobs":
		return g.declare(c)
	case "leave":
		g.left = true
		return http.StatusNoContent, nil
	}
	return http.StatusNotFound, map[string]any{"code": "not_found"}
}

// declare creates all that is declared.
func (g *Gateway) declare(c *Call) (int, map[string]any) {
	if c.Declaration.Epoch != g.epoch {
		return g.lost()
	}
	jobs := []map[string]any{}
	for _, job := range c.Declaration.Jobs {
		jobs = append(jobs, map[string]any{"group": "orders", "name": job["name"], "outcome": "CREATED"})
	}
	return http.StatusOK, map[string]any{"jobs": jobs}
}

func (g *Gateway) register(c *Call) map[string]any {
	if c.Registration.BootID != g.boot {
		g.boot, g.seq, g.left = c.Registration.BootID, 0, false
		g.epoch++
		for _, run := range g.runs {
			if run.State == "running" {
				run.State = "lost"
			}
		}
	}
	return map[string]any{
		"workerId": workerID, "epoch": g.epoch, "protocol": 1, "beatMs": ms(g.Beat), "leaseMs": ms(g.Lease),
		"waitMs": ms(g.Wait), "maxRuns": 100, "maxItems": maxItems,
	}
}

func ms(d time.Duration) int64 { return d.Milliseconds() }

func (g *Gateway) lost() (int, map[string]any) {
	return http.StatusConflict, map[string]any{"code": "epoch_lost"}
}

// poll parks until there is something for the worker, its wait is over, or a newer poll has come.
func (g *Gateway) poll(r *http.Request, c *Call) (int, map[string]any) {
	p := c.Poll
	epoch := g.epoch
	switch {
	case p.Epoch != g.epoch:
		return g.lost()
	case g.left:
		g.wrong("poll %d came after leave", c.N)
	case p.Seq < 1:
		g.wrong("poll %d has seq %d", c.N, p.Seq)
	}
	for _, former := range g.Calls("poll") {
		if former != c && former.Poll.Epoch == p.Epoch && former.Poll.Seq == p.Seq && !bytes.Equal(former.Raw, c.Raw) {
			g.wrong("poll %d has the seq %d of poll %d, and another body", c.N, p.Seq, former.N)
		}
	}
	wait := g.Wait
	if p.WaitMs != nil {
		wait = min(wait, time.Duration(*p.WaitMs)*time.Millisecond)
	}
	g.seq = max(g.seq, p.Seq)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for over := false; ; {
		answer := map[string]any{
			"seq": p.Seq, "leaseSeq": p.Seq, "leaseMs": ms(g.Lease), "beatMs": ms(g.Beat), "waitMs": ms(g.Wait),
			"runs": []any{}, "cancel": []any{},
		}
		switch {
		case g.epoch != epoch:
			return g.lost()
		case p.Seq != g.seq:
			answer["leaseSeq"] = 0
			return http.StatusOK, answer
		}
		if some := g.fill(p, answer); some || over || p.Stopping {
			return http.StatusOK, answer
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-changed:
		case <-timer.C:
			over = true
		}
		g.mu.Lock()
		if r.Context().Err() != nil {
			c.Cut = true
			return http.StatusOK, answer
		}
	}
}

// fill lays into an answer what the store has for the worker.
func (g *Gateway) fill(p Poll, answer map[string]any) (some bool) {
	runs, stops := []any{}, []any{}
	slots := map[string]int{"": p.Free, "HTTP": p.Free, "COMMAND": p.FreeCommands}
	for _, run := range g.runs {
		listed := slices.Contains(p.Running, run.Name())
		switch {
		case run.State == "waiting" && slots[run.Kind] > 0 && !p.Stopping:
			g.tokens++
			run.State, run.Token = "running", g.tokens
		case run.State == "running" && !listed: // it was never taken
		case run.State == "running" && run.Cancel != "":
			stops, some = append(stops, run.stop(run.Cancel)), some || !run.told
			run.told = true
			continue
		case run.State != "running" && run.State != "waiting" && listed && run.Ends == 0:
			stops, some = append(stops, run.stop("lost")), some || !run.told
			run.told = true
			continue
		default:
			continue
		}
		slots[run.Kind]--
		run.Delivered++
		run.Deliveries = append(run.Deliveries, p.Seq)
		runs = append(runs, run.Delivery())
	}
	answer["runs"], answer["cancel"] = runs, stops
	return some || len(runs) > 0
}

func (r *Run) stop(reason string) map[string]any {
	return map[string]any{"executionId": r.ID, "token": r.Token, "reason": reason}
}

func (g *Gateway) report(c *Call) (int, map[string]any) {
	if c.Report.Epoch != g.epoch {
		return g.lost()
	}
	if n := len(c.Report.Items); n == 0 || n > maxItems {
		g.wrong("report %d has %d items", c.N, n)
	}
	answers := []any{}
	for _, item := range c.Report.Items {
		answer := map[string]any{"executionId": item.ExecutionID, "token": item.Token, "line": 0}
		i := slices.IndexFunc(g.runs, func(r *Run) bool { return r.Name() == item.Name() })
		if i < 0 {
			g.wrong("report %d names %s, which was never delivered", c.N, item.Name())
			answer["receipt"] = "STALE"
			answers = append(answers, answer)
			continue
		}
		g.check(item)
		if g.runs[i].State == "hidden" {
			g.wrong("report %d: %s was in no answer that counts", c.N, item.Name())
		}
		if receipt := g.runs[i].take(item); receipt != "" {
			answer["receipt"] = receipt
		}
		answer["line"] = len(g.runs[i].Lines)
		answers = append(answers, answer)
	}
	return http.StatusOK, map[string]any{"items": answers}
}

// take stores what an item says of the run, and returns the receipt of its end.
func (r *Run) take(item Item) (receipt string) {
	r.Items = append(r.Items, item)
	for i, line := range item.Lines {
		number := item.LineFrom + int64(i)
		for int64(len(r.Lines)) < number-1 {
			r.Lines = append(r.Lines, "") // it never came
		}
		if number > int64(len(r.Lines)) {
			r.Lines = append(r.Lines, line)
		}
	}
	if item.Progress != nil {
		r.Progress = *item.Progress
	}
	if item.Checkpoint != nil {
		r.Kept = *item.Checkpoint
	}
	switch {
	case item.End == nil:
		return ""
	case r.Receipt != "":
		r.Ends++
		if r.Receipt != "RETRY" {
			r.State = item.End.Status
		}
		return r.Receipt
	case r.State == "running":
		r.State = item.End.Status
		r.Ends++
		return "ACCEPTED"
	case r.State == item.End.Status:
		r.Ends++
		return "DUPLICATE"
	}
	return "STALE"
}

// check holds an item to the bounds of the protocol.
func (g *Gateway) check(item Item) {
	for _, line := range item.Lines {
		if len(line) > 8<<10 {
			g.wrong("%s: a line of %d bytes", item.Name(), len(line))
		}
	}
	if len(item.Lines) > 0 && item.LineFrom < 1 {
		g.wrong("%s: lines without lineFrom", item.Name())
	}
	if item.Progress != nil && (*item.Progress < 0 || *item.Progress > 100) {
		g.wrong("%s: progress %d", item.Name(), *item.Progress)
	}
	if item.Checkpoint != nil && len(*item.Checkpoint) > 64<<10 {
		g.wrong("%s: a checkpoint of %d bytes", item.Name(), len(*item.Checkpoint))
	}
	e := item.End
	if e == nil {
		return
	}
	if !slices.Contains([]string{"SUCCESS", "FAILED", "TIMEOUT", "CANCELLED", "RETURNED", "RELEASED"}, e.Status) {
		g.wrong("%s: the status %q", item.Name(), e.Status)
	}
	if len(e.Result) > 64<<10 || len(e.Message) > 4<<10 || !utf8.ValidString(e.Result+e.Message) {
		g.wrong("%s: a result of %d bytes, a message of %d", item.Name(), len(e.Result), len(e.Message))
	}
	if e.DurationMs == nil || e.AgoMs == nil || *e.DurationMs < 0 || *e.AgoMs < 0 {
		g.wrong("%s: an end without durationMs and agoMs", item.Name())
	}
}
