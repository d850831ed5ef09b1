package entity

import (
	"errors"
	"time"
)

// PeerMatter is what one node asks another, as the end of the path.
type PeerMatter string

// The matters.
const (
	// PeerLease: until when will you not declare me DOWN?
	PeerLease PeerMatter = "lease"
	// PeerYield: I am about to declare you DOWN; the store is there.
	PeerYield PeerMatter = "yield"
	// PeerWitness: have you found the target dead?
	PeerWitness PeerMatter = "witness"
	// PeerSee: do you see me in your registry?
	PeerSee PeerMatter = "see"
)

// PeerQuestion is what a node asks another (docs/cluster.md).
type PeerQuestion struct {
	Matter PeerMatter `json:"-"`
	// NodeID and Epoch are the asker's.
	NodeID string `json:"nodeId"`
	Epoch  int64  `json:"epoch"`
	// Boot is the asker's; empty where an older program asks. The nodes of a copy of the
	// store have the names and the key of the original's, but other boots.
	Boot string `json:"boot,omitempty"`
	// Target and TargetEpoch are whom the question is about, but for PeerLease
	// and PeerSee.
	Target      string `json:"target,omitempty"`
	TargetEpoch int64  `json:"targetEpoch,omitempty"`
}

// PeerAnswer is the other's answer; NodeID, Epoch and Boot are the answerer's.
type PeerAnswer struct {
	NodeID string `json:"nodeId"`
	Epoch  int64  `json:"epoch"`
	Boot   string `json:"boot"`
	// PromiseMs is how long from now the answerer will not declare the asker DOWN.
	PromiseMs int64 `json:"promiseMs,omitempty"`
	// Declared: the asker is DOWN, or is about to be.
	Declared bool `json:"declared,omitempty"`
	// Store: the answerer reaches the store.
	Store bool `json:"store,omitempty"`
	// Stopped: the answerer's work has stopped.
	Stopped bool `json:"stopped,omitempty"`
	// Dead: the answerer has found the target dead.
	Dead bool `json:"dead,omitempty"`
	// Look counts the good looks of the answerer at its registry; a node of the former
	// release gives none. Sees: the last one showed the asker, with its boot.
	Look int64 `json:"look,omitempty"`
	Sees bool  `json:"sees,omitempty"`
	// WorkedMs is how long the answerer works; 0 for one that stands by, or may not work.
	WorkedMs int64 `json:"workedMs,omitempty"`
}

// Worked is how long the answerer works.
func (a PeerAnswer) Worked() time.Duration { return time.Duration(a.WorkedMs) * time.Millisecond }

// Promise is how long the answerer will not declare the asker DOWN.
func (a PeerAnswer) Promise() time.Duration { return time.Duration(a.PromiseMs) * time.Millisecond }

// ErrNobodyListens is the error of a question to an address whose machine answers
// that no process listens there.
var ErrNobodyListens = errors.New("nobody listens at the address of the node")

// SealedKey is a key as it is stored; an empty KeyID is one that nothing sealed.
type SealedKey struct {
	KeyID  string
	Sealed []byte
}
