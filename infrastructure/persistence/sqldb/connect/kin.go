package connect

import (
	"regexp"
	"strings"
)

// refusals are servers that speak the protocol of MySQL and do not keep what the store relies on: by what their names
// hold, in lower case, and by a variable that they alone have, because the version that TiDB shows is a setting.
var refusals = []struct {
	name, variable, because string
	signs                   []string
}{
	{
		"TiDB", "tidb_current_ts", "it accepts SKIP LOCKED and locks nothing, so that two nodes would run one execution",
		[]string{"tidb"},
	},
	{
		"OceanBase", "ob_query_timeout",
		"its LIMIT counts the rows that SKIP LOCKED passes over, and it does not obey the wait for locks that is set",
		[]string{"oceanbase", "obproxy", "seekdb"},
	},
}

var (
	// kinVersion is how MySQL and what is built from it write a version: that of MySQL, and perhaps a number of the
	// package, or words that builds carry.
	kinVersion = regexp.MustCompile(`^\d+\.\d+(\.\d+)?(\.?mysql_aurora\.[\d.]+|[-+.~](\d[\w.+~-]*|log|debug|commercial|` +
		`enterprise|cluster|azure|google|rds|cloud|u\d+)([-+.~][\w.+~-]+)?)?$`)
	// kinComment is how their builds call themselves; RDS, Aurora and Cloud SQL are "Source distribution" or "(Google)".
	kinComment = regexp.MustCompile(
		`^(mysql (community|enterprise|cluster|server)|percona |source distribution|homebrew|` +
			`\((debian|ubuntu|raspbian|google)\))`,
	)
)

// assess refuses a server on which the store would lose or double work. The doubt is a sentence about a server that is
// not known: neither MySQL nor MariaDB, nor built from them.
func assess(vars map[string]string) (doubt string, err error) {
	version, comment := vars["version"], vars["version_comment"]
	names := strings.ToLower(version + " " + comment)
	for _, r := range refusals {
		_, is := vars[r.variable]
		for _, sign := range r.signs {
			is = is || strings.Contains(names, sign)
		}
		if is {
			return "", Misconfigured("the store is %s (%s), which is refused: %s; name a MySQL or MariaDB in store.dsn "+
				"(PS_STORE_DSN)", r.name, version, r.because)
		}
	}
	known := kinVersion.MatchString(strings.ToLower(version)) &&
		kinComment.MatchString(strings.ToLower(strings.TrimSpace(comment)))
	if known || strings.Contains(names, "mariadb") {
		return "", nil
	}
	return "the store calls itself " + version + " (" + comment + "), and is neither a MySQL nor a MariaDB that is " +
		"known: the scheduler was not tried on it, and needs FOR UPDATE SKIP LOCKED and GET_LOCK as they are there", nil
}
