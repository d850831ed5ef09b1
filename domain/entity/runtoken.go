package entity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"
)

// RunToken lets the target of an asynchronous call report about one attempt of
// a run, and counts what it has reported. Only the hash of the token is kept.
type RunToken struct {
	ExecutionID string
	// Attempt is the one that the token speaks for.
	Attempt int
	// Hash is 64 hexadecimal digits.
	Hash string
	// Secrets are the names of those that the attempt has opened. Sealed are their
	// values, by the key KeyID: they are hidden in what is reported, whatever becomes
	// of the secrets meanwhile. It is empty where they are too long to be kept.
	Secrets []string
	KeyID   string
	Sealed  []byte
	// Lines and Bytes are those that reports have added to the log.
	Lines, Bytes int
	CreateTime   time.Time
}

// runTokenBytes are random: nobody guesses one.
const runTokenBytes = 32

// RunTokenLen is the length of a token, in bytes.
const RunTokenLen = (runTokenBytes*8 + 5) / 6

// NewRunToken makes the token of an attempt and what is kept of it. secrets are
// the names of those that it has opened.
func NewRunToken(x *Execution, secrets []string, now time.Time) (token string, kept RunToken, err error) {
	raw := make([]byte, runTokenBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", kept, fmt.Errorf("make a run token: %w", err)
	}
	token = base64.RawURLEncoding.EncodeToString(raw)
	return token, RunToken{
		ExecutionID: x.ID, Attempt: x.Attempt, Hash: RunTokenHash(token), Secrets: secrets,
		CreateTime: now,
	}, nil
}

// RunTokenHash is what is kept of a token.
func RunTokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
