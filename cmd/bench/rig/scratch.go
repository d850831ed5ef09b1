package rig

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn"
)

// Scratch makes databases for one bench and removes them. It never opens the
// configured database itself: that one may hold data.
type Scratch struct {
	cfg    config.Config
	folder string
	server *sql.DB
	dsn    *mysql.Config
	made   []string
	// prefixes are the key prefixes that nodes have used in Redis, topics the settings of those in Kafka.
	prefixes []string
	topics   []config.Kafka
	// note writes a line for people.
	note func(format string, args ...any)
}

// databasePrefix begins the names of the databases that a bench makes.
const databasePrefix = "ps_bench_"

func openScratch(ctx context.Context, cfg config.Config) (*Scratch, error) {
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	folder, err := os.MkdirTemp(cfg.DataDir, "bench-")
	if err != nil {
		return nil, fmt.Errorf("make a scratch folder: %w", err)
	}
	s := &Scratch{cfg: cfg, folder: folder}
	if cfg.Store.Driver != config.DriverMySQL {
		return s, nil
	}
	if s.dsn, err = mysql.ParseDSN(cfg.Store.DSN); err != nil {
		return nil, errors.Join(fmt.Errorf("read store.dsn: %w", err), s.drop(ctx))
	}
	server := s.dsn.Clone()
	server.DBName = ""
	server.Logger = &mysql.NopLogger{} // what fails comes back as an error
	connector, err := mysql.NewConnector(server)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read store.dsn: %w", err), s.drop(ctx))
	}
	s.server = sql.OpenDB(connector)
	return s, nil
}

// Next makes a fresh, empty database and returns the configuration for it. A
// database that exists is refused, because it may hold data.
func (s *Scratch) Next(ctx context.Context) (config.Config, error) {
	cfg := s.cfg
	name, err := scratchName()
	if err != nil {
		return cfg, err
	}
	cfg.DataDir = s.folder + "/" + name
	cfg.Store.AutoMigrate = true
	cfg.Node.ID = name
	if len(cfg.Kafka.Brokers) > 0 {
		cfg.Kafka.TopicPrefix = strings.ReplaceAll(name, "_", "-")
		s.topics = append(s.topics, cfg.Kafka)
	}
	if s.server == nil {
		return cfg, nil
	}
	return cfg, s.create(ctx, name, &cfg)
}

// NextShared is next for several nodes, with keys of its own in Redis.
func (s *Scratch) NextShared(ctx context.Context) (config.Config, error) {
	if s.server == nil || s.cfg.Profile != config.ProfileCluster || len(s.cfg.Redis.Addrs) == 0 {
		return s.cfg, errNoCluster
	}
	cfg, err := s.Next(ctx)
	if err != nil {
		return cfg, err
	}
	cfg.Redis.KeyPrefix = strings.ReplaceAll(cfg.Node.ID, "_", "-")
	s.prefixes = append(s.prefixes, cfg.Redis.KeyPrefix)
	return cfg, mkdir(cfg.DataDir)
}

// database is the name of the scratch database that was made last.
func (s *Scratch) database() string { return s.made[len(s.made)-1] }

func (s *Scratch) create(ctx context.Context, name string, cfg *config.Config) error {
	if _, err := s.server.ExecContext(ctx, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"); err != nil {
		return fmt.Errorf("make the scratch database %s: %w; the bench never uses a database that holds data, so its user "+
			"must be allowed to create %s%%", name, err, databasePrefix)
	}
	s.made = append(s.made, name)
	dsn := s.dsn.Clone()
	dsn.DBName = name
	cfg.Store.DSN = dsn.FormatDSN()
	return nil
}

func scratchName() (string, error) {
	raw := make([]byte, 6)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("make a scratch name: %w", err)
	}
	return databasePrefix + hex.EncodeToString(raw), nil
}

func mkdir(path string) error { return os.MkdirAll(path, 0o700) }

// drop removes everything that next made.
func (s *Scratch) drop(ctx context.Context) error {
	errs := []error{s.deleteKeys(ctx), s.deleteTopics(ctx)}
	for _, name := range s.made {
		if _, err := s.server.ExecContext(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
			errs = append(errs, fmt.Errorf("remove the scratch database %s: %w", name, err))
		}
	}
	if s.server != nil {
		errs = append(errs, s.server.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(s.folder))...)
}

// deleteTopics takes away what nodes have sent to Kafka.
func (s *Scratch) deleteTopics(ctx context.Context) error {
	var errs []error
	for _, topics := range s.topics {
		k, err := kafka.Open(topics, "bench", clock.NewSystem(), slog.New(slog.DiscardHandler))
		if err == nil {
			if err = k.Remove(ctx); errors.Is(err, kafka.ErrAway) && s.note != nil {
				s.note("no broker can be asked: topics that begin with %s. are not deleted", topics.TopicPrefix)
				err = nil // what was measured counts also where the brokers are away
			}
			err = errors.Join(err, k.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// deleteKeys takes the keys of the nodes away, which lie under ps:PREFIX in braces.
func (s *Scratch) deleteKeys(ctx context.Context) error {
	if len(s.prefixes) == 0 {
		return nil
	}
	c, err := redisconn.Open(s.cfg.Redis)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	each := func(ctx context.Context, node *redis.Client) error {
		for _, space := range s.prefixes {
			keys := node.Scan(ctx, 0, "*ps:"+space+":*", 1000).Iterator()
			for keys.Next(ctx) {
				if err := node.Del(ctx, keys.Val()).Err(); err != nil {
					return err
				}
			}
			if err := keys.Err(); err != nil {
				return err
			}
		}
		return nil
	}
	switch c := c.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, each)
	case *redis.Client:
		return each(ctx, c)
	}
	return nil
}
