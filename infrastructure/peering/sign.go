// Package peering carries questions between nodes over HTTP. The key of the cluster
// signs them. They are separate from the API and its bounds (docs/cluster.md).
package peering

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// signature is the header that carries time, nonce and code of a message.
	signature = "X-Scheduler-Signature"
	// fresh is the largest difference between the time of a question and the answerer's time.
	// Both use the store's clock.
	fresh = 30 * time.Second
	// maxNonces bounds the nonces that are remembered in that time.
	maxNonces = 20_000
)

var (
	// errSignature is all that a stranger learns.
	errSignature = errors.New("the message is not signed with the key of this cluster")
	// errTime is for a question whose time differs from the answerer's by more than fresh.
	errTime = errors.New("the two nodes go by different times")
)

// stamp is the content of the header.
type stamp struct {
	at    time.Time
	nonce string
	code  string
}

func (s stamp) String() string {
	return fmt.Sprintf("t=%d,n=%s,s=%s", s.at.UnixMilli(), s.nonce, s.code)
}

func parseStamp(text string) (s stamp, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			ms, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return s, false
			}
			s.at = time.UnixMilli(ms)
		case "n":
			s.nonce = value
		case "s":
			s.code = value
		}
	}
	return s, len(s.nonce) == nonceLength && len(s.code) == 2*sha256.Size
}

// otherTime is the answer to a question that was signed at another time: the answerer's time, bound
// to that question. After a step of the store's clock, a node that the store does not answer still
// goes by the time before it (docs/cluster.md).
func otherTime(key []byte, question stamp, now time.Time) stamp {
	s := stamp{at: now, nonce: question.nonce}
	s.code = code(key, "time", question.code, s.String())
	return s
}

// nonceLength is the length of rand.Text.
const nonceLength = 26

// code signs the parts of a message. The length of each part precedes it, so that no part can
// stand for another.
func code(key []byte, parts ...string) string {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		_, _ = fmt.Fprintf(mac, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

func same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

// nonces holds the nonces of recent questions. Only signed questions come in, so strangers
// cannot fill it. Safe for concurrent use.
type nonces struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// first reports that a nonce is new, and remembers it.
func (n *nonces) first(nonce string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, again := n.seen[nonce]; again {
		return false
	}
	if len(n.seen) >= maxNonces {
		for old, at := range n.seen {
			if now.Sub(at) > 2*fresh {
				delete(n.seen, old)
			}
		}
		if len(n.seen) >= maxNonces {
			return false
		}
	}
	n.seen[nonce] = now
	return true
}
