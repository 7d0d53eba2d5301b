package dbtest

import (
	"path/filepath"
	"testing"
)

func TestServerFolderFollowsSetting(t *testing.T) {
	given := filepath.Join(t.TempDir(), "made", "when missing")
	t.Setenv("POSTRIDER_TEST_DIR", given)
	root, err := ownRoot()
	if err != nil || filepath.Dir(root) != given {
		t.Errorf("with %q set, servers are stored in %s: %v", given, root, err)
	}
}

func TestSmallFileSystemIsRejected(t *testing.T) {
	t.Parallel()
	if folder := SmallDisk(t, "1m"); hasRoom(folder) {
		t.Error("servers would be stored in a file system of one megabyte")
	}
	if hasRoom(filepath.Join(t.TempDir(), "missing")) {
		t.Error("servers would be stored in a missing folder")
	}
}
