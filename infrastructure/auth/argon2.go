// Package auth hashes passwords.
package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// The cost of one hash: 19 MiB, two passes, one lane (about 25 ms).
const (
	memoryKiB  = 19 * 1024
	passes     = 2
	lanes      = 1
	saltLength = 16
	keyLength  = 32
	// maxMemoryKiB and maxPasses bound what a stored hash may demand.
	maxMemoryKiB = 256 * 1024
	maxPasses    = 16
	maxEncoded   = 512
)

// ErrFormat means that a stored hash is not an argon2id string.
var ErrFormat = errors.New("the stored password hash is not an argon2id string")

// queueLength bounds the calls that wait for a permit.
const queueLength = 32

// Argon2 hashes passwords with argon2id. Each hash needs 19 MiB, so their number at one time is
// bounded. 32 further calls wait, and the rest fails with apperror.KindTooMany. Safe for
// concurrent use.
type Argon2 struct {
	slots   chan struct{}
	waiting chan struct{}
	salt    []byte
}

// NewArgon2 bounds the concurrent computations; less than one means one.
func NewArgon2(parallel int) *Argon2 {
	return &Argon2{
		slots: make(chan struct{}, max(parallel, 1)), waiting: make(chan struct{}, queueLength),
		salt: make([]byte, saltLength),
	}
}

// Hash returns a salted argon2id string of the password. It fails only when the queue is full,
// or when the context ends during the wait.
func (a *Argon2) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltLength)
	// crypto/rand never fails: it ends the process instead.
	_, _ = rand.Read(salt)
	sum, err := a.derive(ctx, password, salt, passes, memoryKiB, lanes, keyLength)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, lanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum)), nil
}

// Verify reports, in constant time, whether the hash is that of the password. It fails with
// ErrFormat when the hash is not an argon2id string.
func (a *Argon2) Verify(ctx context.Context, password, encoded string) (bool, error) {
	h, err := parse(encoded)
	if err != nil {
		return false, err
	}
	sum, err := a.derive(ctx, password, h.salt, h.passes, h.memory, h.lanes, uint32(len(h.sum)))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(sum, h.sum) == 1, nil
}

// Burn takes as long as Verify, for users who do not exist.
func (a *Argon2) Burn(ctx context.Context, password string) error {
	_, err := a.derive(ctx, password, a.salt, passes, memoryKiB, lanes, keyLength)
	return err
}

func (a *Argon2) derive(ctx context.Context, password string, salt []byte, t, m uint32, p uint8,
	n uint32,
) ([]byte, error) {
	if err := a.enter(ctx); err != nil {
		return nil, err
	}
	defer func() { <-a.slots }()
	return argon2.IDKey([]byte(password), salt, t, m, p, n), nil
}

// enter takes a permit, at once or after a wait in the queue.
func (a *Argon2) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("hash a password: %w", err) // nobody waits for it
	}
	select {
	case a.slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case a.waiting <- struct{}{}:
		defer func() { <-a.waiting }()
	default:
		f := apperror.New(apperror.KindTooMany, "too_many_logins",
			"the server checks as many passwords as it can; wait and try again")
		f.RetryAfterSec = 1
		return f
	}
	select {
	case a.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait to hash a password: %w", ctx.Err())
	}
}

type stored struct {
	passes, memory uint32
	lanes          uint8
	salt, sum      []byte
}

func parse(encoded string) (stored, error) {
	parts := strings.Split(encoded, "$")
	if len(encoded) > maxEncoded || len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return stored{}, ErrFormat
	}
	var h stored
	var version int
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return stored{}, ErrFormat
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.passes, &h.lanes); err != nil {
		return stored{}, ErrFormat
	}
	var err error
	if h.salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return stored{}, ErrFormat
	}
	if h.sum, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil {
		return stored{}, ErrFormat
	}
	if h.passes < 1 || h.passes > maxPasses || h.memory < 8 || h.memory > maxMemoryKiB || h.lanes < 1 || len(h.salt) < 8 ||
		len(h.sum) < 16 {
		return stored{}, ErrFormat
	}
	return h, nil
}
