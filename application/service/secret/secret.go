// Package secret keeps named values that definitions use, and the key of the
// cluster, sealed.
package secret

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
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
	// Has reports whether it opens what a key sealed.
	Has(keyID string) bool
	Seal(name, value string) (keyID string, sealed []byte, err error)
	Open(name, keyID string, sealed []byte) (string, error)
}

// The bounds of the groups of a secret.
const (
	maxSecretGroups = 200
	// maxBroken is how many jobs an answer names that an edit would break.
	maxBroken = 50
)

// SecretService keeps named values that definitions use. A value that goes in
// comes out for runs only, of jobs of the secret's groups. It is safe for concurrent
// use.
type SecretService struct {
	secrets repository.Secrets
	uses    repository.SecretUses
	sealer  Sealer
	clock   clock.Clock
	// lost is what the last look found; nil before.
	lost atomic.Pointer[string]
}

// NewSecretService seals with sealer.
func NewSecretService(secrets repository.Secrets, uses repository.SecretUses, sealer Sealer,
	c clock.Clock,
) *SecretService {
	return &SecretService{secrets: secrets, uses: uses, sealer: sealer, clock: c}
}

// SecretInput is what a caller gives for a secret.
type SecretInput struct {
	Name, Description, Value string
	// Groups are those whose jobs may use it; nil is every group.
	Groups []string
}

// SecretEdit is what a caller gives to change a secret.
type SecretEdit struct {
	SecretInput
	// KeepValue and KeepGroups leave these as they are.
	KeepValue, KeepGroups bool
	// Force makes an edit that takes the secret from jobs which name it.
	Force bool
	// Version is the one that the caller has seen.
	Version int
}

// Create stores a new secret.
func (s *SecretService) Create(ctx context.Context, n SecretInput) (entity.Secret, error) {
	var wrong []apperror.Field
	if !placeholder.SecretName(n.Name) {
		wrong = append(wrong, apperror.Field{
			Field: "name", Code: "invalid",
			Message: fmt.Sprintf("must have 1 to %d letters, digits, dots, dashes and underscores", placeholder.MaxName),
		})
	}
	wrong = append(append(append(wrong, checkValue(n.Value)...), checkDescription(n.Description)...),
		checkSecretGroups(n.Groups)...)
	if err := apperror.Invalid(wrong); err != nil {
		return entity.Secret{}, err
	}
	now := s.clock.Now()
	v := entity.Secret{
		Name: n.Name, Description: n.Description, Groups: groupsOf(n.Groups), Version: 1, CreateTime: now,
		UpdateTime: now,
	}
	if err := s.seal(&v, n.Value); err != nil {
		return entity.Secret{}, err
	}
	return v, s.secrets.AddSecret(ctx, v)
}

// Get returns apperror.KindNotFound for an unknown name.
func (s *SecretService) Get(ctx context.Context, name string) (entity.Secret, error) {
	found, err := s.secrets.SecretsByName(ctx, []string{name})
	switch {
	case err != nil:
		return entity.Secret{}, err
	case len(found) == 0:
		return entity.Secret{}, apperror.NotFound("secret", name)
	}
	return found[0], nil
}

// Edit changes the value, the description and the groups of a secret, and gives
// it its next version. Jobs that name it and would lose it are a
// apperror.KindConflict that lists them, unless the edit is forced.
func (s *SecretService) Edit(ctx context.Context, n SecretEdit) (entity.Secret, error) {
	wrong := append(checkDescription(n.Description), checkSecretGroups(n.Groups)...)
	if !n.KeepValue {
		wrong = append(checkValue(n.Value), wrong...)
	}
	if err := apperror.Invalid(wrong); err != nil {
		return entity.Secret{}, err
	}
	v, err := s.Get(ctx, n.Name)
	if err != nil {
		return entity.Secret{}, err
	}
	if !n.KeepGroups {
		if err := s.breaks(ctx, v, groupsOf(n.Groups), n.Force); err != nil {
			return entity.Secret{}, err
		}
		v.Groups = groupsOf(n.Groups)
	}
	v.Description, v.Version, v.UpdateTime = n.Description, n.Version+1, s.clock.Now()
	v.Sealed = nil // which leaves the value as it is
	if !n.KeepValue {
		if err := s.seal(&v, n.Value); err != nil {
			return entity.Secret{}, err
		}
	}
	return v, s.secrets.ReplaceSecret(ctx, v)
}

