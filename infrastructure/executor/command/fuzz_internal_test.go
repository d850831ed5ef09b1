package command

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
)

// FuzzDefinition: the data of a job is refused with fields and reasons, or it names
// one thing to run.
func FuzzDefinition(f *testing.F) {
	for _, data := range []string{
		``, `{}`, `{"command":["true"]}`, `{"script":"echo ${params.day}","interpreter":"sh","env":{"A":"b"}}`,
		`{"command":["../evil"]}`,
		`{"command":["echo","a\u0000b"]}`,
		`{"command":["true"],"env":{"LD_PRELOAD":"x"},"workingDir":"/srv/../etc","successExitCodes":[256]}`,
	} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data string) {
		d, problems := parse(data, []string{"sh"}, placeholder.Samples(&entity.Job{Data: data}))
		for _, p := range problems {
			require.True(t, strings.HasPrefix(p.Field, "jobData"), p.Field)
			require.NotEmpty(t, p.Code)
			require.True(t, p.Message != "" && utf8.ValidString(p.Message), "%q", p.Message)
		}
		if len(problems) > 0 {
			return
		}
		require.NotEqual(t, len(d.argv) > 0, d.script != "", "one of both")
		for _, text := range append(d.argv, d.script, d.workingDir) {
			require.NotContains(t, text, "\x00")
		}
	})
}

// FuzzReportFile: a report file means the same however it is cut into reads, and
// what it tells is within the bounds.
func FuzzReportFile(f *testing.F) {
	f.Add([]byte("progress 5\ncheckpoint {}\nresult {\"a\": 1}\n"), 7)
	f.Add([]byte("progress 101\r\nprogress\n\n nonsense \xff\nresult x"), 12)
	f.Add([]byte("checkpoint "+strings.Repeat("x", 2*maxReportLine)+"\nprogress 7\n"), maxReportLine)
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		at = min(max(at, 0), len(data))
		read := func(parts ...[]byte) (*reportFile, *executortest.Recorder) {
			rep := &executortest.Recorder{}
			r := newReportFile(nil, rep)
			for _, part := range parts {
				r.split(part)
			}
			return r, rep
		}
		whole, said := read(data)
		cut, cutSaid := read(data[:at], data[at:])
		require.Equal(t, []any{whole.progress, whole.checkpoint, whole.result, whole.noted},
			[]any{cut.progress, cut.checkpoint, cut.result, cut.noted})
		require.Equal(t, said.Lines(), cutSaid.Lines())
		require.True(t, whole.progress >= -1 && whole.progress <= 100)
		for _, text := range []*string{whole.checkpoint, whole.result} {
			require.True(t, text == nil || len(*text) <= maxReported && utf8.ValidString(*text))
		}
	})
}
