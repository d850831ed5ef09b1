package httpcall_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func TestRunFollowsABoundedNumberOfRedirects(t *testing.T) {
	requests := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		left, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if left == 0 {
			_, _ = io.WriteString(w, "arrived")
			return
		}
		http.Redirect(w, r, fmt.Sprintf("/%d", left-1), http.StatusFound)
	})
	outcome, line := call(t, data{"url": s.URL + "/5"})
	require.Equal(t, entity.Succeeded("arrived"), outcome)
	require.Contains(t, line, "GET "+s.URL+"/5: 302 Found\nGET "+s.URL+"/4: 302 Found\n")
	require.Contains(t, line, "\nGET "+s.URL+"/0: 200 OK, 7 bytes after ")

	requests = 0
	outcome, _ = call(t, data{"url": s.URL + "/6"})
	require.Equal(t, entity.ReasonError, outcome.Reason)
	require.Contains(t, outcome.Message, "refused a redirect after 5 others")
	require.Equal(t, 6, requests)
}

func TestRunEndsARedirectLoop(t *testing.T) {
	requests := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		http.Redirect(w, r, "/?secret", http.StatusMovedPermanently)
	})
	outcome, line := call(t, data{"url": s.URL})
	require.Equal(t, entity.StatusFailed, outcome.Status)
	require.Equal(t, 6, requests)
	require.NotContains(t, outcome.Message+line, "secret")
}

func TestAnExpectedRedirectIsTheAnswer(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	})
	outcome, _ := call(t, data{"url": s.URL, "expectedStatus": "302"})
	require.Equal(t, entity.StatusSuccess, outcome.Status)
}

func TestRunRefusesDangerousRedirects(t *testing.T) {
	plain := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	cases := map[string]string{
		plain.URL:                      "from https to http",
		"file:///etc/passwd":           "to what is neither http nor https",
		"gopher://h/":                  "to what is neither http nor https",
		"https://user:secret@" + "h/":  "to a URL with a user name or password",
		"https://h:0/":                 "without a good host and port",
		"https://h\\@:99999/?a=secret": "",
	}
	for location, message := range cases {
		t.Run(location, func(t *testing.T) {
			s := serveTLS(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", location)
				w.WriteHeader(http.StatusFound)
			})
			outcome, line := call(t, data{"url": s.URL}, s)
			require.Equal(t, entity.StatusFailed, outcome.Status)
			require.Equal(t, entity.ReasonError, outcome.Reason)
			require.Contains(t, outcome.Message, message)
			require.Contains(t, line, "GET "+s.URL+": 302 Found, 0 bytes after ", "what was answered")
			require.NotContains(t, outcome.Message+line, "secret")
		})
	}
}

func TestSecretsDoNotFollowToAnotherOrigin(t *testing.T) {
	var home, away []http.Header
	var homeURL string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		away = append(away, r.Header)
		http.Redirect(w, r, homeURL+"/end", http.StatusFound)
	})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		home = append(home, r.Header)
		switch r.URL.Path {
		case "/":
			http.Redirect(w, r, "/near?secret", http.StatusFound)
		case "/near":
			http.Redirect(w, r, other.URL, http.StatusFound)
		}
	})
	homeURL = s.URL
	outcome, _ := call(t, data{"url": s.URL, "headers": data{
		"Authorization": "a", "Cookie": "b=c", "X-Api-Key": "d", "Accept": "e/f", "User-Agent": "g",
	}})
	require.Equal(t, entity.StatusSuccess, outcome.Status)
	require.Len(t, home, 3)
	require.Len(t, away, 1)
	for _, h := range home[:2] {
		require.Equal(t, "a", h.Get("Authorization"))
		require.Equal(t, "b=c", h.Get("Cookie"))
		require.Equal(t, "d", h.Get("X-Api-Key"))
	}
	for _, h := range []http.Header{away[0], home[2]} {
		require.Empty(t, h.Get("Authorization"))
		require.Empty(t, h.Get("Cookie"))
		require.Empty(t, h.Get("X-Api-Key"))
		require.Equal(t, "e/f", h.Get("Accept"))
		require.Equal(t, "g", h.Get("User-Agent"))
		require.Equal(t, "execution-1", h.Get("X-Scheduler-Execution-Id"))
	}
	for _, h := range append(home, away...) {
		require.Empty(t, h.Get("Referer"), "the query of the hop before may hold secrets")
	}
}
