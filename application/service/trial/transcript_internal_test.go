package trial

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func TestATrialShowsTheLinesThatATerminalShows(t *testing.T) {
	said := func(r *transcript) (out []string) {
		lines, _ := r.end()
		for _, l := range lines {
			out = append(out, string(l.Stream)+" "+l.Text)
		}
		return out
	}
	r := &transcript{now: time.Now, returned: map[entity.LogType]int{}}
	r.Log(entity.LogStdout, "one\r\ntwo\r\n")
	r.Log(entity.LogStdout, "10%\r")
	r.Log(entity.LogStderr, "bar 1\r")
	r.Log(entity.LogStdout, "20%\r")
	r.Log(entity.LogStderr, "bar 2")
	r.Log(entity.LogStdout, "100%\rdone")
	r.Log(entity.LogStdout, "")
	require.Equal(t, []string{"STDOUT one", "STDOUT two", "STDERR bar 2", "STDOUT done", "STDOUT "}, said(r))

	r = &transcript{now: time.Now, returned: map[entity.LogType]int{}}
	for range 100_000 {
		r.Log(entity.LogStdout, strings.Repeat("=", 80)+"\r")
	}
	r.Log(entity.LogStdout, "the end")
	require.Equal(t, []string{"STDOUT the end"}, said(r))
	require.False(t, r.truncated)
}
