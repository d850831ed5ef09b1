package access_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func TestPasswordsThatAreGuessedAreRefused(t *testing.T) {
	h := newHouse(t)
	codeOf := func(name, password string) string {
		_, err := h.users.Create(t.Context(), access.UserInput{Name: name, Password: password, Role: entity.RoleViewer})
		if err == nil {
			return ""
		}
		var wrong *apperror.Error
		require.ErrorAs(t, err, &wrong)
		require.Len(t, wrong.Fields, 1, password)
		require.Equal(t, "password", wrong.Fields[0].Field)
		return wrong.Fields[0].Code
	}
	for password, code := range map[string]string{
		"nine char": "too_short", strings.Repeat("né", 4) + "x": "too_short", strings.Repeat("xyzéä12", 30): "too_long",
		"correct\x00horse": "invalid_text", "correct\xffhorse": "invalid_text",
		"aaaaaaaaaa": "too_common", "          ": "too_common", "abababababab": "too_common", "12312312312": "too_common",
		"abcdeabcdeab": "too_common", "aabbaabbccaa": "too_common",
		"1234567890": "too_common", "7890123456": "too_common", "0987654321": "too_common", "abcdefghij": "too_common",
		"ZYXWVUTSRQ":  "too_common",
		"Password123": "too_common", "passw0rd2026!": "too_common", "P@ssw0rd!!": "too_common", "!!changeme!!": "too_common",
		"Administrator": "too_common", "qwertyuiop12": "too_common",
		"PowerJob2026": "too_common", "1q2w3e4r5t": "too_common", "admin12345": "too_common", "xxl-job-2026!": "too_common",
		"marguerite": "too_common", "Marguerite1": "too_common", "12Marguerite34": "too_common",
		"margueritemarguerite": "too_common",
	} {
		require.Equal(t, code, codeOf("marguerite", password), "%q", password)
	}
	for i, password := range []string{
		"correct horse", "marguerite and tom", "8374652918405", "支払いの合言葉は長いです",
		"Tr0ub4dor&3", "scheduler of sue", strings.Repeat("xyzw7é", 36),
	} {
		require.Empty(t, codeOf("marguerite"+strings.Repeat("x", i), password), password)
	}
	require.Empty(t, codeOf("al", "alalgorithm"), "a short name is in many words")
}
