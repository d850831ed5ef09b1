package monitoring

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

// EventCollected is the type of an event that holds figures of a minute.
const EventCollected = "metrics.collected"

// rowsOfEvent bounds the rows of one event, so that it stays far below what brokers take.
const rowsOfEvent = 500

// collected is the data of such an event (docs/events.md).
type collected struct {
	NodeID    string    `json:"nodeId"`
	Time      string    `json:"time"`
	PeriodSec int       `json:"periodSec"`
	Part      int       `json:"part"`
	Parts     int       `json:"parts"`
	Series    []reading `json:"series"`
}

type reading struct {
	Name    string       `json:"name"`
	Scope   series.Scope `json:"scope"`
	Kind    series.Kind  `json:"kind"`
	Group   string       `json:"group,omitempty"`
	Samples int64        `json:"samples"`
	Value   float64      `json:"value"`
	Min     float64      `json:"min"`
	Max     float64      `json:"max"`
}

// Events are the collection for other systems: one, or several where it has more than 500 rows. Each is made when it is
// asked for.
func (c Collection) Events(catalogue *series.Catalogue) (events []func() entity.Event) {
	rows := slices.Clone(c.Rows)
	slices.SortFunc(rows, func(a, b series.Row) int {
		if d := strings.Compare(a.Name, b.Name); d != 0 {
			return d
		}
		return strings.Compare(a.Group, b.Group)
	})
	parts := (len(rows) + rowsOfEvent - 1) / rowsOfEvent
	for part := range slices.Chunk(rows, rowsOfEvent) {
		n := len(events) + 1
		events = append(events, func() entity.Event { return c.event(catalogue, part, n, parts) })
	}
	return events
}

func (c Collection) event(catalogue *series.Catalogue, rows []series.Row, part, parts int) entity.Event {
	data := collected{
		NodeID: c.NodeID, Time: c.Time.UTC().Format("2006-01-02T15:04:05.000Z"), PeriodSec: int(series.Minute / time.Second),
		Part: part, Parts: parts, Series: make([]reading, 0, len(rows)),
	}
	for _, r := range rows {
		def, _ := catalogue.Find(r.Name)
		data.Series = append(data.Series, reading{
			Name: r.Name, Scope: def.Scope, Kind: def.Kind, Group: r.Group, Samples: r.Samples, Value: r.Value(def.Kind),
			Min: r.Min, Max: r.Max,
		})
	}
	payload, err := json.Marshal(data)
	if err != nil {
		payload = []byte("{}") // readings are finite
	}
	return entity.Event{
		ID: fmt.Sprintf("%s:%d:%d", c.NodeID, c.Time.Unix(), part), Topic: entity.TopicMetrics, Key: c.NodeID,
		Type: EventCollected, Payload: string(payload), CreateTime: c.Time.Add(series.Minute),
	}
}
