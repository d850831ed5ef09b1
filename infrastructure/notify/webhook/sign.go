package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of Standard Webhooks, as net/http spells them.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

// sign sets the headers of a message: its id, which stays the same over attempts, the time of this
// attempt, and a signature of each key over id, time and body.
func sign(header http.Header, keys [][]byte, id string, now time.Time, body []byte) {
	timestamp := strconv.FormatInt(now.Unix(), 10)
	header.Set(headerID, id)
	header.Set(headerTimestamp, timestamp)
	if len(keys) == 0 {
		return
	}
	signatures := make([]string, len(keys))
	for i, key := range keys {
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write([]byte(id + "." + timestamp + "."))
		_, _ = mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	header.Set(headerSignature, strings.Join(signatures, " "))
}
