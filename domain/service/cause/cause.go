// Package cause groups failures that have the same cause. A cause is a pure function of what is
// stored of a run, so every reader computes the same one and nothing has to be kept.
package cause

import (
	"crypto/sha256"
	"encoding/hex"
)

// version is that of the rules by which a message becomes a cause. New rules begin new causes.
const version = 1

// maxLine bounds the normalised line that makes a cause, in characters.
const maxLine = 300

// ID names a cause: the version of the rules, and the beginning of a hash. The zero value names none.
type ID [8]byte

// String is the id in hexadecimal letters.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Of returns the cause of a failure from its reason and its message as they are stored, with secrets
// masked. Safe for concurrent use. Any text is taken; its cost grows with the first 4 KiB alone.
func Of(reason, message string) ID {
	sum := sha256.Sum256([]byte(reason + "\x00" + Normal(message)))
	id := ID{version}
	copy(id[1:], sum[:])
	return id
}
