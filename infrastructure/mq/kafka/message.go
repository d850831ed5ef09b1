package kafka

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// envelope is the value of a message (docs/events.md).
type envelope struct {
	EventID string          `json:"eventId"`
	Type    string          `json:"type"`
	Time    string          `json:"time"`
	NodeID  string          `json:"nodeId"`
	Data    json.RawMessage `json:"data"`
}

// timeForm is RFC 3339 in UTC with milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z"

// message writes an event for the brokers; its data has at most limit bytes.
func (k *Client) message(e entity.Event, limit int) kafkago.Message {
	value, err := json.Marshal(envelope{
		EventID: e.ID, Type: e.Type, Time: e.CreateTime.UTC().Format(timeForm), NodeID: k.node,
		Data: shortened(e.Payload, limit),
	})
	if err != nil {
		value = []byte("null") // texts and valid JSON always marshal
	}
	return kafkago.Message{
		Topic: k.topicOf(e.Topic), Key: []byte(e.Key), Value: value, Time: e.CreateTime.Round(time.Millisecond),
		Headers: []kafkago.Header{
			{Key: "eventId", Value: []byte(e.ID)},
			{Key: "type", Value: []byte(e.Type)},
			{Key: "content-type", Value: []byte("application/json")},
		},
	}
}

// sizeOf is what a message takes in a batch, and a little more.
func sizeOf(m kafkago.Message) int {
	size := len(m.Key) + len(m.Value) + 64
	for _, h := range m.Headers {
		size += len(h.Key) + len(h.Value) + 8
	}
	return size
}

// leastText is what shortened leaves of a text at least.
const leastText = 256

// shortened is the payload as it is, or with its longest texts cut until it fits, and
// "truncated": true. A text that is no JSON object is left out.
func shortened(payload string, limit int) json.RawMessage {
	if len(payload) <= limit && json.Valid([]byte(payload)) {
		return json.RawMessage(payload)
	}
	none := json.RawMessage(`{"truncated":true}`)
	decoder := json.NewDecoder(strings.NewReader(payload))
	decoder.UseNumber()
	var fields map[string]any
	if decoder.Decode(&fields) != nil || fields == nil {
		return none
	}
	fields["truncated"] = true
	for {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if encoder.Encode(fields) != nil {
			return none
		}
		if out.Len() <= limit {
			return bytes.TrimSpace(out.Bytes())
		}
		longest := ""
		for name, value := range fields {
			if text, ok := value.(string); ok && len(text) > len(textOf(fields[longest])) {
				longest = name
			}
		}
		text := textOf(fields[longest])
		if len(text) <= leastText {
			return none
		}
		fields[longest] = strings.ToValidUTF8(text[:max(leastText, len(text)/2)], "")
	}
}

func textOf(value any) string {
	text, _ := value.(string)
	return text
}
