package conformance_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/conformance"
)

type data = map[string]any

func run(handler string, in data) *conformance.Run {
	return &conformance.Run{ID: "e-" + handler, Handler: handler, Data: in}
}

func Test01Register(t *testing.T) {
	s := play(t)
	s.start()
	s.registered()
	s.polls(1)
	s.Do(func() {
		c := s.Calls("register")[0]
		require.Equal(t, "Bearer "+s.Token, c.Header.Get("Authorization"))
		require.Contains(t, c.Header.Get("Content-Type"), "application/json")
		r := c.Registration
		require.Equal(t, 1, r.Protocol)
		require.Equal(t, "shop", r.Group)
		require.Equal(t, "shop-1", r.Instance)
		require.Regexp(t, `^[A-Za-z0-9._:-]{1,64}$`, r.BootID)
		require.NotNil(t, r.Slots)
		require.Equal(t, 8, *r.Slots)
		require.Zero(t, r.CommandSlots)
		require.ElementsMatch(t, []string{
			"ok", "echo", "fail", "fatal", "retryafter", "panic", "sleep", "deaf", "log", "big", "progress", "checkpoint",
			"busy", "async",
		}, r.Handlers)
		require.Len(t, s.Calls("register"), 1)
		p := s.Calls("poll")[0]
		require.Equal(t, "Bearer "+s.Token, p.Header.Get("Authorization"))
		require.Equal(t, int64(1), p.Poll.Seq)
		require.Zero(t, p.Poll.Ack)
		require.Equal(t, int64(1), p.Poll.Epoch)
		require.Equal(t, 8, p.Poll.Free)
		require.Equal(t, int64(1), s.Calls("poll")[1].Poll.Ack)
	})
}

func Test02FieldsThatItDoesNotKnow(t *testing.T) {
	s := play(t)
	s.Change = func(_ *conformance.Call, answer map[string]any) {
		answer["future"] = data{"deep": []int{1}}
		for _, list := range []string{"runs", "items", "cancel"} {
			entries, _ := answer[list].([]any)
			for _, entry := range entries {
				entry.(map[string]any)["future"] = "x"
			}
		}
	}
	r := s.Add(run("ok", nil))
	s.start()
	require.Equal(t, "SUCCESS", s.ended(r).Status)
}

func Test03TheProtocolIsRefused(t *testing.T) {
	s := play(t)
	s.Script = func(c *conformance.Call) *conformance.Fault {
		return &conformance.Fault{Status: 409, Code: "protocol_unknown"}
	}
	s.start()
	require.NotZero(t, s.exit())
	require.NotEmpty(t, strings.TrimSpace(s.stderr.String()), "it says why")
	require.Len(t, s.Calls("register"), 1)
}

func Test04BeatsWhileIdle(t *testing.T) {
	s := play(t)
	s.start()
	s.registered()
	s.polls(9)
	s.Do(func() {
		var gaps []time.Duration
		calls := s.Calls("poll")
		for i, c := range calls[1:] {
			gaps = append(gaps, c.At.Sub(calls[i].At))
			require.NotNil(t, c.Poll.WaitMs, "else the server waits as long as it likes")
			require.LessOrEqual(t, *c.Poll.WaitMs, s.Wait.Milliseconds())
			require.GreaterOrEqual(t, *c.Poll.WaitMs, s.Wait.Milliseconds()*8/10, "an idle worker waits")
		}
		require.GreaterOrEqual(t, slices.Min(gaps), s.Beat*8/10, "%v", gaps)
		slices.Sort(gaps)
		require.LessOrEqual(t, gaps[len(gaps)/2], 3*s.Beat, "%v", gaps)
	})
}

func Test05AnotherBeat(t *testing.T) {
	s := play(t)
	s.start()
	s.registered()
	s.polls(2)
	s.Do(func() { s.Beat, s.Wait = 200*time.Millisecond, 200*time.Millisecond })
	s.polls(4)
	s.Do(func() { require.LessOrEqual(t, *s.Newest("poll").Poll.WaitMs, int64(200)) })
	s.Do(func() { s.Beat, s.Wait = 900*time.Millisecond, 900*time.Millisecond })
	s.polls(4)
	s.Do(func() { require.Greater(t, *s.Newest("poll").Poll.WaitMs, int64(200)) })
}

