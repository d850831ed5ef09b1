package secret

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// SecretCount is how many secrets there are, and how many of them are bound to
// groups.
type SecretCount struct{ Secrets, Bound int }

// Refresh finds secrets that this node has no key for; Lost tells of them. It is
// called at intervals, as other nodes write secrets too.
func (s *SecretService) Refresh(ctx context.Context) (SecretCount, error) {
	seals, err := s.secrets.Seals(ctx)
	if err != nil {
		return SecretCount{}, fmt.Errorf("count the secrets: %w", err)
	}
	var count SecretCount
	var keys []string
	lost := 0
	for _, seal := range seals {
		count.Secrets += seal.Secrets
		count.Bound += seal.Bound
		if !s.sealer.Has(seal.KeyID) {
			lost += seal.Secrets
			keys = append(keys, seal.KeyID)
		}
	}
	reason := ""
	if lost > 0 {
		reason = fmt.Sprintf("%d secrets cannot be opened here: this node does not have the key %s that sealed them", lost,
			strings.Join(keys, ", "))
	}
	s.lost.Store(&reason)
	return count, nil
}

// Lost says which secrets this node cannot open; empty is none. Runs that name
// others are not concerned.
func (s *SecretService) Lost() (reason string, blocks bool) {
	if found := s.lost.Load(); found != nil {
		reason = *found
	}
	return reason, false
}

// resealPage is how many secrets are looked at together.
const resealPage = 100

// Reseal puts every value under the current key, and returns how many it
// moved. It goes on after one that cannot be opened, whose error it returns.
// Calling it again, also on several nodes at once, does no harm.
func (s *SecretService) Reseal(ctx context.Context) (moved int, err error) {
	if s.sealer.Current() == "" {
		return 0, nil
	}
	page := repository.Page{Limit: resealPage}
	for {
		secrets, next, listErr := s.secrets.ListSecrets(ctx, nil, page)
		if listErr != nil {
			return moved, errors.Join(err, listErr)
		}
		for _, v := range secrets {
			if v.KeyID == s.sealer.Current() {
				continue
			}
			ok, oneErr := s.reseal(ctx, v)
			if ok {
				moved++
			}
			err = errors.Join(err, oneErr)
		}
		if next == "" {
			return moved, err
		}
		page.Cursor = next
	}
}

func (s *SecretService) reseal(ctx context.Context, v entity.Secret) (bool, error) {
	value, err := s.sealer.Open(v.Name, v.KeyID, v.Sealed)
	if err != nil {
		return false, fmt.Errorf("open the secret %s: %w", v.Name, err)
	}
	if err := s.seal(&v, value); err != nil {
		return false, err
	}
	return s.secrets.ResealSecret(ctx, v)
}
