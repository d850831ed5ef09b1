package cause_test

import (
	"testing"

	"github.com/platform-scheduler/platform-scheduler/domain/service/cause"
)

func BenchmarkFinderOnPlainLines(b *testing.B) {
	var f cause.Finder
	for b.Loop() {
		f.Add("2026-11-23 02:00:01 INFO [main] com.acme.Close - closed the book of day 17 in 120 ms")
	}
}

func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		cause.Of("EXIT_CODE", "ended with exit code 1: sqlalchemy.exc.OperationalError: (pymysql.err.OperationalError) "+
			"(2003, \"Can't connect to MySQL server on 'ledger-db-3' ([Errno 111] Connection refused)\")")
	}
}
