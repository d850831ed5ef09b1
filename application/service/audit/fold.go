package audit

import (
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The bounds of what refused calls write: refused callers must not fill the store.
const (
	// foldFor is how long equal calls are counted before an entry says how many.
	foldFor = time.Minute
	// foldKinds bounds the kinds of refused calls that have their own count; all others
	// share one count.
	foldKinds = 1000
	// foldSignIns bounds the refused sign-ins of a minute that get an entry each.
	foldSignIns = 30
	// forbidden is the status of calls that were refused for want of a right,
	// lowestFailure the lowest one of calls that failed.
	forbidden     = 403
	lowestFailure = 400
)

// refused reports whether an entry is of a call without the right, or of a sign-in that
// failed. A sign-in whose caller hung up counts too.
func refused(e entity.AuditEntry) bool {
	return e.Status == forbidden || e.UserID == "" && e.Status >= lowestFailure
}

// foldKey is what refused calls have in common.
type foldKey struct{ user, token, action, object, code string }

// folded are equal calls of one span.
type folded struct {
	key   foldKey
	began time.Duration
	// entry is the last of those that are not stored yet, and counts them.
	entry entity.AuditEntry
}

// auditFold counts equal refused calls. It is safe for concurrent use.
type auditFold struct {
	mu    sync.Mutex
	spans map[foldKey]*folded
	// signIns are those of the span that began at signInsSince.
	signIns      int
	signInsSince time.Duration
}

func newAuditFold() *auditFold { return &auditFold{spans: map[foldKey]*folded{}} }

// first reports whether an entry is to be stored: the first of its kind in a
// span. Others are counted.
func (f *auditFold) first(now time.Duration, e entity.AuditEntry) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := f.keyOf(now, e)
	span := f.spans[key]
	if span == nil && len(f.spans) >= foldKinds {
		key = foldKey{code: e.Code}
		span = f.spans[key]
	}
	if span == nil {
		f.spans[key] = &folded{key: key, began: now}
		return true
	}
	span.count(e, 1)
	return false
}

// keyOf returns the key under which a refused call is counted: caller and action. For
// sign-ins it is name and address, while they are few.
func (f *auditFold) keyOf(now time.Duration, e entity.AuditEntry) foldKey {
	if e.Status == forbidden {
		return foldKey{user: e.UserID, token: e.TokenID, action: e.Action, code: e.Code}
	}
	if now-f.signInsSince >= foldFor {
		f.signIns, f.signInsSince = 0, now
	}
	from, _ := access.Origin(e.Address)
	key := foldKey{user: from, action: e.Action, object: e.Object, code: e.Code}
	if f.spans[key] == nil {
		if f.signIns >= foldSignIns {
			return foldKey{action: e.Action, code: e.Code}
		}
		f.signIns++
	}
	return key
}

// count adds calls to a span: what they do not have in common is left out.
func (s *folded) count(e entity.AuditEntry, calls int) {
	calls += s.entry.Calls
	if old := s.entry; old.Calls > 0 {
		for _, text := range [][2]*string{
			{&e.UserID, &old.UserID},
			{&e.UserName, &old.UserName},
			{&e.TokenID, &old.TokenID},
			{&e.Address, &old.Address},
			{&e.Object, &old.Object},
			{&e.ObjectName, &old.ObjectName},
			{&e.Action, &old.Action},
		} {
			if *text[0] != *text[1] {
				*text[0] = ""
			}
		}
		if e.Action == "" {
			e.Action = "several"
		}
	}
	e.Calls = calls
	s.entry = e
}

// take returns the entries of the spans that are over, or of all, and clears them.
func (f *auditFold) take(now time.Duration, all bool) []*folded {
	f.mu.Lock()
	defer f.mu.Unlock()
	var over []*folded
	for key, span := range f.spans {
		if !all && now-span.began < foldFor {
			continue
		}
		delete(f.spans, key)
		if span.entry.Calls > 0 {
			over = append(over, span)
		}
	}
	return over
}

// giveBack counts what could not be stored once more.
func (f *auditFold) giveBack(lost *folded) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if span := f.spans[lost.key]; span != nil {
		span.count(lost.entry, lost.entry.Calls)
		return
	}
	f.spans[lost.key] = lost
}
