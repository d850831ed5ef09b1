package placeholder

import (
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/service/runidentity"
)

// The names of placeholders with a name behind a dot, and of those with a form of their own.
const (
	paramPrefix  = "params."
	secretPrefix = "secret."
	// allParams stands for the parameters of the run as one JSON object.
	allParams = string(runidentity.Params)
	// scheduledTime may be followed by shifts and a format.
	scheduledTime = string(runidentity.ScheduledTime)
)

// The names of references whose key names the value.
const (
	oneParam  = "param"
	oneSecret = "secret"
)

// plain are the placeholders without a name behind a dot.
var plain = []string{
	"scheduledTime", "executionId", "jobId", "jobName", "group", "owner", "attempt", "shardIndex", "shardTotal",
	"idempotencyKey",
	"deadline", "checkpoint", allParams,
}

// reference is one placeholder: ${name}, ${params.NAME:-default},
// ${scheduledTime-1d:yyyy-MM-dd}.
type reference struct {
	// text is the whole placeholder, as the definition has it.
	text string
	name string
	// key is the NAME of a parameter or a secret.
	key string
	// fallback is the value of a parameter that the run was not given.
	fallback *string
	// moment says how the time is shifted and written.
	moment moment
	// step is set for a placeholder of a step of a workflow.
	step *stepRef
}

func parseReference(text string) (*reference, error) {
	switch {
	case strings.HasPrefix(text, scheduledTime):
		m, err := parseMoment(text[len(scheduledTime):])
		return &reference{name: scheduledTime, moment: m}, err
	case strings.HasPrefix(text, paramPrefix):
		ref := &reference{name: oneParam}
		key, fallback, given := strings.Cut(text[len(paramPrefix):], ":-")
		if given {
			ref.fallback = &fallback
		}
		if ref.key = key; !goodName(key) {
			return nil, wrong("${%.60s}: a parameter's name has 1 to 50 letters, digits, dots, dashes and underscores", text)
		}
		return ref, nil
	case strings.HasPrefix(text, secretPrefix):
		ref := &reference{name: oneSecret, key: text[len(secretPrefix):]}
		if !goodName(ref.key) {
			return nil, wrong("${%.60s}: a secret's name has 1 to 50 letters, digits, dots, dashes and underscores", text)
		}
		return ref, nil
	case slices.Contains(plain, text):
		return &reference{name: text}, nil
	}
	if step := parseStep(text); step != nil {
		return &reference{name: step.name, step: step}, nil
	}
	return nil, unknown(text)
}

func unknown(text string) error {
	return wrong("${%.60s} is no placeholder; there are %s, params.NAME and secret.NAME. Write $${ for the "+
		"characters ${", text, strings.Join(plain, ", "))
}

// MaxName is the longest name of a parameter or a secret.
const MaxName = 50

// goodName reports whether a string may name a parameter or a secret.
func goodName(s string) bool {
	if s == "" || len(s) > MaxName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

// SecretName reports whether a string may name a secret.
func SecretName(s string) bool { return goodName(s) }
