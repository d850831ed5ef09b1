//go:build linux

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// samples is how often a delay is measured, noise what the machine may add to twice the usual one.
	samples = 5
	noise   = 300 * time.Millisecond
	// longest is when a message is given up.
	longest = 40 * time.Second
)

// One group, one user, one stranger or one slow receiver costs the others at most twice their usual delay from a
// failure to its message. Each offender has a real server of its own, which is measured alone and beside it.
func TestOneOffenderCostsTheOthersAtMostTwiceTheirDelay(t *testing.T) {
	for _, c := range []struct {
		name   string
		offend func(f *town)
	}{
		{"a group with dear rules and a flood of events", (*town).dearRules},
		{"a user with dry runs, previews and trials", (*town).manyLooks},
		{"strangers with slow bodies", (*town).strangers},
		{"nine slow channels of one group", (*town).slowChannels},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newTown(t)
			alone := f.delay("alone")
			c.offend(f)
			beside := f.delay("beside")
			t.Logf("from a failure to its message: alone %s, beside the offender %s: %.1f times as long", alone, beside,
				float64(beside)/float64(alone))
			require.LessOrEqual(t, beside, 2*alone+noise)
		})
	}
}

// town is a server with a quiet group, whose messages a receiver takes at once.
type town struct {
	*binary
	ctx context.Context
	// fresh makes a connection for each call, from an address that nobody else has.
	fresh *http.Client
	heard *ear
	hook  string
	// ids are the quiet jobs by name, read before anybody disturbs.
	ids map[string]string
}

// ear keeps when it heard of a name first.
type ear struct {
	mu    sync.Mutex
	texts []string
}

func (e *ear) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	e.texts = append(e.texts, string(body))
	e.mu.Unlock()
	w.WriteHeader(http.StatusOK)
}

func (e *ear) has(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.texts, func(s string) bool { return strings.Contains(s, name) })
}

func newTown(t *testing.T) *town {
	f := &town{
		binary: startBinaryWith(t, "PS_SERVER_MAXCONNECTIONS=100", "PS_SERVER_MAXCONNECTIONSPERADDRESS=25"), ctx: t.Context(),
		heard: &ear{}, ids: map[string]string{}, fresh: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
			DisableKeepAlives: true, DialContext: from("127.0.9.1").DialContext,
		}},
	}
	receiver := httptest.NewServer(f.heard)
	t.Cleanup(receiver.Close)
	f.hook = f.channel("quiet", receiver.URL)
	f.rule(map[string]any{
		"name": "quiet", "group": "quiet", "type": "JOB_FAILED", "level": "WARNING", "channelIds": []string{f.hook},
	})
	return f
}

// from dials from an address of this machine.
func from(address string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: 5 * time.Second}
}

func (f *town) channel(name, url string) string {
	f.t.Helper()
	var made struct{ ID string }
	f.must(201, http.MethodPost, "/api/v1/alert-channels", map[string]any{
		"name": name, "group": strings.SplitN(name, " ", 2)[0], "type": "WEBHOOK", "config": map[string]any{"url": url},
	}, &made)
	return made.ID
}

func (f *town) rule(rule map[string]any) {
	f.t.Helper()
	f.must(201, http.MethodPost, "/api/v1/alert-rules", rule, nil)
}

// failing makes a job that fails with a message.
func (f *town) failing(group, name, message string, more map[string]any) string {
	f.t.Helper()
	job := map[string]any{
		"name": name, "group": group, "jobType": "CUSTOM", "jobClass": "fail", "jobData": map[string]any{"message": message},
	}
	for k, v := range more {
		job[k] = v
	}
	var made struct{ ID string }
	f.must(201, http.MethodPost, "/api/v1/jobs", job, &made)
	return made.ID
}

func (f *town) trigger(job string) {
	f.must(202, http.MethodPost, "/api/v1/jobs/"+job+"/trigger", map[string]any{}, nil)
}

// delay is the median time from a call that starts a job of the quiet group, which fails, to the message about it.
func (f *town) delay(name string) time.Duration {
	f.t.Helper()
	var jobs, names []string
	for i := range samples {
		names = append(names, fmt.Sprintf("%s-%d-of-quiet", name, i))
		if name == "alone" { // those of both spans are made while nobody disturbs
			f.failing("quiet", fmt.Sprintf("beside-%d-of-quiet", i), "no", nil)
			f.failing("quiet", names[i], "no", nil)
		}
	}
	for _, name := range names {
		jobs = append(jobs, f.idOf(name))
	}
	var all []time.Duration
	for i, job := range jobs {
		began := time.Now()
		for !f.begun(job) && time.Since(began) < longest {
			time.Sleep(50 * time.Millisecond) // its connection was refused
		}
		for !f.heard.has(names[i]) && time.Since(began) < longest {
			time.Sleep(2 * time.Millisecond)
		}
		all = append(all, time.Since(began))
		if time.Since(began) >= longest {
			break // the median is that bad, too, or nearly so
		}
	}
	slices.Sort(all)
	f.t.Logf("%s: %s", name, all)
	return all[len(all)/2]
}

func (f *town) idOf(name string) string {
	if id, ok := f.ids[name]; ok {
		return id
	}
	var page struct {
		Items []struct{ ID, Name string }
	}
	f.must(200, http.MethodGet, "/api/v1/jobs?group=quiet&limit=100", nil, &page)
	for _, j := range page.Items {
		f.ids[j.Name] = j.ID
	}
	require.Contains(f.t, f.ids, name)
	return f.ids[name]
}

