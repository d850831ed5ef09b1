package api_test

import (
	"context"
	"encoding/base64"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
)

// memorySecrets keeps sealed secrets as the store does.
type memorySecrets struct {
	mu      sync.Mutex
	secrets map[string]entity.Secret
}

func newSecrets(t *testing.T, c clock.Clock) *service.SecretService {
	t.Helper()
	ring, err := secret.NewKeyring(base64.StdEncoding.EncodeToString(make([]byte, secret.KeyBytes)))
	require.NoError(t, err)
	return service.NewSecretService(&memorySecrets{secrets: map[string]entity.Secret{}}, ring, c)
}

func (m *memorySecrets) AddSecret(_ context.Context, s entity.Secret) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.secrets[s.Name]; taken {
		return fault.Conflict("name_taken", "taken")
	}
	m.secrets[s.Name] = s
	return nil
}

func (m *memorySecrets) ReplaceSecret(_ context.Context, s entity.Secret) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.secrets[s.Name].Version != s.Version-1 {
		return fault.Conflict("stale_version", "the secret is at version %d", m.secrets[s.Name].Version)
	}
	m.secrets[s.Name] = s
	return nil
}

func (m *memorySecrets) ResealSecret(context.Context, entity.Secret) (bool, error) { return true, nil }

func (m *memorySecrets) DropSecret(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.secrets[name]; !known {
		return fault.NotFound("secret", name)
	}
	delete(m.secrets, name)
	return nil
}

func (m *memorySecrets) ListSecrets(context.Context, repository.Page) ([]entity.Secret, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []entity.Secret
	for _, s := range m.secrets {
		out = append(out, s)
	}
	return out, "", nil
}

func (m *memorySecrets) SecretsByName(_ context.Context, names []string) ([]entity.Secret, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []entity.Secret
	for _, name := range names {
		if s, known := m.secrets[name]; known {
			out = append(out, s)
		}
	}
	return out, nil
}

const secrets = "/api/v1/secrets"

func TestSecretsAreWrittenAndNeverRead(t *testing.T) {
	e := newEdge(t)
	a := e.call("POST", secrets, `{"name":"DB","description":"d","value":"hunter2"}`).want(201)
	require.Equal(t, secrets+"/DB", a.header.Get("Location"))
	require.Equal(t, `"1"`, a.header.Get("ETag"))
	require.JSONEq(t, `{"name":"DB","description":"d","version":1,"createTime":"2026-11-20T12:00:00.000Z","updateTime":"2026-11-20T12:00:00.000Z"}`, a.body)
	list := e.call("GET", secrets, "").want(200)
	require.Len(t, list.json()["items"], 1)
	require.NotContains(t, a.body+list.body+e.log.String(), "hunter2")

	e.call("POST", secrets, `{"name":"DB","value":"hunter3"}`).wantCode(409, "name_taken")
	e.call("PUT", secrets+"/DB", `{"value":"hunter3","version":1}`).want(200)
	e.call("PUT", secrets+"/DB", `{"value":"hunter4","version":1}`).wantCode(409, "stale_version")
	e.call("PUT", secrets+"/DB", `{"value":"hunter4"}`, "If-Match", `"1"`).wantCode(412, "version_mismatch")
	a = e.call("PUT", secrets+"/DB", `{"value":"hunter4"}`, "If-Match", `"2"`).want(200)
	require.Equal(t, `"3"`, a.header.Get("ETag"))
	e.call("PUT", secrets+"/DB", `{"name":"DB","value":"hunter5","version":3,"createTime":"2026-11-20T12:00:00.000Z","updateTime":"2026-11-20T12:00:00.000Z"}`).want(200)
	e.call("PUT", secrets+"/NONE", `{"value":"hunter4","version":1}`).wantCode(404, "not_found")
	e.call("DELETE", secrets+"/DB", "").want(204)
	e.call("DELETE", secrets+"/DB", "").wantCode(404, "not_found")
	require.NotContains(t, e.log.String(), "hunter")
}

func TestSecretsOfTheWrongShapeAreRefused(t *testing.T) {
	e := newEdge(t)
	e.call("POST", secrets, `{"name":"a b","value":"x"}`).wantField(422, "name", "invalid")
	e.call("POST", secrets, `{"name":"a b","value":"x"}`).wantField(422, "value", "out_of_range")
	e.call("POST", secrets, `{"name":"a","value":7}`).wantField(422, "value", "wrong_type")
	e.call("POST", secrets, `{"name":"a","value":"123456","keyId":"k"}`).wantField(422, "keyId", "unknown_field")
	e.call("PUT", secrets+"/a", `{"value":"123456"}`).wantField(422, "version", "required")
	e.call("PUT", secrets+"/a", `{"value":"123456","version":2}`, "If-Match", `"1"`).wantField(422, "version", "conflict")
	a := e.call("POST", secrets, `{"name":"a","value":"`+strings.Repeat("hunter2", 10_000)+`"}`)
	a.wantField(422, "value", "out_of_range")
	require.NotContains(t, a.body, "hunter2")
}

func TestOnlyAdminsWriteSecrets(t *testing.T) {
	e := newEdge(t)
	for token, status := range map[string]int{adminToken: 201, operatorToken: 403, viewerToken: 403} {
		e.call("POST", secrets, `{"name":"DB","value":"hunter2"}`, "Authorization", "Bearer "+token).want(status)
	}
	for token, status := range map[string]int{adminToken: 200, operatorToken: 200, viewerToken: 403} {
		e.call("GET", secrets, "", "Authorization", "Bearer "+token).want(status)
	}
}
