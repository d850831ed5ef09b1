package request

import (
	"net/http"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// MaxBulk bounds the objects of one bulk action.
const MaxBulk = 500

// BulkIDs documents the body of a bulk action.
type BulkIDs struct {
	// IDs may name an object twice; it is treated once.
	IDs []string `json:"ids"`
}

// BulkLetters documents the body of a bulk action on dead letters: ids, or a
// cause in their place.
type BulkLetters struct {
	IDs    []string `json:"ids,omitempty"`
	JobID  string   `json:"jobId,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// Bulk is the body of a bulk action: ids, or for dead letters a cause.
type Bulk struct {
	IDs           []string
	JobID, Reason string
}

// ReadBulk reads the body of a bulk action; byCause allows a cause in the
// place of ids.
func ReadBulk(r *http.Request, byCause bool) (Bulk, error) {
	return readBulk(r, func(b *binder, v *Bulk) {
		if byCause {
			b.text("jobId", &v.JobID)
			b.text("reason", &v.Reason)
		}
	})
}

// readBulk reads ids and what else belongs to the action.
func readBulk(r *http.Request, more func(b *binder, v *Bulk)) (Bulk, error) {
	var v Bulk
	o, err := parse(r, false)
	if err != nil {
		return v, err
	}
	var f faults
	b := newBinder(o, &f)
	ids, given := b.strings("ids")
	v.IDs = slices.Compact(slices.Sorted(slices.Values(ids)))
	more(b, &v)
	b.close()
	cause := v.JobID != "" || v.Reason != ""
	switch {
	case len(f.list) > 0:
	case given && cause:
		f.add("ids", "conflict", "give ids, or jobId and reason, not both")
	case cause:
	case len(v.IDs) == 0:
		f.add("ids", "required", "must name at least one object")
	case len(v.IDs) > MaxBulk:
		f.add("ids", "too_many", "must name at most %d objects; send the rest in another call", MaxBulk)
	}
	return v, apperror.Invalid(f.list)
}