// breaks refuses to take a secret from jobs that name it.
func (s *SecretService) breaks(ctx context.Context, v entity.Secret, groups []string, force bool) error {
	if groups == nil || force {
		return nil
	}
	jobs, err := s.uses.JobsNaming(ctx, v.Name, v.Groups, groups, maxBroken+1)
	if err != nil {
		return fmt.Errorf("find the jobs that name the secret %s: %w", v.Name, err)
	}
	if len(jobs) == 0 {
		return nil
	}
	more := ""
	if len(jobs) > maxBroken {
		jobs, more = jobs[:maxBroken], "more than "
	}
	broken := apperror.New(apperror.KindConflict, "secret_in_use",
		fmt.Sprintf("%s%d jobs of other groups name the secret and would fail; change them first, or send force: true", more,
			len(jobs)))
	for _, j := range jobs {
		broken.Fields = append(broken.Fields, apperror.Field{
			Field: "groups", Code: "job", Message: fmt.Sprintf("%s/%s (%s)", j.Group, j.Name, j.ID),
		})
	}
	return broken
}

// groupsOf sorts the groups of a secret; none are all.
func groupsOf(groups []string) []string {
	if len(groups) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(groups)))
}

func checkSecretGroups(groups []string) []apperror.Field {
	if len(groups) > maxSecretGroups {
		return []apperror.Field{{
			Field: "groups", Code: "too_many",
			Message: fmt.Sprintf("must name at most %d groups; leave it empty for all", maxSecretGroups),
		}}
	}
	for i, group := range groups {
		if problem := validation.GroupName(group); problem != "" {
			return []apperror.Field{{
				Field: fmt.Sprintf("groups[%d]", i), Code: "invalid",
				Message: "names a group that cannot be: " + problem,
			}}
		}
	}
	return nil
}

func checkValue(value string) []apperror.Field {
	if len(value) >= MinSecret && len(value) <= MaxSecret {
		return nil
	}
	return []apperror.Field{{
		Field: "value", Code: "out_of_range",
		Message: fmt.Sprintf("must have %d to %d bytes; a shorter value could not be kept out of logs", MinSecret, MaxSecret),
	}}
}

func checkDescription(text string) []apperror.Field {
	if len([]rune(text)) <= MaxSecretDescription {
		return nil
	}
	return []apperror.Field{{
		Field: "description", Code: "too_long",
		Message: fmt.Sprintf("must have at most %d characters", MaxSecretDescription),
	}}
}

func (s *SecretService) seal(v *entity.Secret, value string) error {
	if s.sealer.Current() == "" {
		return apperror.Conflict("not_enabled",
			"this server has no key for secrets: set secrets.key (PS_SECRETS_KEY), the same on every node")
	}
	var err error
	v.KeyID, v.Sealed, err = s.sealer.Seal(v.Name, value)
	return err
}

// List returns a page of secrets by name, sealed. within limits it to secrets for every
// group and for one of these groups; nil is all. Their values stay sealed.
func (s *SecretService) List(ctx context.Context, within []string, p repository.Page) ([]entity.Secret, string, error) {
	return s.secrets.ListSecrets(ctx, within, p)
}

// Uses are at most limit jobs that name a secret, by id, of the groups within; nil is all.
func (s *SecretService) Uses(ctx context.Context, name string, within []string, limit int) ([]*entity.Job, error) {
	return s.uses.JobsNaming(ctx, name, within, nil, limit)
}

// Delete removes a version of a secret. Runs that name it fail from then on.
func (s *SecretService) Delete(ctx context.Context, name string, version int) error {
	return s.secrets.DropSecret(ctx, name, version)
}

// namesAtOnce bounds the names that one look at the store asks for.
const namesAtOnce = 500

// Known are those of the names that exist, by name: their groups, and nothing of
// their values.
func (s *SecretService) Known(ctx context.Context, names []string) (map[string]entity.Secret, error) {
	out := make(map[string]entity.Secret, len(names))
	for part := range slices.Chunk(names, namesAtOnce) {
		found, err := s.secrets.SecretsByName(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, v := range found {
			out[v.Name] = entity.Secret{Name: v.Name, Groups: v.Groups}
		}
	}
	return out, nil
}

// Open gives the values of those of the names that exist and are for the jobs
// of a group, for one run. The error names secrets that this node cannot open.
func (s *SecretService) Open(ctx context.Context, group string, names []string) (map[string]string, error) {
	found, err := s.secrets.SecretsByName(ctx, names)
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(found))
	for _, v := range found {
		if !v.For(group) {
			continue
		}
		value, err := s.sealer.Open(v.Name, v.KeyID, v.Sealed)
		if err != nil {
			return nil, fmt.Errorf("open the secret %s: %w", v.Name, err)
		}
		values[v.Name] = value
	}
	return values, nil
}
