package postgres

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	given := searchPlaces(Config{BinDir: "/given", Fallback: "/packages"})
	if diff := cmp.Diff([]searchGroup{{folders: []string{"/given"}, only: true}}, given,
		cmp.AllowUnexported(searchGroup{})); diff != "" {
		t.Errorf("with a setting, the places differ (-want +got):\n%s", diff)
	}
	fallback := t.TempDir()
	platforms := []string{"linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"}
	for _, platform := range platforms {
		if err := os.MkdirAll(filepath.Join(fallback, "@embedded-postgres", platform, "native", "bin"),
			0o700); err != nil {
			t.Fatal(err)
		}
	}
	searched := searchPlaces(Config{Fallback: fallback})
	last := searched[len(searched)-1].folders
	if len(last) != 1 || !strings.HasPrefix(last[0], fallback) {
		t.Errorf("the last place is %v, want this platform's package", last)
	}
}

// As root with binaries that the server's user cannot access, they are copied.
func TestBinariesInInaccessibleFolderAreCopied(t *testing.T) {
	t.Parallel()
	found, err := findBinaries(t.Context(), Config{DataDir: t.TempDir()}, "", nil, discard)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	closed := filepath.Join(folder, filepath.Base(found.folder))
	if err := os.CopyFS(folder, os.DirFS(filepath.Dir(found.folder))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	s, err := Start(t.Context(), Config{DataDir: data, BinDir: closed, Settings: quick, Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	query(t, s, `SELECT 1`)
	stop(t, s)
	if os.Geteuid() == 0 {
		if !strings.HasPrefix(s.binaries.folder, copiesFolder) {
			t.Errorf("the binaries are in %s", s.binaries.folder)
		}
		if err := os.RemoveAll(filepath.Dir(s.binaries.folder)); err != nil {
			t.Error(err)
		}
	} else if s.binaries.folder != closed {
		t.Errorf("the binaries are in %s, want %s", s.binaries.folder, closed)
	}
}

func TestLockFileContent(t *testing.T) {
	t.Parallel()
	for content, want := range map[string][2]int{"": {}, "12         34        \n": {12, 34}, "12": {12, 0},
		"x 3": {}} {
		holder, postmaster := parseLock(content)
		if got := [2]int{holder, postmaster}; got != want {
			t.Errorf("parseLock(%q) = %v, want %v", content, got, want)
		}
	}
}
