package architecture

import (
	"strconv"
	"strings"
)

// layer says what the packages below one directory may import.
type layer struct {
	dir string
	// sees names the directories of our own module, besides dir itself.
	sees []string
	// stdlibOnly forbids every package that is neither ours nor the standard library's.
	stdlibOnly bool
	// not names packages of others, with all below them.
	not []string
	// apart: the packages below dir do not see each other.
	apart bool
}

const everything = "*"

const (
	persistence = "infrastructure/persistence"
	services    = "application/service"
	bench       = "cmd/bench"
)

// benchSees is what the parts of the bench may see of the product.
var benchSees = []string{"domain", "infrastructure", "internal", "cmd/app", "cmd/client", "sdk"}

// layers is the house of the design: api → application → domain ← infrastructure.
// A directory stands before the one it lies in.
var layers = []layer{
	{dir: bench + "/measure", sees: []string{"domain"}},
	{dir: bench + "/report", sees: []string{bench + "/measure"}},
	{dir: bench + "/node", sees: []string{"domain", "infrastructure", "cmd/app", bench + "/measure"}},
	{dir: bench + "/rig", sees: append([]string{bench + "/measure", bench + "/report", bench + "/node"}, benchSees...)},
	// They take loads of others in turns.
	{
		dir: bench + "/workload/onworkers",
		sees: []string{
			bench + "/measure", bench + "/report", bench + "/rig", bench + "/workload/throughput", bench + "/workload/timing",
		},
	},
	{
		dir: bench + "/workload/workflows",
		sees: append([]string{
			bench + "/measure", bench + "/report", bench + "/node", bench + "/rig", bench + "/workload/throughput",
			bench + "/workload/timing",
		}, benchSees...),
	},
	{
		dir:   bench + "/workload",
		sees:  append([]string{bench + "/measure", bench + "/report", bench + "/node", bench + "/rig"}, benchSees...),
		apart: true,
	},
	{dir: "cmd", sees: []string{everything}},
	{dir: "test", sees: []string{everything}},
	{dir: "sdk/embedded", sees: []string{everything}},
	{dir: "examples", sees: []string{"sdk"}},
	{dir: "sdk", sees: []string{"domain"}},
	{dir: "domain", stdlibOnly: true, not: []string{"database/sql", "net/http"}},
	{dir: "application/manager", sees: []string{"domain", "internal"}, not: notApplication},
	// Services do not know each other, but for who calls and what is secret.
	{dir: services + "/access", sees: []string{"domain", "internal"}, not: notApplication},
	{dir: services + "/secret", sees: []string{"domain", "internal"}, not: notApplication},
	{dir: services + "/internal", sees: []string{"domain", "internal"}, not: notApplication},
	// A document holds settings of alerting, which name each other: their services check them together.
	{
		dir: services + "/definition", sees: []string{
			"domain", "internal", "application/manager", services + "/secret", services + "/alerting",
		},
		not: notApplication,
	},
	{
		dir: services, sees: []string{
			"domain", "internal", "application/manager", services + "/access",
			services + "/secret", services + "/internal",
		},
		not: notApplication, apart: true,
	},
	{dir: "application", sees: []string{"domain", "internal"}, not: notApplication},
	// The rooms of the store: connections below, then tables and schema, the store on top.
	{dir: persistence + "/sqldb/sqlvalue", sees: []string{"domain"}},
	{dir: persistence + "/sqldb/dialect", sees: []string{"domain"}},
	{dir: persistence + "/sqldb/connect", sees: []string{
		"domain", persistence + "/sqldb/dialect",
		persistence + "/sqldb/sqlvalue",
	}},
	{dir: persistence + "/sqldb/bulk", sees: []string{persistence + "/sqldb"}},
	{dir: persistence + "/sqldb/listing", sees: []string{"domain", persistence + "/sqldb"}},
	{dir: persistence + "/sqldb/owner", sees: []string{"domain", persistence + "/sqldb"}},
	{dir: persistence + "/sqldb", sees: []string{"domain", "infrastructure/failpoint"}},
	{dir: persistence + "/migrate", sees: []string{"domain", "sql", persistence + "/sqldb"}},
	{dir: persistence + "/storecopy", sees: []string{"domain", persistence + "/migrate", persistence + "/sqldb"}},
	{dir: persistence + "/access", sees: []string{"domain", persistence + "/sqldb"}},
	{dir: persistence + "/monitoring", sees: []string{"domain", persistence + "/sqldb"}},
	{dir: persistence + "/alerting", sees: []string{"domain", persistence + "/sqldb"}},
	{dir: persistence + "/engine/execution", sees: []string{"domain", "infrastructure/failpoint", persistence + "/sqldb"}},
	{dir: persistence + "/engine/inflight", sees: []string{
		"domain", persistence + "/sqldb",
		persistence + "/engine/execution",
	}},
	{dir: persistence + "/engine/group", sees: []string{
		"domain", persistence + "/sqldb", persistence + "/engine/execution", persistence + "/engine/inflight",
	}},
	{dir: persistence + "/engine/job", sees: []string{
		"domain", "infrastructure/failpoint", persistence + "/sqldb", persistence + "/engine/group",
	}},
	{dir: persistence + "/engine/workflowrun", sees: []string{
		"domain", "infrastructure/failpoint", persistence + "/sqldb", persistence + "/engine/execution",
	}},
	{dir: persistence + "/engine/approval", sees: []string{"domain", "infrastructure/failpoint", persistence + "/sqldb"}},
	{dir: persistence + "/engine/backfill", sees: []string{"domain", persistence + "/sqldb"}},
	{dir: persistence + "/engine/record", sees: []string{
		"domain", persistence + "/sqldb",
		persistence + "/engine/execution",
	}},
	{dir: persistence + "/engine/registry", sees: []string{"domain", persistence + "/sqldb"}},
	{dir: persistence + "/engine/retention", sees: []string{"domain", persistence + "/sqldb"}},
	{dir: persistence + "/engine", sees: []string{"domain", persistence + "/sqldb"}},
	{dir: "infrastructure", sees: []string{"domain", "internal", "sdk", "sql"}},
	{dir: "api", sees: []string{"application", "domain"}, not: []string{"database/sql", "gorm.io"}},
	{dir: "internal", sees: []string{"domain"}, not: notApplication},
	{dir: "sql"},
	{dir: "web"},
}

