package deploy_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// composed is what is read of a compose file.
type composed struct {
	Configs  map[string]struct{ Content string }
	Services map[string]struct {
		Image       string
		Build       struct{ Context, Dockerfile string }
		Environment map[string]string
		Ports       []string
		Volumes     []string
		Profiles    []string
		Command     any
		Configs     []struct{ Source, Target string }
		Healthcheck struct{ Test []string }
		DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
		CapDrop     []string                              `yaml:"cap_drop"`
	}
	Volumes map[string]any
}

// required are variables without which compose refuses to start; made are good
// values of them.
var required = regexp.MustCompile(`\$\{([A-Z_]+):\?[^}]+\}`)

// defaulted are variables that may be left out.
var defaulted = regexp.MustCompile(`\$\{([A-Z_]+):-([^}]*)\}`)

func made(name string) string {
	if name == "SECRETS_KEY" {
		return base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	}
	return "made-for-" + name
}

func cluster(t *testing.T) composed {
	t.Helper()
	var file composed
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "compose.cluster.yaml")), &file))
	return file
}

// Each node is configured as the product understands it, as one of a cluster,
// under an id of its own.
func TestTheNodesOfTheClusterFileAreConfigured(t *testing.T) {
	file, ids := cluster(t), map[string]bool{}
	for name, s := range file.Services {
		if s.Build.Dockerfile == "" {
			continue
		}
		require.FileExists(t, filepath.Join("..", "..", "deploy", s.Build.Context, s.Build.Dockerfile))
		require.Equal(t, []string{"ALL"}, s.CapDrop)
		var environ []string
		for key, value := range s.Environment {
			environ = append(environ, key+"="+required.ReplaceAllStringFunc(value, func(v string) string {
				return made(required.FindStringSubmatch(v)[1])
			}))
			environ[len(environ)-1] = defaulted.ReplaceAllString(environ[len(environ)-1], "$2")
		}
		cfg, warnings, err := config.Load(config.Options{Environ: append(environ, "PS_SERVER_ADDR=:8080")})
		require.NoError(t, err, name)
		require.Empty(t, warnings, name)
		require.Equal(t, config.ProfileCluster, cfg.Profile, name)
		require.Equal(t, []string{"redis:6379"}, cfg.Redis.Addrs)
		require.Contains(t, cfg.Store.DSN, "made-for-DB_PASSWORD@tcp(mariadb:3306)")
		if strings.HasPrefix(name, "node-") {
			require.Equal(t, name, cfg.Node.ID)
			require.Len(t, cfg.Server.Roles, 3)
			ids[cfg.Node.ID] = true
		} else {
			require.Equal(t, []string{config.RoleExecutor}, cfg.Server.Roles, "split roles")
			require.Empty(t, s.Ports)
		}
		for _, port := range s.Ports {
			require.True(t, strings.HasPrefix(port, "127.0.0.1:"), port)
		}
	}
	require.Len(t, ids, 3)
}

func TestTheClusterFileHoldsTogether(t *testing.T) {
	file := cluster(t)
	require.Equal(t, "mariadb:10.11", file.Services["mariadb"].Image)
	require.Equal(t, "redis:7", file.Services["redis"].Image)
	for name, s := range file.Services {
		for other, how := range s.DependsOn {
			require.Contains(t, file.Services, other, name)
			require.Equal(t, "service_healthy", how.Condition)
			require.True(t, file.Services[other].Build.Dockerfile != "" || len(file.Services[other].Healthcheck.Test) > 0,
				"%s tells how it is", other)
		}
		for _, v := range s.Volumes {
			volume, _, named := strings.Cut(v, ":")
			if strings.HasPrefix(volume, ".") {
				require.FileExists(t, filepath.Join("..", "..", "deploy", volume, probe(t, volume)))
			} else if named {
				require.Contains(t, file.Volumes, volume)
			}
		}
		for key, value := range s.Environment {
			if regexp.MustCompile(`PASSWORD|DSN|SECRETS|AUTH|TOKEN`).MatchString(key) && key != "MARIADB_RANDOM_ROOT_PASSWORD" {
				require.Regexp(t, required, value, "%s of %s has no default", key, name)
			}
		}
	}
	ignored, err := os.ReadFile("../../.gitignore")
	require.NoError(t, err)
	require.Contains(t, string(ignored), "/deploy/cluster.env", "what holds the passwords is not committed")
}

// probe is a file that a folder of the host has.
func probe(t *testing.T, folder string) string {
	t.Helper()
	found := ""
	root := filepath.Join("..", "..", "deploy", folder)
	require.NoError(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found, err = filepath.Rel(root, path)
		}
		return err
	}))
	require.NotEmpty(t, found, folder)
	return found
}

