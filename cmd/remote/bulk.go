package remote

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

// maxBulk is the most objects of one call of the API.
const maxBulk = 500

// Bulk is an action on many objects.
type Bulk struct {
	// Path is that of the action, such as /bulk/jobs/pause.
	Path string
	// Body is sent with each call.
	Body map[string]any
	// IDs are the objects. Without them Body chooses them, and the call is made
	// again as long as there are more.
	IDs []string
	// Titles are the names of objects for people, by id; others have only the id.
	Titles map[string]string
}

// bulkAnswer is what the API answers.
type bulkAnswer struct {
	Items     []json.RawMessage `json:"items"`
	Succeeded int               `json:"succeeded"`
	Failed    int               `json:"failed"`
	More      bool              `json:"more"`
}

// Do makes the calls and prints the outcome for each object. Programs get the answer; people get
// the runs that were made, the failures and the totals. It fails where one of the calls did.
func (b Bulk) Do(s *Session, c *cobra.Command, api *client.Client) error {
	raw, total, err := b.call(c, api)
	if err != nil {
		return err
	}
	switch {
	case s.ForPeople():
		err = b.show(s, total)
	case raw != nil:
		err = s.Raw(raw)
	default:
		err = s.Value(total)
	}
	if err == nil && total.Failed > 0 {
		err = fmt.Errorf("%d of %d failed", total.Failed, len(total.Items))
	}
	return err
}

// call treats all objects. raw is the answer where one call sufficed.
func (b Bulk) call(c *cobra.Command, api *client.Client) (raw json.RawMessage, total bulkAnswer, err error) {
	total.Items = []json.RawMessage{}
	rest := b.IDs
	for calls := 1; ; calls++ {
		body := maps.Clone(b.Body)
		if len(b.IDs) > 0 {
			if body == nil {
				body = map[string]any{}
			}
			now := rest[:min(maxBulk, len(rest))]
			body["ids"], rest = now, rest[len(now):]
		}
		if err := api.Call(c.Context(), "POST", b.Path, nil, body, &raw); err != nil {
			return nil, total, err
		}
		var part bulkAnswer
		if err := json.Unmarshal(raw, &part); err != nil {
			return nil, total, err
		}
		total.Items = append(total.Items, part.Items...)
		total.Succeeded += part.Succeeded
		total.Failed += part.Failed
		// A round in which nothing succeeded would go on for ever.
		total.More = part.More && part.Succeeded > 0
		if total.More || len(rest) > 0 {
			continue
		}
		if calls > 1 {
			raw = nil
		}
		return raw, total, nil
	}
}

func (b Bulk) show(s *Session, total bulkAnswer) error {
	type item struct {
		ID           string   `json:"id"`
		OK           bool     `json:"ok"`
		Message      string   `json:"message"`
		ExecutionIDs []string `json:"executionIds"`
	}
	items, err := client.Decode[item](total.Items)
	if err != nil {
		return err
	}
	made := slices.ContainsFunc(items, func(i item) bool { return len(i.ExecutionIDs) > 0 })
	for _, i := range items {
		if !i.OK {
			title := b.Titles[i.ID]
			if title == "" {
				title = i.ID
			}
			s.Notef("%s: %s", title, i.Message)
		}
		for _, id := range i.ExecutionIDs {
			if err := s.Line("%s", id); err != nil {
				return err
			}
		}
	}
	const count = "%d done, %d failed"
	if made { // the ids are the output, as they are for one object
		s.Notef(count, total.Succeeded, total.Failed)
		return nil
	}
	return s.Line(count, total.Succeeded, total.Failed)
}