// notApplication are packages that the application leaves to infrastructure and api.
var notApplication = []string{
	"database/sql", "net/http", "gorm.io", "github.com/gin-gonic", "github.com/redis", "github.com/segmentio/kafka-go",
}

// testOnly are packages of others that have no place in the product.
var testOnly = []string{
	"testing", "net/http/httptest", "github.com/stretchr/testify", "pgregory.net/rapid",
	"go.uber.org/goleak", "github.com/anishathalye/porcupine",
}

func (f *file) forbiddenImports() []Violation {
	here, known := layerOf(f.dir())
	if !known {
		return []Violation{{Where: f.path, What: "lies in none of the directories that may hold Go packages"}}
	}
	if f.isTest() {
		return nil
	}
	var found []Violation
	for _, spec := range f.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has refused it already
		}
		if why := here.refuses(imported); why != "" {
			found = append(found, f.violation(spec.Pos(), "%s may not import %s: %s", here.dir, imported, why))
		}
	}
	return found
}

func layerOf(dir string) (layer, bool) {
	for _, l := range layers {
		if below(dir, l.dir) {
			return l, true
		}
	}
	return layer{}, false
}

// refuses says why product code of the layer may not import a package, or nothing.
func (l layer) refuses(imported string) string {
	own, ours := strings.CutPrefix(imported, Module+"/")
	if ours {
		return l.refusesOwn(own)
	}
	for _, prefix := range testOnly {
		if below(imported, prefix) {
			return "it serves tests only"
		}
	}
	for _, prefix := range l.not {
		if below(imported, prefix) {
			return "it belongs to an outer layer"
		}
	}
	// A path of the standard library has no dot in its first element.
	first, _, _ := strings.Cut(imported, "/")
	if l.stdlibOnly && strings.Contains(first, ".") {
		return "only the standard library is allowed"
	}
	return ""
}

func (l layer) refusesOwn(dir string) string {
	if isSupport(dir) || below(dir, "test") {
		return "it serves tests only"
	}
	if below(dir, l.dir) && !l.apart {
		return ""
	}
	for _, seen := range l.sees {
		if seen == everything {
			return ""
		}
		// The public packages embed the whole product.
		if below(dir, seen) && !below(dir, "sdk/embedded") {
			return ""
		}
	}
	return "imports point inward: api → application → domain ← infrastructure"
}
