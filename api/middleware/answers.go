package middleware

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// maxAnswers and maxAnswerBytes bound what is kept, maxOneAnswer a single answer and
	// maxKeptQuery the query of its address, in bytes.
	maxAnswers     = 500
	maxAnswerBytes = 32 << 20
	maxOneAnswer   = 1 << 20
	maxKeptQuery   = 1 << 10
	// maxWriters is how many users' last changes are remembered before old ones are dropped.
	maxWriters = 1000
	// longestLife is the most that Freshness.Life may be.
	longestLife = 5 * time.Second
)

// Freshness says how long an answer may be shown again.
type Freshness struct {
	// Life counts from the begin of the load; at most longestLife.
	Life time.Duration
	// Topics are those of the live feed after whose change the answer is not shown again.
	Topics []string
	// ByRole is for answers that show one role more than another.
	ByRole bool
}

// Answers keeps what pages of the console read, for a moment: a thousand browsers that read
// the same cost one read of the store. It is for calls by cookie alone. Programs, which
// come with a token, are always answered from the store. Safe for concurrent use.
type Answers struct {
	clock      clock.Clock
	lastChange func(topics []string) int64

	mu    sync.Mutex
	held  map[string]*keptAnswer
	bytes int
	// changing counts the changes of users that are in progress, and changed is when their
	// last ones ended: nobody is shown what was read before an own change.
	changing map[string]int
	changed  map[string]time.Duration
}

// keptAnswer is one load. The fields below done are set before it is closed.
type keptAnswer struct {
	began  time.Duration
	change int64
	done   chan struct{}

	err         error
	body        []byte
	contentType string
	// disposition is the header Content-Disposition: that of a file to keep.
	disposition string
	etag        string
	// alone: each caller has to ask, as the answer is not for sharing.
	alone bool
}

// NewAnswers keeps nothing yet. told counts the changes of topics that the live feed has
// told of.
func NewAnswers(c clock.Clock, told func(topics []string) int64) *Answers {
	return &Answers{
		clock: c, lastChange: told, held: map[string]*keptAnswer{},
		changing: map[string]int{}, changed: map[string]time.Duration{},
	}
}

// Change notes that the caller changes something.
func (a *Answers) Change() gin.HandlerFunc {
	return func(c *gin.Context) {
		user, known := callerID(c)
		if !known {
			c.Next()
			return
		}
		a.mu.Lock()
		a.changing[user]++
		a.mu.Unlock()
		defer a.changeEnded(user)
		c.Next()
	}
}

func (a *Answers) changeEnded(user string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Monotonic()
	if a.changing[user]--; a.changing[user] == 0 {
		delete(a.changing, user)
	}
	if len(a.changed) > maxWriters {
		maps.DeleteFunc(a.changed, func(_ string, at time.Duration) bool { return now-at > longestLife })
	}
	a.changed[user] = now
}

// Keep shows the answers of a route again for as long as they are fresh. One load is for
// all who wait for it. Errors are told to those who wait, and not kept.
func (a *Answers) Keep(f Freshness) gin.HandlerFunc {
	return func(c *gin.Context) {
		who, _ := CallerOf(c)
		if !ByCookie(c) || len(c.Request.URL.RawQuery) > maxKeptQuery {
			c.Next()
			return
		}
		key := c.Request.URL.Path + "?" + c.Request.URL.RawQuery + "\x00" + rightsOf(who, f.ByRole)
		came, anew := a.clock.Monotonic(), asksAnew(c.Request.Header)
		for {
			one, usable, mine := a.find(key, who.User.ID, f, came, anew)
			if mine {
				a.load(c, key, one)
				return
			}
			select {
			case <-one.done:
			case <-c.Request.Context().Done():
				Fail(c, c.Request.Context().Err())
				return
			}
			switch {
			case !usable: // somebody reads what the caller cannot use: one load at a time
			case one.err != nil:
				Fail(c, one.err)
				return
			case one.alone:
				c.Next()
				return
			default:
				c.Abort()
				one.write(c)
				return
			}
		}
	}
}

