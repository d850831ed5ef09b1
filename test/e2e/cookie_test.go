package e2e_test

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASessionInACookieLivesUntilSignedOut(t *testing.T) {
	s := start(t)
	s.must(201, http.MethodPost, "/api/v1/users", map[string]any{
		"username": "ann", "password": "correct horse",
		"role": "viewer",
	}, nil)
	s.token = ""
	res, err := http.Post(s.url+"/api/v1/auth/login", "application/json",
		bytes.NewBufferString(`{"username":"ann","password":"correct horse","cookie":true}`))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
	require.Len(t, res.Cookies(), 1)
	cookie := res.Cookies()[0].Name + "=" + res.Cookies()[0].Value

	var me struct{ Username, CSRFToken string }
	s.must(200, http.MethodGet, "/api/v1/auth/me", nil, &me, "Cookie", cookie)
	require.Equal(t, "ann", me.Username)
	status, _ := s.call(http.MethodPost, "/api/v1/auth/logout", nil, "Cookie", cookie)
	require.Equal(t, 403, status, "another site must not sign people out")
	s.must(204, http.MethodPost, "/api/v1/auth/logout", nil, nil, "Cookie", cookie, "X-CSRF-Token", me.CSRFToken)
	status, _ = s.call(http.MethodGet, "/api/v1/auth/me", nil, "Cookie", cookie)
	require.Equal(t, 401, status)
}
