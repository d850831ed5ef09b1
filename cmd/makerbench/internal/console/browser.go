package console

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// The calls of web/src/shared/live and web/src/features/overview.
const (
	spread      = 500 * time.Millisecond
	least       = time.Second
	firstWait   = time.Second
	longestWait = 30 * time.Second
	sums        = time.Minute
	causesApart = 10 * time.Second
	topics      = "alerts,executions,jobs,nodes"
)

// page is one of the reads of the overview.
type page struct {
	name, address string
	// topics are those after which it is read again, every is how often it is without one.
	topics []string
	every  time.Duration

	// due is when it is read next; last is when it was read. Both are monotonic.
	due, last time.Duration
	reading   bool
	etag      string
}

// pages are the reads of the overview. The page of causes is the last one.
func pages(now time.Time) []*page {
	yesterday := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -1).Format("2006-01-02T15:04:05.000Z")
	return []*page{
		{
			name: "overview", address: "/monitor/overview", topics: []string{"executions", "nodes", "jobs"},
			every: 30 * time.Second,
		},
		{name: "load", address: "/schedules/load?minutes=1440", topics: []string{"jobs"}, every: 5 * sums},
		{name: "today", address: "/monitor/today?timeZone=UTC", every: sums},
		{
			name: "hours", address: "/monitor/statistics?by=HOUR&from=" + url.QueryEscape(yesterday) + "&timeZone=UTC",
			every: sums,
		},
		{name: "alerts", address: "/alerts?status=FIRING&limit=6", topics: []string{"alerts"}, every: time.Hour},
		{name: "causes", address: "/monitor/failures", every: 5 * sums},
	}
}

// browser has the overview open. Its fields belong to the goroutine of watch.
type browser struct {
	*crowd
	session string
	pages   []*page
	// failures is how many runs failed in the last hour, as the overview said; -1: nothing yet.
	failures int
}

// answer is what came of a read.
type answer struct {
	page *page
	etag string
	body []byte
}

// watch opens the page after a while, and stays until ctx ends.
func (b *browser) watch(ctx context.Context, after time.Duration) {
	if clock.Sleep(ctx, b.clock, after) != nil {
		return
	}
	changes, answers := make(chan []string, 16), make(chan answer, len(b.pages))
	b.waiting.Go(func() { b.listen(ctx, changes) })
	timer := b.clock.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case changed := <-changes:
			b.changed(changed)
		case a := <-answers:
			b.take(a)
		case <-timer.C():
		}
		timer.Reset(b.readDue(ctx, answers))
	}
}

// readDue begins the reads that are due, and returns the time until the next one.
func (b *browser) readDue(ctx context.Context, answers chan<- answer) time.Duration {
	now := b.clock.Monotonic()
	next := time.Hour
	for _, p := range b.pages {
		if p.due <= now {
			if p.reading {
				p.due = now + spread
			} else {
				p.reading, p.last, p.due = true, now, now+p.every
				b.waiting.Go(func() { answers <- b.read(ctx, p, p.etag) })
			}
		}
		next = min(next, p.due-now)
	}
	return max(next, time.Millisecond)
}

// changed reads again what follows a topic, soon.
func (b *browser) changed(changed []string) {
	now := b.clock.Monotonic()
	for _, p := range b.pages {
		if follows(p.topics, changed) {
			p.due = min(p.due, now+max(rand.N(spread), least-(now-p.last)))
		}
	}
}

func follows(topics, changed []string) bool {
	for _, one := range changed {
		for _, topic := range topics {
			if one == topic || one == "many" {
				return true
			}
		}
	}
	return false
}

// take ends a read. The causes of failures are read again when their number has changed.
func (b *browser) take(a answer) {
	a.page.reading, a.page.etag = false, a.etag
	if a.page.name != "overview" || len(a.body) == 0 {
		return
	}
	var overview struct {
		Executions struct {
			LastHour struct{ Failed, Timeout, Dead int }
		}
	}
	if err := json.Unmarshal(a.body, &overview); err != nil {
		b.failed(fmt.Errorf("the overview is no JSON: %w", err))
		return
	}
	hour := overview.Executions.LastHour
	now, before := b.clock.Monotonic(), b.failures
	b.failures = hour.Failed + hour.Timeout + hour.Dead
	if causes := b.pages[len(b.pages)-1]; before >= 0 && before != b.failures {
		causes.due = min(causes.due, now+max(0, causes.last+causesApart-now))
	}
}

// request is one that a page of this origin makes.
func (b *browser) request(ctx context.Context, address string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.server+"/api/v1"+address, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Cookie", "ps_session="+b.session)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0")
	req.Header.Set("Accept-Language", "en-GB,en;q=0.9")
	return req, nil
}

// read asks for a page, with the tag of what is shown.
func (b *browser) read(ctx context.Context, p *page, etag string) answer {
	a := answer{page: p, etag: etag}
	began := b.clock.Monotonic()
	req, err := b.request(ctx, p.address)
	if err != nil {
		b.failed(err)
		return a
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	res, err := b.client.Do(req)
	if err == nil {
		a.body, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	switch {
	case ctx.Err() != nil:
		return a
	case err != nil:
		b.failed(fmt.Errorf("%s: %w", p.address, err))
		return a
	case res.StatusCode != http.StatusOK && res.StatusCode != http.StatusNotModified:
		b.failed(fmt.Errorf("%s answers %d: %.200s", p.address, res.StatusCode, a.body))
		return answer{page: p}
	}
	a.etag = res.Header.Get("ETag")
	b.answered(p.name, len(a.body), res.StatusCode == http.StatusNotModified, b.clock.Monotonic()-began)
	return a
}

// listen holds the live stream, and opens it again after it was lost.
func (b *browser) listen(ctx context.Context, changes chan<- []string) {
	wait := firstWait
	for lost := false; ctx.Err() == nil; lost = true {
		err := b.follow(ctx, changes, func() {
			wait = firstWait
			if lost {
				changes <- []string{"many"}
			}
		})
		if ctx.Err() != nil {
			return
		}
		b.lost(err)
		if clock.Sleep(ctx, b.clock, wait/2+rand.N(wait/2)) != nil {
			return
		}
		wait = min(2*wait, longestWait)
	}
}

// follow reads one stream to its end.
func (b *browser) follow(ctx context.Context, changes chan<- []string, opened func()) error {
	req, err := b.request(ctx, "/live?topics="+url.QueryEscape(topics))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := b.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
		return fmt.Errorf("the stream is refused with %d: %s", res.StatusCode, said)
	}
	b.open.Add(1)
	defer b.open.Add(-1)
	opened()
	lines := bufio.NewReaderSize(res.Body, 1<<10)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		data, is := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !is {
			continue
		}
		var event struct{ Topics []string }
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return fmt.Errorf("an event is no JSON: %w", err)
		}
		b.events.Add(1)
		select {
		case changes <- event.Topics:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
