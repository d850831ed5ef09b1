package app

import (
	"runtime/debug"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
)

// Set by the linker where a build cannot see the repository, as that of an
// image: -ldflags "-X …/cmd/app.version=1.2.3 -X …/cmd/app.commit=…".
var (
	version   string
	commit    string //nolint:gochecknoglobals // the linker can set nothing else
	buildTime string //nolint:gochecknoglobals // the linker can set nothing else
)

// shortCommit is how much of a commit stands for a version.
const shortCommit = 12

// Version is the version of this build: what it was given, or the commit it was
// built from, or the module's version, or "devel".
func Version() string { return Build().Version }

// Build is all that is known of this build: version, commit, and when it was
// built or, where the toolchain knows no better, committed.
func Build() vo.Version {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info, vo.Version{Version: version, Commit: commit, BuildTime: buildTime})
}

// buildOf completes what a build was given by what the toolchain noted.
func buildOf(info *debug.BuildInfo, v vo.Version) vo.Version {
	module := ""
	if info != nil {
		v.GoVersion, module = info.GoVersion, info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && v.Commit == "":
				v.Commit = s.Value
			case s.Key == "vcs.time" && v.BuildTime == "":
				v.BuildTime = s.Value
			}
		}
	}
	switch {
	case v.Version != "":
	case len(v.Commit) >= shortCommit:
		v.Version = v.Commit[:shortCommit]
	case module != "" && module != "(devel)":
		v.Version = module
	default:
		v.Version = "devel"
	}
	return v
}
