package remote

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
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

// Do makes the calls and prints the outcome for each object. Programs get the answer; people get
// the runs that were made, the failures and the totals. It fails where one of the calls did.
func (b Bulk) Do(k *Call) error {
	raw, total, err := b.call(k)
	switch {
	case err != nil:
		return err
	case k.ForPeople():
		b.show(k, total)
	case raw != nil:
		k.Raw(raw)
	default:
		k.Value(total)
	}
	if total.Failed > 0 {
		return fmt.Errorf("%d of %d failed", total.Failed, len(total.Items))
	}
	return nil
}

// call treats all objects. raw is the answer where one call sufficed.
func (b Bulk) call(k *Call) (raw json.RawMessage, total vo.Bulk, err error) {
	total.Items = []vo.BulkItem{}
	rest := b.IDs
	for calls := 1; ; calls++ {
		body := map[string]any{}
		maps.Copy(body, b.Body)
		if len(b.IDs) > 0 {
			now := rest[:min(maxBulk, len(rest))]
			body["ids"], rest = now, rest[len(now):]
		}
		if err := k.API.Call(k.Cmd.Context(), "POST", b.Path, nil, body, &raw); err != nil {
			return nil, total, err
		}
		var part vo.BulkRetry
		if err := json.Unmarshal(raw, &part); err != nil {
			return nil, total, err
		}
		total.Items = append(total.Items, part.Items...)
		total.Succeeded += part.Succeeded
		total.Failed += part.Failed
		// A round in which nothing succeeded would go on for ever. The rest of a plan is another one.
		total.More = part.More && (part.Succeeded > 0 || part.PlanID != "")
		if part.PlanID != "" {
			b.Body = map[string]any{"planId": part.PlanID}
		}
		if total.More || len(rest) > 0 {
			continue
		}
		if calls > 1 {
			raw = nil
		}
		return raw, total, nil
	}
}

func (b Bulk) show(k *Call, total vo.Bulk) {
	say := k.Line
	for _, i := range total.Items {
		if !i.OK {
			k.Notef("%s: %s", cmp.Or(b.Titles[i.ID], i.ID), i.Message)
		}
		if len(i.ExecutionIDs) > 0 {
			k.Lines(i.ExecutionIDs)
			say = k.Notef // the ids are the output, as they are for one object
		}
	}
	say("%d done, %d failed", total.Succeeded, total.Failed)
}
