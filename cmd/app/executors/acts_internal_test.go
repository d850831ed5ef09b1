package executors

import (
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
)

// A worker that refuses a run is no server: people would look for the setting in the wrong place.
func TestARefusalNamesWhoRefuses(t *testing.T) {
	for name, acts := range map[string]string{"": "server", "worker.1": "worker"} {
		o := Options{Clock: clock.NewSystem(), Logger: slog.New(slog.DiscardHandler), Name: name}
		e, err := New(config.Config{}, o)
		require.NoError(t, err)
		run := func(kind entity.JobType, data string) string {
			return e.Run(t.Context(), entity.Run{
				Job: &entity.Job{ID: "j", Name: "a", Type: kind, Data: data, TimeoutSec: 60}, Execution: &entity.Execution{ID: "e"},
			}, &executortest.Recorder{}).Message
		}
		require.Contains(t, run(entity.JobHTTP, `{"url":"http://10.0.0.1/"}`), "10.0.0.1 are not allowed on this "+acts)
		require.Contains(t, run(entity.JobCommand, `{"command":["ls"]}`), "commands are not enabled on this "+acts)
		require.NoError(t, e.Close())
		if os.Geteuid() == 0 {
			_, err := command.FindAccount("", acts)
			require.ErrorContains(t, err, "this "+acts+" runs as root")
		}
	}
}
