package channelconfig_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/channelconfig"
)

// Whoever repeats a sign-in in base64 repeats what stands around the secret, too.
func TestAMaskHidesWhatIsInBase64(t *testing.T) {
	secret := "canary?>-5d1f7c0a9b3e"
	mask := channelconfig.NewMask([]string{secret})
	for before := range 7 {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			whole := strings.Repeat("\x00", before) + secret + "after"
			text := mask.Text("535 you sent " + encoding.EncodeToString([]byte(whole)) + ".")
			// Left is what shares a character with the secret: less than a byte of it on each side.
			require.Regexp(t, `^535 you sent [\w+/-]{0,9}\*\*\*[\w+/=-]{0,11}\.$`, text)
		}
	}
}
