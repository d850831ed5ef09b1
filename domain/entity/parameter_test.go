package entity_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func TestDefaultsStandForValuesThatWereNotGiven(t *testing.T) {
	job := &entity.Job{Parameters: []entity.JobParameter{
		{Name: "day", Default: json.RawMessage(`"today"`)}, {Name: "limit", Default: json.RawMessage(`5`)}, {Name: "bare"},
	}}
	require.JSONEq(t, `{"day":"today","limit":5}`, job.WithDefaults(""))
	require.JSONEq(t, `{"day":"monday","limit":5,"bare":1}`, job.WithDefaults(`{"day":"monday","bare":1}`))
	require.JSONEq(t, `{"day":"today","limit":5}`, job.WithDefaults(`{"limit":null}`))
	require.Equal(t, `{"a":1}`, (&entity.Job{}).WithDefaults(`{"a":1}`))
	require.Equal(t, "", (&entity.Job{Parameters: []entity.JobParameter{{Name: "bare"}}}).WithDefaults(""))
}
