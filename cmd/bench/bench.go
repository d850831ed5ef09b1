// Package bench measures the product on the user's own machine. It runs the real engine on a
// scratch database. An observer outside the engine's tables sees every start, and bare programs
// measure a ceiling in the same run.
package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Kind is one bench.
type Kind struct {
	Name string
	// About is its line in the help.
	About string
	// Defaults stand for options that are 0.
	Defaults Options
	// Several takes more than one node. Clustered always runs nodes as processes of their own, for
	// which the configuration must be of the cluster profile. Alone is one node that is a process of
	// its own, on whatever store.
	Several, Clustered, Alone bool
	// OwnSlots takes the slots of the configuration where --slots is not given.
	OwnSlots bool
	// Check refuses further options, Configure changes the configuration; both may be nil.
	Check     func(o Options) error
	Configure func(cfg config.Config) (config.Config, error)
	// Make makes the workload.
	Make func(b *rig.Bench, cfg config.Config, o Options) Workload
}

// Workload is what a bench does with its nodes.
type Workload interface {
	Run(ctx context.Context) (report.Result, error)
}

// Set is the benches of a program.
type Set struct {
	Kinds []Kind
	// Notes end the help, Example is that of the help.
	Notes, Example string
	// Flags adds the flags that the benches have beside those of every bench.
	Flags func(f *pflag.FlagSet, o *Options)
}

// Names lists the benches.
func (s Set) Names() []string {
	var out []string
	for _, k := range s.Kinds {
		out = append(out, k.Name)
	}
	return out
}

// kind is the bench of the name.
func (s Set) kind(name string) (Kind, bool) {
	i := slices.IndexFunc(s.Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return s.Kinds[i], true
}

// Clustered reports whether a bench runs nodes that share a store, for which the configuration must
// be of the cluster profile.
func (s Set) Clustered(name string, nodes int) bool {
	k, _ := s.kind(name)
	return nodes > 1 || k.Clustered
}

// OwnSlots reports whether a bench has the slots of the configuration.
func (s Set) OwnSlots(name string) bool {
	k, _ := s.kind(name)
	return k.OwnSlots
}

// Run measures. The scratch database is gone afterwards, also when ctx ends.
func (s Set) Run(ctx context.Context, cfg config.Config, o Options) (r report.Result, err error) {
	k, known := s.kind(o.Name)
	if !known {
		return r, fmt.Errorf("there is no bench %q; choose one of %v", o.Name, s.Names())
	}
	o.fill(k.Defaults)
	if err := o.check(k); err != nil {
		return r, err
	}
	if k.Configure != nil {
		if cfg, err = k.Configure(cfg); err != nil {
			return r, err
		}
	}
	b, err := rig.New(ctx, cfg, rig.Settings{
		Name: o.Name, Nodes: o.Nodes, Processes: k.Alone || s.Clustered(o.Name, o.Nodes), Alone: k.Alone,
		Duration: o.Duration, Profile: o.Profile, Progress: o.Progress,
	})
	if err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, b.Drop(context.WithoutCancel(ctx)))
	}()
	return k.Make(b, cfg, o).Run(ctx)
}