// find returns a load that the caller can use, or has to make, or else one to wait for.
func (a *Answers) find(key, user string, f Freshness, came time.Duration,
	anew bool,
) (one *keptAnswer, usable, mine bool) {
	told := a.lastChange(f.Topics)
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Monotonic()
	one = a.held[key]
	ended, known := a.changed[user]
	own := a.changing[user] > 0 || one != nil && known && one.began <= ended
	switch {
	case one == nil:
	case one.began > came && !own:
		return one, true, false
	case anew || own: // who has changed something waits for nobody's older read
	case now-one.began < f.Life && one.change == told:
		return one, true, false
	case !one.loaded():
		return one, false, false
	}
	a.drop(key)
	one = &keptAnswer{began: now, change: told, done: make(chan struct{})}
	a.held[key] = one
	return one, true, true
}

// drop forgets an answer. The caller holds mu.
func (a *Answers) drop(key string) {
	if one := a.held[key]; one != nil {
		if one.loaded() {
			a.bytes -= len(one.body)
		}
		delete(a.held, key)
	}
}

var errNoAnswer = errors.New("the read that others waited for did not end")

// load runs the action for all who wait, also when its caller leaves meanwhile.
func (a *Answers) load(c *gin.Context, key string, one *keptAnswer) {
	ctx := context.WithoutCancel(c.Request.Context())
	if until, bounded := c.Request.Context().Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	c.Request = c.Request.WithContext(ctx)
	held := hold(c)
	one.err = errNoAnswer
	defer func() {
		c.Writer = held.ResponseWriter
		a.end(key, one)
	}()
	c.Next()
	switch one.err = errorOf(c); {
	case one.err != nil:
		held.release()
	case held.status != http.StatusOK || held.body.Len() > maxOneAnswer:
		one.alone = true
		held.release()
	default:
		sum := sha256.Sum256(held.body.Bytes())
		one.body, one.contentType = held.body.Bytes(), held.Header().Get("Content-Type")
		one.disposition = held.Header().Get("Content-Disposition")
		one.etag = `"` + hex.EncodeToString(sum[:12]) + `"`
		c.Writer = held.ResponseWriter
		one.write(c)
	}
}

// end tells those who wait, and keeps the answer if it may be shown again.
func (a *Answers) end(key string, one *keptAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(one.done)
	if a.held[key] != one { // who wanted a newer one has taken the place
		return
	}
	if one.err != nil || one.alone {
		delete(a.held, key)
		return
	}
	a.bytes += len(one.body)
	now := a.clock.Monotonic()
	for other, kept := range a.held {
		if other != key && kept.loaded() &&
			(now-kept.began >= longestLife || len(a.held) > maxAnswers || a.bytes > maxAnswerBytes) {
			a.drop(other)
		}
	}
}

func (k *keptAnswer) loaded() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

// write answers, without a body to who has this answer already.
func (k *keptAnswer) write(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("ETag", k.etag)
	if strings.Contains(c.Request.Header.Get("If-None-Match"), k.etag) {
		h.Del("Content-Type")
		h.Del("Content-Length")
		c.Status(http.StatusNotModified)
		c.Writer.WriteHeaderNow()
		return
	}
	h.Set("Content-Type", k.contentType)
	if k.disposition != "" {
		h.Set("Content-Disposition", k.disposition)
	}
	h.Set("Content-Length", strconv.Itoa(len(k.body)))
	c.Status(http.StatusOK)
	_, _ = c.Writer.Write(k.body) // a caller who is gone is no failure of ours
}

// asksAnew reports whether a caller wants what the store says now.
func asksAnew(h http.Header) bool {
	for _, value := range h.Values("Cache-Control") {
		for directive := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(directive), "no-cache") {
				return true
			}
		}
	}
	return false
}

// rightsOf are all rights on which an answer may depend: those who see the same have the
// same text. A caller bound to groups shares with callers of the same groups and roles alone.
func rightsOf(who entity.Principal, byRole bool) string {
	var b strings.Builder
	if byRole || who.User.Groups != nil || who.TokenID != "" {
		fmt.Fprintf(&b, "%q %t %t %q %q", who.User.Role, who.User.Commands, who.User.Secrets, who.TokenID, who.Scopes)
	}
	if who.User.Groups == nil {
		return b.String() + "*"
	}
	for _, group := range slices.Sorted(maps.Keys(who.User.Groups)) {
		fmt.Fprintf(&b, " %q=%q", group, who.User.Groups[group])
	}
	return b.String()
}
