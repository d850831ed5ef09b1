package node

import (
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

func TestATargetTellsEveryCall(t *testing.T) {
	settings, in := io.Pipe()
	out, records := io.Pipe()
	ports := make(chan int64, 2)
	var seen []measure.StartEvent
	var reading sync.WaitGroup
	reading.Go(func() {
		ReadRecords(out, func(some []Record) {
			for _, r := range some {
				if r[0] == RecordPort {
					ports <- r.Number()
				} else {
					seen = append(seen, r.StartEvent(0))
				}
			}
		})
	})
	ended := make(chan error, 1)
	go func() {
		ended <- RunTarget(t.Context(), settings, records)
		_ = records.Close()
	}()
	_, err := io.WriteString(in, `{"Hosts":2}`)
	require.NoError(t, err)
	began := time.Now().UnixMicro()
	call := func(host int, port int64, path, scheduled string) int {
		url := "http://" + TargetHost(host) + ":" + strconv.FormatInt(port, 10) + path
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		require.NoError(t, err)
		req.Header.Set("X-Scheduler-Scheduled-Time", scheduled)
		req.Header.Set("X-Scheduler-Attempt", "2")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	first, second := <-ports, <-ports
	require.Equal(t, http.StatusOK, call(0, first, "/41", "2026-03-01T12:00:00.000Z"))
	require.Equal(t, http.StatusOK, call(1, second, "/42", "2026-03-01T12:00:01.000Z"))
	require.Equal(t, http.StatusBadRequest, call(1, second, "/42", "noon"))
	require.Equal(t, http.StatusBadRequest, call(1, second, "/", "2026-03-01T12:00:01.000Z"))
	require.NoError(t, in.Close())
	require.NoError(t, <-ended)
	reading.Wait()
	require.Len(t, seen, 2)
	for i, s := range seen {
		require.Equal(t, noon.UnixMilli()+int64(i)*1000, s.ScheduledTime)
		require.Equal(t, []uint32{uint32(41 + i), 2}, []uint32{s.Job, uint32(s.Attempt)})
		require.GreaterOrEqual(t, s.At, began)
	}
}
