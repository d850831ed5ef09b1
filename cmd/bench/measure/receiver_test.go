package measure

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAReceiverTakesSignedMessagesOnceEach(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	r, err := NewReceiver(t.Context(), func() time.Time { return now })
	require.NoError(t, err)
	defer r.Close()
	send := func(id, body, signed string, at time.Time) int {
		t.Helper()
		stamp := strconv.FormatInt(at.Unix(), 10)
		mac := hmac.New(sha256.New, r.key)
		_, _ = mac.Write([]byte(id + "." + stamp + "." + signed))
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL+"each", strings.NewReader(body))
		require.NoError(t, err)
		q.Header.Set("Webhook-Id", id)
		q.Header.Set("Webhook-Timestamp", stamp)
		q.Header.Set("Webhook-Signature", "v1,AAAA v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		answer, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	const body = `{"alerts":[{"executionId":"e1"},{"executionId":"e2"}]}`
	require.Equal(t, http.StatusNoContent, send("m1", body, body, now))
	require.Equal(t, http.StatusNoContent, send("m1", body, body, now), "a receiver takes a repetition")
	require.Equal(t, http.StatusBadRequest, send("m2", body, body+" ", now), "of another body")
	require.Equal(t, http.StatusBadRequest, send("m3", body, body, now.Add(-time.Hour)), "of long ago")
	require.Equal(t, 1, r.Count("each"))
	at, yes := r.MessageOf("each", "e2")
	require.True(t, yes)
	require.Equal(t, now, at)
	_, yes = r.MessageOf("burst", "e2")
	require.False(t, yes)
	repeated, unsigned := r.Faults()
	require.Equal(t, []int{1, 2}, []int{repeated, unsigned})
}
