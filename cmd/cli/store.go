package cli

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/offline"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

func (s *session) storeCommand() *cobra.Command {
	return s.Parent(remote.Verb{
		Use: "store", Short: "Back up and restore a store, and say whether its servers work", Local: true,
		Piped: "  platform-scheduler store backup /var/backups/scheduler\n" +
			"  PS_STORE_DSN=… platform-scheduler store standby --reason drill\n" +
			"  PS_STORE_DSN=… platform-scheduler store activate",
	}, append(s.backupVerbs(), remote.Verb{
		Use: "size", Short: "Say how much of the disk each table takes, and a run", Run: s.onStore(s.storeSize),
		Long: `List the tables of the store with their rows and bytes, indexes included, and what
one run takes of all tables that keep runs. On SQLite this reads the whole file. The
rows of a server are its estimate.`,
		Piped: "  platform-scheduler store size\n  PS_STORE_DSN=… platform-scheduler store size -o json",
	}, remote.Verb{
		Use: "standby", Short: "Have all servers of the store stand by, because it is a copy",
		Run: s.onStore(s.storeStandby),
		Long: `Write into the store that its servers stand by: they serve API and console and do
nothing else. Say so before the first server starts on a copy. Servers that run
follow within seconds, and stop their runs. Servers of releases that do not know
standby are refused from then on.`,
		Piped: "  PS_STORE_DSN=… platform-scheduler store standby --reason 'restore drill'",
		Own:   []remote.Flag{{Name: "reason", Help: "`WHY`, for those who look at the console"}},
	}, remote.Verb{
		Use: "activate", Short: "Have the servers of the store work again", Asks: true,
		Run: s.onStore(s.storeActivate),
		Long: `End the standby of the store: its servers fire, run and send. The command lists the
jobs that fire within a day, and asks before; without a terminal it wants --yes.
Nodes of the registry that do not beat are not asked any more whether they work
on another store, so that a copy may work beside its original.`,
		Piped: "  PS_STORE_DSN=… platform-scheduler store activate\n  platform-scheduler store activate --yes",
	})...)
}

// onStore does something with the configured store, beside servers.
func (s *session) onStore(do func(k *remote.Call, store *persistence.Store) error) func(k *remote.Call) error {
	return func(k *remote.Call) error {
		cfg, err := s.load()
		if err != nil {
			return err
		}
		return offline.OnStore(k.Cmd.Context(), cfg, func(ctx context.Context, store *persistence.Store) error {
			k.Cmd.SetContext(ctx)
			return do(k, store)
		})
	}
}

// storeMode is the mode of a store, in the form of the API's answers.
type storeMode struct {
	Mode   entity.StoreMode `json:"mode"`
	Reason string           `json:"reason,omitempty"`
	By     string           `json:"by,omitempty"`
	// Outlook is what an active store does within a day.
	*offline.Outlook
}

func (s *session) storeStandby(k *remote.Call, store *persistence.Store) error {
	state := entity.StoreState{Mode: entity.StoreStandby, Reason: k.Given("reason"), By: operator()}
	if err := store.SetStoreMode(k.Cmd.Context(), state); err != nil {
		return err
	}
	s.Either(storeMode{Mode: state.Mode, Reason: state.Reason, By: state.By},
		"the servers of this store stand by, until `platform-scheduler store activate`")
	return nil
}

func (s *session) storeActivate(k *remote.Call, store *persistence.Store) error {
	o, err := offline.LookOut(k.Cmd.Context(), store, 24*time.Hour)
	if err != nil {
		return err
	}
	if s.ForPeople() {
		s.showOutlook(o)
	}
	if err := k.Insist("Activate this store, so that its servers fire %d jobs within a day?", o.Due); err != nil {
		return err
	}
	state := entity.StoreState{Mode: entity.StoreActive, By: operator()}
	if err := store.SetStoreMode(k.Cmd.Context(), state); err != nil {
		return err
	}
	s.Either(storeMode{Mode: state.Mode, By: state.By, Outlook: &o},
		"the store is active; its servers follow within seconds")
	return nil
}

// missed says what happens to fires that are missed, by the policy of the job.
var missed = map[entity.MisfirePolicy]string{
	entity.MisfireFireOnce: "the latest of its window fires, and those of the last %d s",
	entity.MisfireSkip:     "those of the last %d s fire, others are skipped",
	entity.MisfireFireAll:  "all of its window fire, and those of the last %d s",
}

// showOutlook lists the jobs that fire first, and what was not done when the store was copied.
func (s *session) showOutlook(o offline.Outlook) {
	rows := make([][]string, len(o.First))
	for i, f := range o.First {
		rows[i] = []string{f.Due.Format(time.RFC3339), f.Group, f.Job, ""}
		if f.Misfire != "" {
			rows[i][3] = fmt.Sprintf(missed[f.Misfire], f.ThresholdSec)
		}
	}
	s.Rows([]string{"DUE", "GROUP", "JOB", "MISSED FIRES"}, rows)
	if o.Due > len(o.First) {
		s.Line("more jobs within a day: %d", o.Due-len(o.First))
	}
	if o.Missed > 0 {
		s.Line("jobs with missed fires: %d; the misfire policy of each decides", o.Missed)
	}
	if o.Waiting+o.Running == 0 {
		return
	}
	live := make([][]string, len(o.Live))
	for i, l := range o.Live {
		live[i] = []string{l.Group, l.Job, strconv.Itoa(l.Waiting), strconv.Itoa(l.Running)}
	}
	s.Rows([]string{"GROUP", "JOB", "WAITING", "IN PROGRESS"}, live)
	s.Line("Runs that wait: %d. They start when a node may take them. Runs in progress, or lost with their node: %d. "+
		"onNodeLoss decides about these. `execution cancel` ends those that must not run", o.Waiting, o.Running)
}

// operator is the user who calls the program, for readers of the store's state.
func operator() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return name
	}
	by := fmt.Sprintf("%s@%s", name, host)
	return by[:min(len(by), entity.MaxStoreBy)]
}
