package config

import (
	"net"
	"strings"
)

// Defaults returns the configuration of a profile before anything is read. Load sets what
// depends on other keys: the permission to run commands and to call private networks, and the
// node's id.
func Defaults(profile string) Config {
	c := Config{
		Profile: profile,
		DataDir: "./data",
		Server: Server{
			Addr:             "127.0.0.1:8080",
			Roles:            []string{RoleAPI, RoleScheduler, RoleExecutor},
			Console:          true,
			ShutdownGraceSec: 30, RequestTimeoutSec: 5,
			TimeZone: "UTC",
		},
		Log:    Log{Level: "info"},
		Node:   Node{Labels: map[string]string{}, Weight: 1},
		Store:  Store{Driver: DriverSQLite, AutoMigrate: true, Synchronous: "FULL", MaxConns: 32},
		Kafka:  Kafka{TopicPrefix: "scheduler"},
		Engine: Engine{ScanIntervalMs: 1000, HorizonMs: 3000, BatchSize: 500, BeatMs: 3000, LeaseMs: 18_000},
		Executor: Executor{
			Slots:   512,
			Command: Command{FolderMb: 1024, Interpreters: []string{"sh", "bash", "python3", "node"}},
			HTTP:    HTTPCalls{AllowPrivate: true, MaxPerHost: 256, BreakAfter: 20, BreakSec: 10, TimeoutSec: 60},
		},
		Retention: Retention{
			ExecutionsDays: 30, LogsDays: 30, MetricsDays: 15, AuditDays: 365, NodesDays: 7, AlertsDays: 90,
			JobVersions: 100,
		},
		Monitoring: Monitoring{
			CollectIntervalSec: 15, JobLabels: 200,
			WeeklyReport: WeeklyReport{Weekday: "MONDAY", Hour: 8, Language: "en"},
		},
	}
	if profile == ProfileCluster {
		c.Server.Addr = ":8080"
		c.Server.StartWaitSec = 60
		c.Store.Driver = DriverMySQL
		c.Executor.HTTP.AllowPrivate = false
		c.Engine.BeatMs, c.Engine.LeaseMs = 500, 3000
	}
	return c
}

// InClear reports whether passwords and tokens reach this server over a network without TLS.
// That is so when it listens for other machines, has no certificate, and knows of no proxy that
// has one.
func (c *Config) InClear() bool {
	return !loopback(c.Server.Addr) && c.Server.TLS.CertFile == "" &&
		!strings.HasPrefix(strings.ToLower(c.Server.PublicURL), "https:")
}

// loopback reports whether only this machine can reach the address.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
