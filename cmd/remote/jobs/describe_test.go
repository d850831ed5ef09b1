package jobs

import (
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

const definition = `{"name":"n","description":"d","group":"g","labels":{"a":"b"},"owner":"o","jobType":"CUSTOM","jobClass":"c",
	"schedule":{"kind":"CRON","cronExpression":"0 0 0 * * ?","timeZone":"UTC"},"priority":8,"timeoutSec":9,"startDeadlineSec":10,
	"retryPolicy":{"maxRetries":11,"backoff":"LINEAR","intervalMs":12,"maxIntervalMs":13},"overlapPolicy":"SERIAL",
	"maxConcurrency":14,"maxQueued":15,"shardCount":16,"routing":{"strategy":"FIRST","labels":{"k":"v"}},"onNodeLoss":"FAIL",
	"alerts":{"onFailure":["a"]},"deadline":{"at":"06:00","timeZone":"UTC","onMiss":"ALERT"},
	"parameters":[{"name":"day","type":"ENUM","default":"today","required":true,"description":"which","values":["today"]}],
	"next":[{"job":"g/then","on":"END","params":{"day":"${params.day}"}}]}`

// shown is what job get prints of a job.
func shown(t *testing.T, job remote.Object) string {
	t.Helper()
	var out strings.Builder
	k := &remote.Call{Session: remote.New(&out, io.Discard, nil, clock.NewSystem()), Words: descriptions}
	k.Describe(described, job)
	return out.String()
}

// Each field that people write of a job changes what job get says of it.
func TestEachFieldOfADefinitionIsShown(t *testing.T) {
	t.Parallel()
	var whole remote.Object
	from := json.NewDecoder(strings.NewReader(definition))
	from.UseNumber()
	require.NoError(t, from.Decode(&whole))
	require.Contains(t, shown(t, whole), "day ENUM of today, by default today, required: which\n")
	require.Contains(t, shown(t, whole), "g/then on END with day=${params.day}")
	for i, of := 0, reflect.TypeFor[vo.Definition](); i < of.NumField(); i++ {
		name := of.Field(i).Tag.Get("json")
		without, with := maps.Clone(whole), maps.Clone(whole)
		delete(without, name)
		switch name {
		case "jobData": // Show writes it as YAML
			continue
		case "broadcast":
			with[name] = true
		}
		require.NotEqual(t, shown(t, without), shown(t, with), "job get does not show %s", name)
	}
}
