package monitoring_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

// A copy of a collection says what the store says, whatever the order of the rows.
func TestACollectionAsAnEvent(t *testing.T) {
	minute := time.Date(2026, 11, 20, 12, 3, 0, 0, time.UTC)
	c := monitoring.Collection{NodeID: "node-1", Time: minute, Rows: []series.Row{
		{Name: "node.running", NodeID: "node-1", Samples: 4, Sum: 10, Min: 1, Max: 4},
		{Name: "executions.ended", NodeID: "node-1", Group: "b", Samples: 1, Sum: 7, Min: 7, Max: 7},
		{Name: "executions.ended", NodeID: "node-1", Group: "a", Samples: 1, Sum: 2, Min: 2, Max: 2},
		{Name: "cluster.nodesUp", Samples: 2, Sum: 6, Min: 3, Max: 3},
	}}
	events := c.Events(series.NewCatalogue())
	require.Len(t, events, 1)
	e := events[0]()
	require.Equal(t, "scheduler.metrics", e.Topic)
	require.Equal(t, "node-1", e.Key)
	require.Equal(t, "metrics.collected", e.Type)
	require.Equal(t, minute.Add(time.Minute), e.CreateTime)
	require.JSONEq(t, `{"nodeId":"node-1","time":"2026-11-20T12:03:00.000Z","periodSec":60,"part":1,"parts":1,"series":[
		{"name":"cluster.nodesUp","scope":"CLUSTER","kind":"GAUGE","samples":2,"value":3,"min":3,"max":3},
		{"name":"executions.ended","scope":"GROUP","kind":"SUM","group":"a","samples":1,"value":2,"min":2,"max":2},
		{"name":"executions.ended","scope":"GROUP","kind":"SUM","group":"b","samples":1,"value":7,"min":7,"max":7},
		{"name":"node.running","scope":"NODE","kind":"GAUGE","samples":4,"value":2.5,"min":1,"max":4}]}`, e.Payload)
}

// A collection of many groups is several events, none of which is large, and no row is lost.
func TestACollectionOfManyGroupsIsSeveralEvents(t *testing.T) {
	c := monitoring.Collection{NodeID: "n", Time: time.Unix(0, 0)}
	for i := range 1201 {
		c.Rows = append(c.Rows, series.Row{Name: "executions.ended", Group: fmt.Sprintf("%0100d", i), Samples: 1, Sum: 1})
	}
	ids, groups := map[string]bool{}, map[string]bool{}
	for _, event := range c.Events(series.NewCatalogue()) {
		e := event()
		ids[e.ID] = true
		require.Less(t, len(e.Payload), 200<<10)
		var data struct {
			Parts  int
			Series []struct{ Group string }
		}
		require.NoError(t, json.Unmarshal([]byte(e.Payload), &data))
		require.Equal(t, 3, data.Parts)
		for _, s := range data.Series {
			groups[s.Group] = true
		}
	}
	require.Len(t, ids, 3)
	require.Len(t, groups, 1201)
}
