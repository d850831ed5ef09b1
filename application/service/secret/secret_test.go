package secret_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

func newVault(t *testing.T, keys ...string) (*secret.SecretService, *persistence.Store) {
	t.Helper()
	store := dbtest.Open(t, dbtest.SQLite(t))
	return servicetest.Vault(t, store, keys...), store
}

func TestASecretIsOpenedForRunsAndStoredSealed(t *testing.T) {
	v, store := newVault(t, servicetest.KeyOf(1))
	created, err := v.Create(t.Context(), secret.SecretInput{Name: "DB", Description: "d", Value: "hunter2"})
	require.NoError(t, err)
	require.Equal(t, 1, created.Version)
	require.Equal(t, enginetest.Noon, created.CreateTime)
	stored, err := store.SecretsByName(t.Context(), []string{"DB"})
	require.NoError(t, err)
	require.NotContains(t, string(stored[0].Sealed), "hunter2")

	values, err := v.Open(t.Context(), "pay", []string{"DB", "NONE"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"DB": "hunter2"}, values)

	_, err = v.Create(t.Context(), secret.SecretInput{Name: "DB", Value: "hunter3"})
	require.True(t, apperror.Is(err, apperror.KindConflict))
	edit := func(name, value string, version int) (entity.Secret, error) {
		return v.Edit(t.Context(), secret.SecretEdit{
			SecretInput: secret.SecretInput{Name: name, Value: value},
			Version:     version,
		})
	}
	replaced, err := edit("DB", "hunter3", 1)
	require.NoError(t, err)
	require.Equal(t, 2, replaced.Version)
	require.Empty(t, replaced.Description)
	_, err = edit("DB", "hunter4", 1)
	require.True(t, apperror.Is(err, apperror.KindConflict))
	_, err = edit("NONE", "hunter4", 1)
	require.True(t, apperror.Is(err, apperror.KindNotFound))
	values, err = v.Open(t.Context(), "pay", []string{"DB"})
	require.NoError(t, err)
	require.Equal(t, "hunter3", values["DB"])
	require.NoError(t, v.Delete(t.Context(), "DB", 2))
	values, err = v.Open(t.Context(), "pay", []string{"DB"})
	require.NoError(t, err)
	require.Empty(t, values)
}

func TestSecretsThatCannotBeKeptAreRefused(t *testing.T) {
	v, _ := newVault(t, servicetest.KeyOf(1))
	for name, c := range map[string]struct {
		n      secret.SecretInput
		fields []string
	}{
		"nothing":   {secret.SecretInput{}, []string{"name", "value"}},
		"name":      {secret.SecretInput{Name: "a b", Value: "123456"}, []string{"name"}},
		"long name": {secret.SecretInput{Name: strings.Repeat("a", 51), Value: "123456"}, []string{"name"}},
		"short":     {secret.SecretInput{Name: "a", Value: "12345"}, []string{"value"}},
		"long":      {secret.SecretInput{Name: "a", Value: strings.Repeat("x", secret.MaxSecret+1)}, []string{"value"}},
		"text": {
			secret.SecretInput{Name: "a", Value: "123456", Description: strings.Repeat("é", 501)},
			[]string{"description"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := v.Create(t.Context(), c.n)
			var invalid *apperror.Error
			require.ErrorAs(t, err, &invalid)
			var fields []string
			for _, f := range invalid.Fields {
				fields = append(fields, f.Field)
			}
			require.Equal(t, c.fields, fields)
		})
	}
	_, err := v.Create(t.Context(), secret.SecretInput{
		Name:  strings.Repeat("a", 50),
		Value: strings.Repeat("x", secret.MaxSecret), Description: strings.Repeat("é", 500),
	})
	require.NoError(t, err)
}

func TestAServerWithoutAKeyKeepsNoSecrets(t *testing.T) {
	v, store := newVault(t)
	_, err := v.Create(t.Context(), secret.SecretInput{Name: "DB", Value: "hunter2"})
	require.True(t, apperror.Is(err, apperror.KindConflict))
	require.ErrorContains(t, err, "secrets.key")
	moved, err := v.Reseal(t.Context())
	require.NoError(t, err)
	require.Zero(t, moved)

	_, err = servicetest.Vault(t, store, servicetest.KeyOf(1)).
		Create(t.Context(), secret.SecretInput{Name: "DB", Value: "hunter2"})
	require.NoError(t, err)
	_, err = v.Open(t.Context(), "pay", []string{"DB"})
	require.ErrorContains(t, err, "open the secret DB: this node does not have the key")
}

