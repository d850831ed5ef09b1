package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// serverPlaceholder stands for this server's own address in example jobs.
const serverPlaceholder = "{{server}}"

// ApplyExamples creates the jobs of the YAML files in dir if there is no job
// yet, and returns how many. Each file holds one or more definitions in the
// form of POST /jobs; {{server}} is replaced by this server's address. All of
// them are checked before the first is created.
func (s *Server) ApplyExamples(ctx context.Context, dir string) (int, error) {
	existing, _, err := s.Jobs.List(ctx, repository.JobFilter{}, repository.Page{Limit: 1})
	if err != nil || len(existing) > 0 {
		return 0, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("there are no YAML files in %s", dir)
	}
	slices.Sort(files)
	var jobs []request.JobInput
	for _, file := range files {
		more, err := s.readJobs(ctx, file)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		jobs = append(jobs, more...)
	}
	for _, j := range jobs {
		if _, err := s.Jobs.Create(ctx, j.Job, j.Enabled); err != nil {
			return 0, fmt.Errorf("create the job %q: %w", j.Job.Name, err)
		}
	}
	return len(jobs), nil
}

// readJobs reads the definitions of one file exactly as the API would.
func (s *Server) readJobs(ctx context.Context, file string) ([]request.JobInput, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(raw), serverPlaceholder, s.URL())
	documents := yaml.NewDecoder(strings.NewReader(text))
	var jobs []request.JobInput
	for {
		var document map[string]any
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			return jobs, nil
		} else if err != nil {
			return nil, err
		}
		body, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		job, err := s.ReadJob(ctx, body)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
}
