package bench

import (
	"cmp"
	"fmt"
	"io"
	"time"
)

// Options say what to measure and how long.
type Options struct {
	// Name is one of the benches.
	Name string
	// Duration is the measured span, after the warm-up; 0 is the default: 20 s, or that of the bench.
	Duration time.Duration
	// Jobs is the number of jobs of stampede, http, idle and lateness, and of the burst of alerts (a
	// tenth of it); 0 is the default.
	Jobs int
	// Rate is the fires a second of lateness (1,000), of storm (5,000) and of failover, rolling and restart-store
	// (300). Of api it is the calls a second (200), of tail the lines a second of each run (10), of
	// alerts the failures a second (10). 0
	// is the default.
	Rate int
	// Nodes are processes on one store; 0 is the default: 3 of failover, rolling
	// and restart-store, 1 of the others.
	Nodes int
	// Rounds is how often failover, rolling and restart-store disturb, and the turns of storm; 0 is
	// the default of 3, 1 of restart-store.
	Rounds int
	// Freeze makes failover stop a node where it is, instead of killing it.
	Freeze bool
	// RestartCommand restarts the store of restart-store, by /bin/sh.
	RestartCommand string
	// History is the number of ended runs that throughput and lateness find.
	History int
	// Fires is the fires a second beside the calls of api (200), and beside the browsers of
	// console (20); 0 is the default.
	Fires int
	// Burst is the number of failures of alerts that come within a minute, and the failures a minute
	// of storm.
	Burst int
	// Together makes all jobs of lateness due on whole seconds.
	Together bool
	// IdleWorkers call the server of idle.
	IdleWorkers int
	// Hosts is the number of addresses that the jobs of http call; 0 is the default of 1.
	Hosts int
	// Ceiling measures a bare program beside throughput.
	Ceiling bool
	// Coordinated makes throughput measure SERIAL jobs too.
	Coordinated bool
	// Profile is a file for a CPU profile of the measured span; empty: none.
	Profile string
	// Progress takes notes for people while it runs.
	Progress io.Writer
}

// fill sets the options that are not set.
func (o *Options) fill(d Options) {
	o.Duration = cmp.Or(o.Duration, d.Duration, 20*time.Second)
	o.Rate, o.Fires = cmp.Or(o.Rate, d.Rate, 1000), cmp.Or(o.Fires, d.Fires, 200)
	o.Jobs, o.Hosts = cmp.Or(o.Jobs, d.Jobs), cmp.Or(o.Hosts, 1)
	o.Nodes, o.Rounds = cmp.Or(o.Nodes, d.Nodes, 1), cmp.Or(o.Rounds, d.Rounds, 3)
}

// maxNodes bounds the processes of one bench.
const maxNodes = 32

// check refuses what cannot be measured.
func (o *Options) check(k Kind) error {
	if o.Nodes < 1 || o.Nodes > maxNodes {
		return fmt.Errorf("--nodes must be 1 to %d", maxNodes)
	}
	if o.Nodes > 1 && !k.Several && !k.Clustered {
		return fmt.Errorf("%s measures one node; --nodes is for others", o.Name)
	}
	for _, n := range []struct {
		flag         string
		value, least int
	}{
		{"--rounds", o.Rounds, 1},
		{"--rate", o.Rate, 1},
		{"--fires", o.Fires, 1},
		{"--duration", int(o.Duration), 0},
		{"--jobs", o.Jobs, 0},
		{"--history", o.History, 0},
	} {
		if n.value < n.least {
			return fmt.Errorf("%s must be at least %d", n.flag, n.least)
		}
	}
	if k.Check == nil {
		return nil
	}
	return k.Check(*o)
}