// A node that lacks a key says so, and not only in its log.
func TestSecretsWithoutTheirKeyAreSeen(t *testing.T) {
	other, store := newVault(t, servicetest.KeyOf(9))
	for _, name := range []string{"a", "b"} {
		_, err := other.Create(t.Context(), secret.SecretInput{Name: name, Value: "hunter2", Groups: []string{"pay"}})
		require.NoError(t, err)
	}
	v := servicetest.Vault(t, store, servicetest.KeyOf(1))
	_, err := v.Create(t.Context(), secret.SecretInput{Name: "c", Value: "hunter2"})
	require.NoError(t, err)
	count, err := v.Refresh(t.Context())
	require.NoError(t, err)
	require.Equal(t, secret.SecretCount{Secrets: 3, Bound: 2}, count)
	reason, blocks := v.Lost()
	require.Contains(t, reason, "2 secrets cannot be opened here")
	require.NotContains(t, reason, "a,")
	require.False(t, blocks)
	both := servicetest.Vault(t, store, servicetest.KeyOf(1), servicetest.KeyOf(9))
	_, err = both.Refresh(t.Context())
	require.NoError(t, err)
	reason, _ = both.Lost()
	require.Empty(t, reason)
}

func TestRotationPutsEverySecretUnderTheCurrentKey(t *testing.T) {
	old, store := newVault(t, servicetest.KeyOf(1))
	for i := range 120 { // more than a page
		_, err := old.Create(t.Context(), secret.SecretInput{
			Name:  "s" + strings.Repeat("i", i%40+1) + string(rune('a'+i/40)),
			Value: "hunter2",
		})
		require.NoError(t, err)
	}
	both := servicetest.Vault(t, store, servicetest.KeyOf(2), servicetest.KeyOf(1))
	_, err := both.Create(t.Context(), secret.SecretInput{Name: "fresh", Value: "hunter3"})
	require.NoError(t, err)
	moved, err := both.Reseal(t.Context())
	require.NoError(t, err)
	require.Equal(t, 120, moved)
	moved, err = both.Reseal(t.Context())
	require.NoError(t, err)
	require.Zero(t, moved)

	onlyNew := servicetest.Vault(t, store, servicetest.KeyOf(2))
	page := repository.Page{Limit: 200}
	secrets, _, err := onlyNew.List(t.Context(), nil, page)
	require.NoError(t, err)
	require.Len(t, secrets, 121)
	for _, s := range secrets {
		values, err := onlyNew.Open(t.Context(), "pay", []string{s.Name})
		require.NoError(t, err)
		require.NotEmpty(t, values[s.Name])
		require.Equal(t, 1, s.Version, "the value is the same")
	}
}

func TestRotationGoesOnAfterASecretThatCannotBeOpened(t *testing.T) {
	lost, store := newVault(t, servicetest.KeyOf(9))
	_, err := lost.Create(t.Context(), secret.SecretInput{Name: "a", Value: "hunter2"})
	require.NoError(t, err)
	_, err = servicetest.Vault(t, store, servicetest.KeyOf(1)).
		Create(t.Context(), secret.SecretInput{Name: "b", Value: "hunter2"})
	require.NoError(t, err)
	moved, err := servicetest.Vault(t, store, servicetest.KeyOf(2), servicetest.KeyOf(1)).Reseal(t.Context())
	require.ErrorContains(t, err, "open the secret a")
	require.Equal(t, 1, moved)
}

func TestASecretIsOpenedForItsGroupsAlone(t *testing.T) {
	v, store := newVault(t, servicetest.KeyOf(1))
	_, err := v.Create(t.Context(), secret.SecretInput{
		Name: "PAY", Value: "hunter2",
		Groups: []string{"risk", "pay", "pay"},
	})
	require.NoError(t, err)
	opened := func(group string) map[string]string {
		values, err := v.Open(t.Context(), group, []string{"PAY"})
		require.NoError(t, err)
		return values
	}
	require.Equal(t, map[string]string{"PAY": "hunter2"}, opened("pay"))
	require.Empty(t, opened("ops"))
	require.Empty(t, opened(""))

	kept, err := v.Edit(t.Context(), secret.SecretEdit{
		SecretInput: secret.SecretInput{Name: "PAY", Description: "d"},
		KeepValue:   true, KeepGroups: true, Version: 1,
	})
	require.NoError(t, err)
	require.Equal(t, []any{2, []string{"pay", "risk"}, "d"}, []any{kept.Version, kept.Groups, kept.Description})
	require.Equal(t, "hunter2", opened("risk")["PAY"])
	_, err = v.Edit(t.Context(), secret.SecretEdit{
		SecretInput: secret.SecretInput{Name: "PAY", Groups: []string{"ops"}},
		KeepValue:   true, Version: 2,
	})
	require.NoError(t, err)
	require.Empty(t, opened("pay"))
	require.Equal(t, "hunter2", opened("ops")["PAY"])
	_, err = v.Edit(t.Context(), secret.SecretEdit{
		SecretInput: secret.SecretInput{Name: "PAY"}, KeepValue: true,
		Version: 3,
	})
	require.NoError(t, err)
	require.Equal(t, "hunter2", opened("pay")["PAY"])
	stored, err := store.SecretsByName(t.Context(), []string{"PAY"})
	require.NoError(t, err)
	require.Nil(t, stored[0].Groups)

	_, err = v.Create(t.Context(), secret.SecretInput{Name: "X", Value: "hunter2", Groups: []string{"a b"}})
	servicetest.RequireKind(t, apperror.KindInvalid, err)
}