// begun starts a job over a connection of its own.
func (f *town) begun(job string) bool {
	status, _ := f.post(f.fresh, "/api/v1/jobs/"+job+"/trigger", map[string]any{})
	return status == http.StatusAccepted
}

// post is a call of somebody who takes every answer.
func (f *town) post(client *http.Client, path string, body any) (status int, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(f.ctx, http.MethodPost, f.url+path, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+f.token)
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

// again calls something until the test ends, in so many goroutines.
func (f *town) again(times int, call func(ctx context.Context)) {
	ctx, stop := context.WithCancel(f.ctx)
	var all sync.WaitGroup
	for range times {
		all.Go(func() {
			for ctx.Err() == nil {
				call(ctx)
			}
		})
	}
	f.t.Cleanup(func() {
		stop()
		all.Wait()
	})
}

// pause waits, or ends with the test.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// dear is an expression that takes nearly the most steps that a rule may have.
const dear = `status == "FAILED" && message matches "(?:a?){45}b"`

// dearRules are 20 of them, and events of one job without end.
func (f *town) dearRules() {
	job := f.failing("loud", "flood", strings.Repeat("a", 4000), map[string]any{
		"shardCount": 60, "overlapPolicy": "PARALLEL",
	})
	for i := range 20 {
		f.rule(map[string]any{
			"name": fmt.Sprintf("dear %d", i), "group": "loud", "type": "EXPRESSION", "level": "WARNING", "expression": dear,
		})
	}
	for range 20 {
		f.trigger(job)
	}
	f.again(1, func(ctx context.Context) {
		_, _ = f.post(http.DefaultClient, "/api/v1/jobs/"+job+"/trigger", map[string]any{})
		pause(ctx, time.Second)
	})
	time.Sleep(2 * time.Second)
}

// manyLooks are dry runs, previews and trials of one user, as many as the door lets in.
func (f *town) manyLooks() {
	job := f.failing("loud", "past", strings.Repeat("a", 4000), map[string]any{"shardCount": 200})
	f.trigger(job)
	time.Sleep(2 * time.Second)
	now := time.Now().UTC()
	loop := `{{$a := "aaaa"}}{{range .Alerts}}{{range .Labels}}{{$a = print $a $a}}{{upper $a}}{{end}}{{end}}{{upper $a}}`
	forms := map[string]any{"en": loop, "zh": loop}
	for path, body := range map[string]any{
		"/api/v1/alert-rules/dry-run": map[string]any{
			"rule": map[string]any{"name": "d", "group": "loud", "type": "EXPRESSION", "level": "WARNING", "expression": dear},
			"from": now.Add(-time.Hour), "to": now,
		},
		"/api/v1/alert-templates/preview": map[string]any{
			"title": forms, "text": forms, "html": forms, "markdown": forms,
		},
		"/api/v1/jobs/trial": map[string]any{
			"name": "t", "jobType": "CUSTOM", "jobClass": "sleep", "jobData": map[string]any{"ms": 2000},
		},
	} {
		client := &http.Client{
			Transport: &http.Transport{DialContext: from("127.0.8.1").DialContext, MaxIdleConnsPerHost: 20},
		}
		// It is let in while nobody else is; the template takes all the time that a preview has, and is told so.
		status, raw := f.call(http.MethodPost, path, body)
		require.True(f.t, status == http.StatusOK || strings.Contains(string(raw), "takes too long"), string(raw))
		f.again(20, func(ctx context.Context) {
			if status, err := f.post(client, path, body); err != nil || status != http.StatusOK {
				pause(ctx, 500*time.Millisecond)
			}
		})
	}
	time.Sleep(2 * time.Second)
}

// strangers send bodies slowly, from as many addresses as fill the door, and come again when they are thrown out.
func (f *town) strangers() {
	for i := range 4 {
		address := fmt.Sprintf("127.0.7.%d", i+2)
		f.again(25, func(ctx context.Context) {
			c, err := from(address).DialContext(ctx, "tcp", f.addr)
			if err != nil {
				pause(ctx, 200*time.Millisecond)
				return
			}
			end := context.AfterFunc(ctx, func() { _ = c.Close() })
			defer end()
			_, _ = io.WriteString(c, "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
			began := time.Now()
			_, _ = io.Copy(io.Discard, c) // until it is thrown out
			_ = c.Close()
			if pause(ctx, 50*time.Millisecond); time.Since(began) < time.Second {
				pause(ctx, time.Second) // it was refused
			}
		})
	}
	time.Sleep(2 * time.Second)
}

// slowChannels are nine of one group, whose receiver takes five seconds, with 360 messages to send.
func (f *town) slowChannels() {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pause(r.Context(), 5*time.Second)
		w.WriteHeader(http.StatusOK)
	}))
	f.t.Cleanup(receiver.Close)
	var channels []string
	for i := range 9 {
		channels = append(channels, f.channel(fmt.Sprintf("slow %d", i), receiver.URL))
	}
	f.rule(map[string]any{
		"name": "slow", "group": "slow", "type": "JOB_FAILED", "level": "WARNING", "channelIds": channels,
	})
	for i := range 40 {
		f.trigger(f.failing("slow", fmt.Sprintf("slow-%d", i), "no", nil))
	}
	time.Sleep(3 * time.Second)
}
