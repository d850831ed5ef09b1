package alert

import "strings"

// Runbooks is where the pages on alerts are: docs/runbooks of the repository.
const Runbooks = "https://github.com/platform-scheduler/platform-scheduler/blob/main/docs/runbooks/"

// RunbookURL leads to the page that says what to do at an alert of the type.
func (t RuleType) RunbookURL() string {
	return Runbooks + strings.ReplaceAll(strings.ToLower(string(t)), "_", "-") + ".md"
}
