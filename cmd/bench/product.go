package bench

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/alerts"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/calls"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/disruption"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/httpjobs"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/idle"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/onworkers"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/throughput"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/timing"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/workflows"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Product is the benches of the product. Makers have more, in cmd/makerbench.
func Product() Set {
	disturbing := Options{Rate: 300, Nodes: 3}
	return Set{
		Kinds: []Kind{
			{
				Name: "throughput", About: "executions a second, flat out, beside bare batched SQL of the same run",
				Several: true,
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return throughput.FlatOut{Bench: b, Ceiling: o.Ceiling, Coordinated: o.Coordinated, History: o.History}
				},
			},
			{
				Name: "lateness", About: "handler entry minus due time, at a steady rate", Several: true,
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return timing.Lateness{
						Bench: b, Rate: o.Rate, Jobs: o.Jobs, History: o.History, Together: o.Together,
					}
				},
			},
			{
				Name: "stampede", About: "many jobs due at one instant; times count from it", Several: true,
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return timing.Stampede{Bench: b, Jobs: o.Jobs}
				},
			},
			{
				Name: "http", About: "HTTP jobs that are all due on whole seconds: due time until the called server is reached",
				Alone: true, OwnSlots: true, Defaults: Options{Duration: 10 * time.Second, Jobs: 1000},
				Check: checkHTTP, Configure: httpjobs.Configure,
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return httpjobs.Calls{Bench: b, Jobs: o.Jobs, Hosts: o.Hosts}
				},
			},
			{
				Name: "idle", About: "a server with many jobs of which none is due", Several: true, Check: checkIdle,
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return idle.Servers{Bench: b, Jobs: o.Jobs, Workers: o.IdleWorkers}
				},
			},
			{
				Name: "api", About: "calls at a steady rate beside a firing engine, from their planned moments",
				Defaults: Options{Duration: time.Minute, Rate: 200},
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return calls.Calls{Bench: b, Rate: o.Rate, Fires: o.Fires}
				},
			},
			{
				Name: "alerts", About: "failures until their webhooks arrive: the delay, and a burst of them", Several: true,
				Defaults: Options{Duration: 30 * time.Second, Rate: 10}, Check: checkAlerts, Configure: alerts.Configure,
				Make: func(b *rig.Bench, cfg config.Config, o Options) Workload {
					return alerts.Notified{Bench: b, Rate: o.Rate, Burst: o.Burst, Jobs: o.Jobs, Goals: alerts.GoalsOf(cfg)}
				},
			},
			{
				Name: "storm", About: "what failures cost the other runs: calm, told, and told to a receiver that is down",
				Defaults: Options{Rate: 5000}, Check: checkStorm, Configure: alerts.Configure,
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return alerts.Storm{Bench: b, Rate: o.Rate, Burst: o.Burst, Rounds: o.Rounds}
				},
			},
			{
				Name: "workers", About: "jobs on a worker beside the same jobs of the server: flat out, and their delay",
				Defaults: Options{Duration: 5 * time.Second, Jobs: 30_000, Rate: 500, Rounds: 9},
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return onworkers.Compared{Bench: b, Jobs: o.Jobs, Rate: o.Rate, Rounds: o.Rounds}
				},
			},
			{
				Name: "workflow", About: "edges of workflows: chains, graphs and maps flat out, and the delay of an edge",
				Defaults: Options{Duration: 5 * time.Second, Jobs: 20_000, Rate: 500, Rounds: 9},
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return workflows.Edges{Bench: b, Steps: o.Jobs, Rate: o.Rate, Rounds: o.Rounds}
				},
			},
			{
				Name: "failover", About: "a node of three is lost under load: when its fires and its runs go on",
				Clustered: true, Defaults: disturbing, Check: checkCluster,
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return disruption.Failover{Bench: b, Rate: o.Rate, Rounds: o.Rounds, Freeze: o.Freeze}
				},
			},
			{
				Name: "rolling", About: "the nodes are restarted under load, one after the other",
				Clustered: true, Defaults: disturbing, Check: checkCluster,
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return disruption.Rolling{Bench: b, Rate: o.Rate, Rounds: o.Rounds}
				},
			},
			{
				Name: "restart-store", About: "the store is restarted under load, by --restart-command",
				Clustered: true, Defaults: Options{Rate: 300, Nodes: 3, Rounds: 1},
				Make: func(b *rig.Bench, _ config.Config, o Options) Workload {
					return disruption.RestartStore{Bench: b, Rate: o.Rate, Rounds: o.Rounds, Command: o.RestartCommand}
				},
			},
		},
		Notes: `The last three, and throughput, lateness, stampede, idle and alerts with --nodes, start each node as a process
of its own; they need MySQL or MariaDB and Redis (PS_STORE_DSN, --redis).`,
		Example: `  platform-scheduler bench throughput
  platform-scheduler bench lateness --rate 1000 --json
  platform-scheduler bench stampede --jobs 100000 --nodes 3 --redis 127.0.0.1:6379
  platform-scheduler bench http --jobs 1000 --hosts 50
  platform-scheduler bench idle --jobs 1000000
  platform-scheduler bench idle --idle-workers 5000 --duration 10m
  platform-scheduler bench api --rate 200 --fires 200
  platform-scheduler bench alerts --burst 10000
  PS_KAFKA_BROKERS=127.0.0.1:9092 platform-scheduler bench alerts
  platform-scheduler bench storm --rate 10000 --rounds 15
  platform-scheduler bench workers
  platform-scheduler bench workflow
  platform-scheduler bench failover --rounds 5 --redis 127.0.0.1:6379`,
		Flags: flags,
	}
}

