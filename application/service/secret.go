package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// The bounds of a secret, in bytes. A shorter value could not be kept out of
// logs without making them unreadable.
const (
	MinSecret            = 6
	MaxSecret            = 64 << 10
	MaxSecretDescription = 500
)

// Sealer encrypts values under names.
type Sealer interface {
	// Current is the id of the key that seals; empty without one.
	Current() string
	Seal(name, value string) (keyID string, sealed []byte, err error)
	Open(name, keyID string, sealed []byte) (string, error)
}

// SecretService keeps named values that definitions use. What goes in comes
// out for runs only. It is safe for concurrent use.
type SecretService struct {
	secrets repository.Secrets
	sealer  Sealer
	clock   clock.Clock
}

// NewSecretService seals with sealer.
func NewSecretService(secrets repository.Secrets, sealer Sealer, c clock.Clock) *SecretService {
	return &SecretService{secrets: secrets, sealer: sealer, clock: c}
}

// NewSecret is what a caller gives for a secret.
type NewSecret struct {
	Name, Description, Value string
}

// Create stores a new secret.
func (s *SecretService) Create(ctx context.Context, n NewSecret) (entity.Secret, error) {
	var wrong []fault.Field
	if !placeholder.SecretName(n.Name) {
		wrong = append(wrong, fault.Field{
			Field: "name", Code: "invalid",
			Message: fmt.Sprintf("must have 1 to %d letters, digits, dots, dashes and underscores", placeholder.MaxName),
		})
	}
	if err := fault.Invalid(append(wrong, checkSecret(n)...)); err != nil {
		return entity.Secret{}, err
	}
	now := s.clock.Now()
	v := entity.Secret{Name: n.Name, Description: n.Description, Version: 1, CreateTime: now, UpdateTime: now}
	if err := s.seal(&v, n.Value); err != nil {
		return entity.Secret{}, err
	}
	return v, s.secrets.AddSecret(ctx, v)
}

// Replace gives a secret another value, and its next version. version is the
// one that the caller has seen.
func (s *SecretService) Replace(ctx context.Context, n NewSecret, version int) (entity.Secret, error) {
	if err := fault.Invalid(checkSecret(n)); err != nil {
		return entity.Secret{}, err
	}
	found, err := s.secrets.SecretsByName(ctx, []string{n.Name})
	if err != nil {
		return entity.Secret{}, err
	}
	if len(found) == 0 {
		return entity.Secret{}, fault.NotFound("secret", n.Name)
	}
	v := found[0]
	v.Description, v.Version, v.UpdateTime = n.Description, version+1, s.clock.Now()
	if err := s.seal(&v, n.Value); err != nil {
		return entity.Secret{}, err
	}
	return v, s.secrets.ReplaceSecret(ctx, v)
}

func checkSecret(n NewSecret) []fault.Field {
	var wrong []fault.Field
	if len(n.Value) < MinSecret || len(n.Value) > MaxSecret {
		wrong = append(wrong, fault.Field{
			Field: "value", Code: "out_of_range",
			Message: fmt.Sprintf("must have %d to %d bytes; a shorter value could not be kept out of logs", MinSecret, MaxSecret),
		})
	}
	if len([]rune(n.Description)) > MaxSecretDescription {
		wrong = append(wrong, fault.Field{Field: "description", Code: "too_long", Message: fmt.Sprintf("must have at most %d characters", MaxSecretDescription)})
	}
	return wrong
}

func (s *SecretService) seal(v *entity.Secret, value string) error {
	if s.sealer.Current() == "" {
		return fault.Conflict("not_enabled", "this server has no key for secrets: set secrets.key (PS_SECRETS_KEY), the same on every node")
	}
	var err error
	v.KeyID, v.Sealed, err = s.sealer.Seal(v.Name, value)
	return err
}

// List is one page of secrets, by name. Their values stay sealed.
func (s *SecretService) List(ctx context.Context, p repository.Page) ([]entity.Secret, string, error) {
	return s.secrets.ListSecrets(ctx, p)
}

// Delete removes a secret. Runs that name it fail from then on.
func (s *SecretService) Delete(ctx context.Context, name string) error {
	return s.secrets.DropSecret(ctx, name)
}

// Open gives the values of those of the names that exist, for one run. The
// error names secrets that this node cannot open.
func (s *SecretService) Open(ctx context.Context, names []string) (map[string]string, error) {
	found, err := s.secrets.SecretsByName(ctx, names)
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(found))
	for _, v := range found {
		value, err := s.sealer.Open(v.Name, v.KeyID, v.Sealed)
		if err != nil {
			return nil, fmt.Errorf("open the secret %s: %w", v.Name, err)
		}
		values[v.Name] = value
	}
	return values, nil
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
		secrets, next, listErr := s.secrets.ListSecrets(ctx, page)
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