// Figures and events come beside the nodes, when they are asked for: with the rules and dashboards that are shipped.
func TestTheClusterFileBringsFiguresAndEvents(t *testing.T) {
	file := cluster(t)
	require.Equal(t, []string{"monitoring"}, file.Services["prometheus"].Profiles)
	require.Equal(t, []string{"monitoring"}, file.Services["grafana"].Profiles)
	require.Equal(t, []string{"kafka"}, file.Services["kafka"].Profiles)
	require.Contains(t, file.Services["prometheus"].Command, "--enable-feature=native-histograms,exemplar-storage")
	for _, name := range []string{"prometheus", "grafana", "kafka"} {
		for _, port := range file.Services[name].Ports {
			require.True(t, strings.HasPrefix(port, "127.0.0.1:"), port)
		}
		for _, c := range file.Services[name].Configs {
			require.Contains(t, file.Configs, c.Source)
		}
	}

	// The scrape configuration is that of configs/prometheus, with other targets.
	var shipped, composed struct {
		Global    map[string]string
		RuleFiles []string `yaml:"rule_files"`
		Scrape    []struct {
			JobName       string                       `yaml:"job_name"`
			Path          string                       `yaml:"metrics_path"`
			Authorization map[string]string            `yaml:"authorization"`
			Static        []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	raw, err := os.ReadFile("../../configs/prometheus/prometheus.yml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(raw, &shipped))
	require.NoError(t, yaml.Unmarshal([]byte(file.Configs["prometheus"].Content), &composed))
	for _, target := range composed.Scrape[0].Static[0].Targets {
		node, port, _ := strings.Cut(target, ":")
		require.Contains(t, file.Services, node)
		require.Equal(t, "8080", port)
	}
	require.Len(t, composed.Scrape[0].Static[0].Targets, 3)
	composed.Scrape[0].Static = shipped.Scrape[0].Static
	require.Equal(t, shipped, composed)

	// Grafana finds its data source at the name of the service, and the dashboards where they are mounted.
	source, err := os.ReadFile("../../configs/grafana/provisioning/datasources/prometheus.yaml")
	require.NoError(t, err)
	require.Contains(t, string(source), "url: http://prometheus:9090")
	provider, err := os.ReadFile("../../configs/grafana/provisioning/dashboards/platform-scheduler.yaml")
	require.NoError(t, err)
	mounted := ""
	for _, v := range file.Services["grafana"].Volumes {
		if from, to, _ := strings.Cut(v, ":"); from == "../configs/grafana/dashboards" {
			mounted, _, _ = strings.Cut(to, ":")
		}
	}
	require.NotEmpty(t, mounted)
	require.Contains(t, string(provider), "path: "+mounted+"\n")
}

// The head of the file lets three executors come to the three nodes. The store has connections for all of them at once.
func TestTheStoreOfTheClusterFileHasRoomForSixNodes(t *testing.T) {
	file := cluster(t)
	cfg, _, err := config.Load(config.Options{})
	require.NoError(t, err)
	most := 0
	for _, word := range file.Services["mariadb"].Command.([]any) {
		if number, is := strings.CutPrefix(word.(string), "--max-connections="); is {
			most, err = strconv.Atoi(number)
			require.NoError(t, err)
		}
	}
	nodes := 0
	for _, s := range file.Services {
		if s.Build.Dockerfile != "" {
			nodes++
		}
	}
	scaled := regexp.MustCompile(`--scale executor=(\d+)`).FindStringSubmatch(read(t, "compose.cluster.yaml"))
	require.Len(t, scaled, 2, "the head of the file scales executors")
	executors, err := strconv.Atoi(scaled[1])
	require.NoError(t, err)
	nodes += executors - 1 // the service is one of them already
	require.Equal(t, 6, nodes)
	// Twice of that: a node that was killed holds its connections until the store sees it.
	require.GreaterOrEqual(t, most, 2*nodes*cfg.Store.MaxConns)
}

// A point in a graph leads to the page of its execution, in the console of the first node.
func TestAnExemplarLeadsToTheConsole(t *testing.T) {
	var file struct {
		Datasources []struct {
			JSONData struct {
				Exemplars []struct{ Name, URL string } `yaml:"exemplarTraceIdDestinations"`
			} `yaml:"jsonData"`
		}
	}
	raw, err := os.ReadFile("../../configs/grafana/provisioning/datasources/prometheus.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(raw, &file))
	exemplars := file.Datasources[0].JSONData.Exemplars
	require.Len(t, exemplars, 1)
	require.Equal(t, "execution_id", exemplars[0].Name, "the label that the product gives an exemplar")
	host, _, _ := strings.Cut(cluster(t).Services["node-1"].Ports[0], ":8080")
	require.Equal(t, "http://"+host+"/executions/$${__value.raw}", exemplars[0].URL)
	page, err := os.ReadFile("../../web/src/features/executions/routes.ts")
	require.NoError(t, err)
	require.Contains(t, string(page), "'/executions/:id'")
}
