package repository

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// Lease is a lock that somebody holds for a while.
type Lease struct {
	Name   string
	Holder string
	// Token is the fencing token. Of two leases of one name, the later one has the higher
	// token, whoever held them and whatever was restarted between. It is above 0. A write
	// that must not come from a former holder carries it, and the written row refuses a
	// lower one.
	Token int64
	// Until is when the lease ends by the clock of the lock's server. It is for
	// people to read: a holder measures its lease on its own monotonic clock,
	// from before the call that granted or renewed it.
	Until time.Time
}

// Locker grants leases of named locks. Locks save work and keep two nodes out
// of each other's way; they decide nothing (docs/locks.md). Implementations
// are safe for concurrent use.
//
// A lease that has run out is over, even if nobody else has taken the lock. It can be
// neither renewed nor released, only taken anew.
//
// Errors: apperror.KindInvalid for an argument that is out of range (CheckLock);
// apperror.KindUnavailable when the server cannot be reached; the context's own when that
// was cancelled. After any error but the first the outcome is unknown: the request may
// have succeeded. A lock that was taken so is free again when its ttl has passed.
type Locker interface {
	// TryLock takes the lock if it is free, and does not wait. ok is false when a holder
	// has it, even the same one: only Renew prolongs a lease.
	TryLock(ctx context.Context, name, holder string, ttl time.Duration) (lease Lease, ok bool, err error)
	// Renew lets the lease last for ttl from now; the token stays. ok is false
	// when the lease is over.
	Renew(ctx context.Context, lease Lease, ttl time.Duration) (ok bool, err error)
	// Unlock ends the lease. ok is false when it was over already.
	Unlock(ctx context.Context, lease Lease) (ok bool, err error)

	// ClaimMany takes the locks that are free and renews those that the holder has, in one
	// step. It returns the names of both, in the order of names. At most MaxLockNames
	// names, all different. The holder is to be unique to one life of one node, because
	// what it has is told by its name.
	ClaimMany(ctx context.Context, names []string, holder string, ttl time.Duration) (granted []string, err error)
	// ReleaseMany ends the leases that the holder has of these locks.
	ReleaseMany(ctx context.Context, names []string, holder string) error
}

// The ranges of what a lock is asked with.
const (
	// MaxLockName and MaxLockHolder are lengths in bytes.
	MaxLockName   = 200
	MaxLockHolder = 100
	// MaxLockNames is the number of partitions.
	MaxLockNames = 256
	// MinLockTTL is the resolution of the stores' clocks. MaxLockTTL keeps a
	// node that died from holding a lock for longer than anybody would wait.
	MinLockTTL = time.Millisecond
	MaxLockTTL = 24 * time.Hour
)

// CheckLock reports arguments of a Locker that are out of range, all at once.
// A name is 1 to MaxLockName bytes of any kind; a holder is 1 to MaxLockHolder
// printable ASCII characters without spaces.
func CheckLock(holder string, ttl time.Duration, names ...string) error {
	fields := checkNames(names)
	if !goodHolder(holder) {
		fields = append(fields, apperror.Field{
			Field: "holder", Code: "invalid",
			Message: fmt.Sprintf("must be 1 to %d printable ASCII characters without spaces", MaxLockHolder),
		})
	}
	if ttl < MinLockTTL || ttl > MaxLockTTL {
		fields = append(fields,
			apperror.Field{Field: "ttl", Code: "invalid", Message: fmt.Sprintf("must be %v to %v", MinLockTTL, MaxLockTTL)})
	}
	return apperror.Invalid(fields)
}

func checkNames(names []string) []apperror.Field {
	if len(names) > MaxLockNames {
		return []apperror.Field{{Field: "names", Code: "invalid", Message: fmt.Sprintf("must be at most %d names",
			MaxLockNames)}}
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if len(name) == 0 || len(name) > MaxLockName {
			return []apperror.Field{{Field: "name", Code: "invalid", Message: fmt.Sprintf("must be 1 to %d bytes long",
				MaxLockName)}}
		}
		if seen[name] {
			return []apperror.Field{{Field: "names", Code: "invalid", Message: fmt.Sprintf("must hold %q only once", name)}}
		}
		seen[name] = true
	}
	return nil
}

func goodHolder(s string) bool {
	strange := func(r rune) bool { return r <= ' ' || r > '~' }
	return len(s) > 0 && len(s) <= MaxLockHolder && !strings.ContainsFunc(s, strange)
}
