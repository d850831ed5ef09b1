package persistence_test

import (
	"testing"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

func TestSQLiteKeepsTheContract(t *testing.T) {
	persistencetest.Run(t, opener(func(t *testing.T) persistence.Config { return dbtest.SQLite(t) }))
}

func TestMySQLKeepsTheContract(t *testing.T) {
	dbtest.NeedMySQL(t)
	persistencetest.Run(t, opener(func(t *testing.T) persistence.Config { return dbtest.Migrated(t) }))
}

func opener(config func(t *testing.T) persistence.Config) storetest.Opener {
	return func(t *testing.T, adjust func(*persistence.Config)) *persistence.Store {
		cfg := config(t)
		if adjust != nil {
			adjust(&cfg)
		}
		return dbtest.Open(t, cfg)
	}
}
