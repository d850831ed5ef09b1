package config_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

var update = flag.Bool("update", false, "write the documents anew")

const (
	settingsPage = "../../docs/settings.md"
	exampleFile  = "../../configs/platform-scheduler.yaml"
)

// page is the reference of all keys for people.
func page() string {
	var b strings.Builder
	b.WriteString(`# Settings

Written by ` + "`make docs`" + ` from the table in ` + "`infrastructure/config`" + `. A file (` +
		"`--config FILE`, `PS_CONFIG`" + `) holds them as YAML; variables of the
environment stand over the file, and flags over both. In the names of variables case and ` + "`_`" +
		` do not matter. A secret may also be read from
the file that the variable with ` + "`_FILE`" + ` names, such as ` + "`PS_STORE_DSN_FILE`" +
		`. Keys that do not exist refuse the start.

` + "`platform-scheduler config example`" + ` prints [a file with all of them](../configs/platform-scheduler.yaml), ` +
		"`config check`" + ` says what is wrong with one,
and ` + "`config show`" + ` what is in force. Where one default stands, it is that of both profiles.

| key | variable | takes | default | meaning |
|---|---|---|---|---|
`)
	for _, s := range config.Settings() {
		standard, cluster := orNone(s.Standalone), orNone(s.Cluster)
		if standard != cluster {
			standard = fmt.Sprintf("standalone %s; cluster %s", standard, cluster)
		}
		name := "`" + s.Name + "`"
		if s.Secret {
			name += " (secret)"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", name, s.Variable, s.Takes, standard, s.Meaning)
	}
	return b.String()
}

func orNone(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

func TestTheReferenceOfSettingsIsCurrent(t *testing.T) {
	example, err := config.Example()
	require.NoError(t, err)
	for file, made := range map[string]string{settingsPage: page(), exampleFile: example} {
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(made), 0o644))
			continue
		}
		committed, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, made, string(committed), "%s is older than the table of keys: run make docs", file)
	}
}

func TestEverySettingIsExplained(t *testing.T) {
	t.Parallel()
	variables := map[string]bool{}
	for _, s := range config.Settings() {
		require.NotEmpty(t, s.Meaning, "%s: say in keys.go what it is for", s.Name)
		require.True(t, strings.HasSuffix(s.Meaning, "."), s.Name)
		require.NotContains(t, s.Meaning, "|", s.Name)
		require.False(t, variables[s.Variable], s.Variable)
		variables[s.Variable] = true
		// The variable is the one that is read.
		if s.Takes == "true or false" {
			load(t, config.Options{Environ: []string{s.Variable + "=false"}})
		}
		_, warnings, _ := config.Load(config.Options{Environ: []string{s.Variable + "=x"}})
		require.Empty(t, warnings, s.Variable)
	}
	require.True(t, variables["PS_EXECUTOR_HTTP_ALLOW_CIDRS"])
	require.True(t, variables["PS_SERVER_SHUTDOWN_GRACE_SEC"])
}

func TestTheExampleSetsNothingAndHoldsTheDefaults(t *testing.T) {
	t.Parallel()
	example, err := config.Example()
	require.NoError(t, err)
	want := load(t, config.Options{})
	require.Equal(t, want, load(t, config.Options{File: fileWith(t, example)}))
	spoken := regexp.MustCompile(`(?m)^( *)#(\w+: )`).ReplaceAllString(example, "$1$2")
	require.NotEqual(t, example, spoken)
	require.Equal(t, valuesOf(want), valuesOf(load(t, config.Options{File: fileWith(t, spoken)})))
	for _, s := range config.Settings() {
		require.Contains(t, example, s.Variable)
	}
}

func TestADSNMeansMySQL(t *testing.T) {
	t.Parallel()
	const dsn = "PS_STORE_DSN=u:longpassword@tcp(db:3306)/s"
	require.Equal(t, config.DriverMySQL, load(t, config.Options{Environ: []string{dsn}}).Store.Driver)
	require.Equal(t, config.DriverMySQL,
		load(t, config.Options{Environ: []string{dsn, "PS_STORE_DRIVER=mysql"}}).Store.Driver)
	require.Equal(t, config.DriverMySQL,
		load(t, config.Options{File: fileWith(t, "store: {dsn: 'u:longpassword@tcp(db:3306)/s'}")}).Store.Driver)
	require.Contains(t, problemsOf(t, config.Options{Environ: []string{dsn, "PS_STORE_DRIVER=sqlite"}})["store.dsn"],
		"store.driver is sqlite")
	require.Equal(t, config.DriverSQLite, load(t, config.Options{Environ: []string{"PS_STORE_DSN="}}).Store.Driver)
}

func TestWhatIsMisspeltIsAnsweredWithWhatWasMeant(t *testing.T) {
	t.Parallel()
	p := problemsOf(t, config.Options{File: fileWith(t,
		"server: {adr: x}\nexecuter: {slots: 1}\nstore: {driverr: mysql}\nzzz: 1\n")})
	require.Contains(t, p["server.adr"], "did you mean server.addr?")
	require.Contains(t, p["executer"], "did you mean executor?")
	require.Contains(t, p["store.driverr"], "did you mean store.driver?")
	require.NotContains(t, p["zzz"], "did you mean")
	_, warnings, err := config.Load(config.Options{Environ: []string{"PS_SERVR_ADDR=x", "PS_FORMAT=args"}})
	require.NoError(t, err)
	require.Equal(t, []string{
		"the variable PS_FORMAT is not a key of the configuration and is ignored",
		"the variable PS_SERVR_ADDR is not a key of the configuration and is ignored; did you mean PS_SERVER_ADDR?",
	}, warnings)
}
