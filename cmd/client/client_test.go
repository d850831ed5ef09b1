package client_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
)

func TestCallsCarryTheTokenAndProblemsTheirFields(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "Bearer t", r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/api/v1/good":
			require.Equal(t, "1", r.URL.Query().Get("a"))
			_, _ = w.Write([]byte(`{"b":2}`))
		case "/api/v1/bad":
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte(
				`{"status":422,"detail":"some fields are invalid","errors":[{"field":"name","message":"is required"}]}`))
		default:
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("<html>"))
		}
	}))
	defer s.Close()
	c := &client.Client{Server: s.URL + "/", Token: "t"}
	var got struct{ B int }
	require.NoError(t, c.Call(t.Context(), "GET", "/good", url.Values{"a": {"1"}}, nil, &got))
	require.Equal(t, 2, got.B)
	err := c.Call(t.Context(), "POST", "/bad", nil, map[string]any{}, nil)
	require.EqualError(t, err, "some fields are invalid\n  name: is required")
	require.True(t, client.IsStatus(err, 422))
	err = c.Call(t.Context(), "GET", "/other", nil, nil, nil)
	require.EqualError(t, err, "the server answers 502 Bad Gateway")
	s.Close()
	err = c.Call(t.Context(), "GET", "/good", nil, nil, nil)
	require.ErrorContains(t, err, "call "+s.URL)
	require.Error(t, (&client.Client{Server: "http://[::1"}).Call(t.Context(), "GET", "/x", nil, nil, nil))
}

func TestListsAreReadToTheirEnd(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		page := map[string]any{"nextCursor": nil}
		var items []int
		for i := from; i < min(from+limit, 450); i++ {
			items = append(items, i)
		}
		page["items"] = items
		if from+limit < 450 {
			page["nextCursor"] = strconv.Itoa(from + limit)
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	defer s.Close()
	c := &client.Client{Server: s.URL}
	all, err := client.List[int](t.Context(), c, "/x", nil, 0)
	require.NoError(t, err)
	require.Len(t, all, 450)
	some, err := client.List[int](t.Context(), c, "/x", nil, 250)
	require.NoError(t, err)
	require.Len(t, some, 250)
}

func TestContextsAreKeptPrivate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep", "contexts.yaml")
	c, err := client.OpenContexts(file)
	require.NoError(t, err)
	c.Current = "home"
	c.Contexts["home"] = client.Context{Server: "http://h", Token: "secret", TokenID: "1", User: "ann"}
	require.NoError(t, c.Save())
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	again, err := client.OpenContexts(file)
	require.NoError(t, err)
	require.Equal(t, c.Contexts, again.Contexts)
	require.NoError(t, os.Chmod(file, 0o644))
	_, err = client.OpenContexts(file)
	require.ErrorContains(t, err, "chmod 600")
	require.NoError(t, os.WriteFile(file, []byte("contexts: ["), 0o600))
	require.NoError(t, os.Chmod(file, 0o600))
	_, err = client.OpenContexts(file)
	require.Error(t, err)
}
