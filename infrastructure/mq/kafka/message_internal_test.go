package kafka

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The form of a message is what consumers rely on.
func TestAMessageIsAsTheContractSays(t *testing.T) {
	k, _, _ := withWriter(t, nil)
	m := k.message(entity.Event{
		ID: "e-1:2:DEAD", Topic: entity.TopicExecutions, Key: "j-1", Type: "execution.final",
		Payload: `{"jobId":"j-1","n":12345678901234567}`, CreateTime: noon.Add(1_500_000),
	}, dataBytes)
	require.Equal(t, "acme.executions", m.Topic)
	require.Equal(t, "j-1", string(m.Key))
	require.JSONEq(t, `{"eventId":"e-1:2:DEAD","type":"execution.final","time":"2026-11-20T12:00:00.001Z",
		"nodeId":"node-1","data":{"jobId":"j-1","n":12345678901234567}}`, string(m.Value))
	headers := map[string]string{}
	for _, h := range m.Headers {
		headers[h.Key] = string(h.Value)
	}
	require.Equal(t, map[string]string{
		"eventId": "e-1:2:DEAD", "type": "execution.final", "content-type": "application/json",
	}, headers)
}

func TestLongDataIsCutWhereItIsLong(t *testing.T) {
	long := strings.Repeat("é<", 10_000)
	payload, err := json.Marshal(map[string]any{"jobId": "j-1", "n": 12345678901234567, "errorMessage": long})
	require.NoError(t, err)
	got := shortened(string(payload), 4096)
	require.LessOrEqual(t, len(got), 4096)
	require.True(t, utf8.Valid(got))
	var fields map[string]any
	require.NoError(t, json.Unmarshal(got, &fields))
	require.Equal(t, "j-1", fields["jobId"])
	require.Equal(t, true, fields["truncated"])
	require.Contains(t, string(got), "12345678901234567")
	cut, _ := fields["errorMessage"].(string)
	require.True(t, strings.HasPrefix(long, cut) && len(cut) > 1000, cut)
}

// Data of whatever form becomes an object below the limit.
func FuzzShortened(f *testing.F) {
	f.Add(`{"a":"b"}`, 100)
	f.Add(`{"a":[`+strings.Repeat("1,", 500)+`1]}`, 300)
	f.Add("no JSON", 50)
	f.Add(`null`, 0)
	f.Fuzz(func(t *testing.T, payload string, limit int) {
		limit = max(64, limit)
		got := shortened(payload, limit)
		require.LessOrEqual(t, len(got), limit)
		require.True(t, json.Valid(got))
	})
}