func Test06FreeSlots(t *testing.T) {
	for _, slots := range []int{1, 8} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			s := play(t)
			s.env["PS_SLOTS"] = fmt.Sprint(slots)
			var runs []*conformance.Run
			for i := range 3*slots + 1 {
				r := run("sleep", data{"ms": 150})
				r.ID = fmt.Sprint("e", i)
				runs = append(runs, s.Add(r))
			}
			s.start()
			for _, r := range runs {
				require.Equal(t, "SUCCESS", s.ended(r).Status)
			}
			s.Do(func() {
				for _, c := range s.Calls("poll") {
					require.LessOrEqual(t, c.Poll.Free+len(c.Poll.Running), slots, "poll %d", c.N)
				}
				require.Equal(t, slots, s.Calls("poll")[0].Poll.Free)
			})
			now, most := 0, 0
			for _, line := range s.ledger() {
				if now--; strings.HasPrefix(line, "begin ") {
					now += 2
				}
				most = max(most, now)
			}
			require.Equal(t, slots, most, "so many run at once")
		})
	}
}

func Test07Success(t *testing.T) {
	s := play(t)
	s.start()
	s.registered()
	r := s.Add(run("ok", nil))
	e := s.ended(r)
	require.Equal(t, "SUCCESS", e.Status)
	require.Equal(t, "ok", e.Result)
	s.polls(2)
	s.Do(func() {
		require.Equal(t, 1, r.Ends)
		require.Empty(t, s.Newest("poll").Poll.Running)
		require.Equal(t, 8, s.Newest("poll").Poll.Free)
	})
}

func Test08Failure(t *testing.T) {
	s := play(t)
	r := s.Add(run("fail", nil))
	s.start()
	e := s.ended(r)
	require.Equal(t, "FAILED", e.Status)
	require.Contains(t, e.Message, "it failed")
	require.Contains(t, []string{"", "ERROR"}, e.Reason)
	require.False(t, e.NoRetry)
	require.Zero(t, e.RetryAfterMs)
}

func Test09Fatal(t *testing.T) {
	s := play(t)
	r := s.Add(run("fatal", nil))
	s.start()
	e := s.ended(r)
	require.Equal(t, "FAILED", e.Status)
	require.Contains(t, e.Message, "no use")
	require.True(t, e.NoRetry)
}

func Test10RetryAfter(t *testing.T) {
	s := play(t)
	r := s.Add(run("retryafter", nil))
	s.start()
	e := s.ended(r)
	require.Equal(t, "FAILED", e.Status)
	require.Contains(t, e.Message, "later")
	require.Equal(t, int64(60_000), e.RetryAfterMs)
	require.False(t, e.NoRetry)
}

func Test11Panic(t *testing.T) {
	s := play(t)
	r := s.Add(run("panic", nil))
	s.start()
	e := s.ended(r)
	require.Equal(t, "FAILED", e.Status)
	require.Contains(t, e.Message, "broken")
	if isGo() {
		require.Equal(t, "PANIC", e.Reason)
		s.Do(func() { require.Contains(t, strings.Join(r.Lines, "\n"), "goworker", "the stack") })
	}
	require.Equal(t, "SUCCESS", s.ended(s.Add(run("ok", nil))).Status, "it harms nothing else")
}

func Test12AHandlerThatItDoesNotHave(t *testing.T) {
	s := play(t)
	r := s.Add(run("nobody", nil))
	s.start()
	require.Equal(t, "RETURNED", s.ended(r).Status)
	require.Empty(t, s.ledger())
}

func Test13ParamsGoOverData(t *testing.T) {
	s := play(t)
	r := run("echo", data{"text": "of the job", "ms": 1})
	r.Params = data{"text": "of the trigger"}
	s.Add(r)
	s.start()
	require.Equal(t, "of the trigger", s.ended(r).Result)
}

func Test14Texts(t *testing.T) {
	s := play(t)
	const text = "Grüße 行 😀 \"</b>\" \\ tab\tend"
	echo := s.Add(run("echo", data{"text": text}))
	big := s.Add(run("big", data{"bytes": 64 << 10}))
	s.start()
	require.Equal(t, text, s.ended(echo).Result)
	e := s.ended(big)
	require.Equal(t, "SUCCESS", e.Status)
	require.LessOrEqual(t, len(e.Result), 64<<10)
	require.Greater(t, len(e.Result), 60<<10)
	require.True(t, utf8.ValidString(e.Result))
	require.True(t, strings.HasPrefix(e.Result, strings.Repeat("ä", 30<<10)), "it is cut between characters")
}