// flags are those of the product's benches.
func flags(f *pflag.FlagSet, o *Options) {
	f.DurationVar(&o.Duration, "duration", 0, "measure for `TIME` after the warm-up (20s; api 1m, alerts 30s, http 10s, workers and workflow 5s)")
	f.IntVar(&o.Jobs, "jobs", 0,
		"number of jobs of stampede (10000), http (1000), idle (0), workers (30000), of steps of workflow (20000), "+
			"the burst of alerts (a tenth of it) "+
			"and lateness, "+
			"where those beyond the rate are never due")
	f.IntVar(&o.Rate, "rate", 0,
		"fires a second of lateness (1000), storm (5000), workers (500), edges a second of workflow (500), and of "+
			"failover, rolling and restart-store (300), "+
			"calls a second of api (200), failures a second of alerts (10)")
	f.IntVar(&o.Fires, "fires", 0, "fires a second beside the calls of api (200)")
	f.IntVar(&o.Burst, "burst", 10_000, "failures of alerts that come within a minute, failures a minute of storm")
	f.IntVar(&o.Nodes, "nodes", 0, "processes on one store (1; failover, rolling and restart-store 3)")
	f.IntVar(&o.Rounds, "rounds", 0,
		"times that failover, rolling (3) and restart-store (1) disturb, turns of storm (3) workers and workflow (9)")
	f.BoolVar(&o.Freeze, "freeze", false, "failover stops the node where it is, and lets it go on when it is DOWN")
	f.StringVar(&o.RestartCommand, "restart-command", "", "`COMMAND` of /bin/sh by which restart-store restarts the store")
	f.BoolVar(&o.Together, "whole-seconds", false, "lateness has all its jobs due on whole seconds, not spread evenly")
	f.IntVar(&o.IdleWorkers, "idle-workers", 0, "workers that call the server of idle and get nothing (0; one node)")
	f.IntVar(&o.Hosts, "hosts", 0, "addresses that the jobs of http call in turn, from 127.0.0.1 on (1)")
	f.IntVar(&o.History, "history", 0, "ended runs that throughput and lateness find in the store")
	f.BoolVar(&o.Ceiling, "ceiling", true, "measure bare SQL beside throughput")
	f.BoolVar(&o.Coordinated, "coordinated", true, "measure coordinated jobs beside throughput")
}

func checkAlerts(o Options) error {
	if o.Burst < 1 || o.Jobs > o.Burst {
		return errors.New("--burst must be at least 1, and at least --jobs")
	}
	return nil
}

func checkIdle(o Options) error {
	if o.IdleWorkers < 0 || o.IdleWorkers > rig.MostWorkers || o.IdleWorkers > 0 && o.Nodes > 1 {
		return fmt.Errorf("--idle-workers must be 0 to %d, and they call one node", rig.MostWorkers)
	}
	return nil
}

func checkHTTP(o Options) error {
	if o.Hosts < 1 || o.Hosts > httpjobs.MaxHosts {
		return fmt.Errorf("--hosts must be 1 to %d", httpjobs.MaxHosts)
	}
	if o.Duration < time.Second || o.Duration%time.Second != 0 {
		return errors.New("--duration of http must be whole seconds")
	}
	return nil
}

func checkStorm(o Options) error {
	if o.Burst < 1 || o.Rate < (o.Burst+59)/60 {
		return errors.New("--burst must be at least 1, and --rate at least a sixtieth of it")
	}
	return nil
}

func checkCluster(o Options) error {
	if o.Nodes < 2 {
		return fmt.Errorf("%s needs at least two --nodes", o.Name)
	}
	return nil
}
