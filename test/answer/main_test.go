package answer_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

func TestMain(m *testing.M) {
	drop := dbtest.Reuse()
	status := m.Run()
	if err := drop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}
