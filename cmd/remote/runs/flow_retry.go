package runs

import (
	"net/url"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/answer"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

func flowRetry() remote.Verb {
	return Starting(remote.Verb{
		Use: "retry RUN", Short: "Repeat a workflow run from what failed, as a new run, and print its id",
		Long: `Repeat a workflow run from what failed, as a new run, and print its id.

Each step that failed, or did not run because of a failure, is repeated, with all that follow it, and
those that run last. The new run takes over what the others came to. --from names steps to repeat
whatever they came to. --plan shows what becomes of each step, and starts nothing.`,
		Example: "workflow runs retry 0193… --plan\nworkflow runs retry 0193… --from score,publish --wait",
		Flags: []remote.Flag{
			{Name: "from", Default: remote.Commas{}, Help: "repeat these `STEPS`, too, with all that follow them"},
			{Name: "reason", Help: "for people, kept in the audit log"},
		},
		Own:  []remote.Flag{{Name: "plan", Default: false, Help: "show what would be repeated, and start nothing"}},
		Path: "/workflow-runs/{0}/retry", Instead: planOfFlow,
		Words: remote.Words{}, // why is that of the plan
		Check: func(k *remote.Call) error {
			if k.On("plan") && (k.On("wait") || k.On("timestamps") || k.Changed("reason")) {
				return usage.Errorf("--plan starts nothing: leave out --wait, --timestamps and --reason")
			}
			return nil
		},
		Body: func(_ *remote.Call, params map[string]any) (any, error) { return params, nil },
	})
}

// planOfFlow shows what a retry would do.
func planOfFlow(k *remote.Call) (bool, error) {
	if !k.On("plan") {
		return false, nil
	}
	query := url.Values{}
	if k.Changed("from") {
		query.Set("from", strings.Join(k.Listed("from"), ","))
	}
	err := k.API.Call(k.Cmd.Context(), "GET", k.Path("/workflow-runs/{0}/retry-plan"), query, nil, &k.Answer)
	if err != nil {
		return true, err
	}
	if !k.ForPeople() {
		k.Raw(k.Answer)
		return true, nil
	}
	o, err := answer.Decode(k.Answer)
	if err != nil {
		return true, err
	}
	k.Table("step, kind, was=state, reason, action, why", o.List("steps"))
	k.Note("{repeated} repeated, {reused} reused", o)
	return true, nil
}