func Test15Lines(t *testing.T) {
	s := play(t)
	many := s.Add(run("log", data{"lines": 2000, "size": 100}))
	long := run("log", data{"lines": 3, "size": 10_000})
	long.ID = "e-long"
	s.Add(long)
	s.start()
	require.Equal(t, "SUCCESS", s.ended(many).Status)
	require.Equal(t, "SUCCESS", s.ended(long).Status)
	s.Do(func() {
		require.Len(t, many.Lines, 2000, "all of them come before the end")
		for i, line := range many.Lines {
			require.Equal(t, fmt.Sprintf("line %d", i+1), strings.TrimRight(line, "x"))
			require.Len(t, line, 100)
		}
		require.LessOrEqual(t, len(many.Items), 40, "they come in batches")
		require.Len(t, long.Lines, 3)
		for i, line := range long.Lines {
			require.True(t, strings.HasPrefix(line, fmt.Sprintf("line %d", i+1)))
			require.Greater(t, len(line), 8000)
		}
	})
}

func Test15LinesThatNobodyTakes(t *testing.T) {
	s := play(t)
	away := true
	s.Script = func(c *conformance.Call) *conformance.Fault {
		if away && c.Kind == "report" {
			return &conformance.Fault{Status: 503, Code: "store_away"}
		}
		return nil
	}
	r := s.Add(run("log", data{"lines": 8000, "size": 100}))
	s.start()
	s.until("the end of the handler", func() bool { return s.wrote("end " + r.Name()) })
	s.polls(2)
	s.Do(func() { away = false })
	require.Equal(t, "SUCCESS", s.ended(r).Status)
	s.Do(func() {
		require.Len(t, r.Lines, 8000, "the numbers go on")
		require.Equal(t, "line 8000", strings.TrimRight(r.Lines[7999], "x"))
		kept := 0
		for _, line := range r.Lines {
			kept += len(line)
		}
		require.LessOrEqual(t, kept, 300<<10, "no more than 256 KiB are kept")
		require.Greater(t, kept, 200<<10)
		first := slices.IndexFunc(r.Lines, func(line string) bool { return line != "" })
		require.NotContains(t, r.Lines[first], "xxx", "a mark stands for what is missing")
	})
}

func Test16ProgressAndCheckpoints(t *testing.T) {
	s := play(t)
	progress := s.Add(run("progress", nil))
	checkpoint := s.Add(run("checkpoint", data{"n": 100, "ms": 1500}))
	s.start()
	require.Equal(t, "done", s.ended(progress).Result)
	require.Equal(t, "SUCCESS", s.ended(checkpoint).Status)
	s.Do(func() {
		require.Equal(t, 100, progress.Progress)
		require.LessOrEqual(t, len(progress.Items), 20)
		require.Equal(t, "c100", checkpoint.Kept)
		require.LessOrEqual(t, len(checkpoint.Items), 20)
		require.Nil(t, checkpoint.Items[0].End, "it is stored while the handler runs")
	})
}

func Test17ACheckpointOfTheAttemptBefore(t *testing.T) {
	s := play(t)
	r := run("checkpoint", data{"n": 1, "ms": 1})
	r.Attempt, r.Checkpoint = 2, "c7"
	s.Add(r)
	s.start()
	require.Equal(t, "SUCCESS", s.ended(r).Status)
	s.Do(func() {
		require.Contains(t, r.Lines, "last c7")
		require.Equal(t, 2, r.Items[0].Attempt)
		require.Equal(t, "c1", r.Kept)
	})
}

func Test33TheTokenIsReplaced(t *testing.T) {
	s := play(t)
	r := s.Add(run("sleep", data{"ms": 1500}))
	s.start()
	s.until("a begin", func() bool { return s.wrote("begin " + r.Name()) })
	require.NoError(t, os.WriteFile(s.path("token"), []byte("psw_another"), 0o600))
	s.Do(func() { s.Token = "psw_another" })
	require.Equal(t, "SUCCESS", s.ended(r).Status)
	s.polls(1)
	s.Do(func() { require.Len(t, s.Calls("register"), 1, "it is the same life") })
}
