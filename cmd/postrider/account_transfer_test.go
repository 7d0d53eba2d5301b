package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The import reads the one-time key that the export has written, which only its owner can read.
func TestSecretFileContainsOneTimeKey(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "ada.key")
	made, err := createSecretFile(name)
	if err != nil {
		t.Fatal(err)
	}
	read, err := readSecretFile(name)
	if err != nil || !read.Setting().Equal(made.Setting()) {
		t.Errorf("the key in the file is another one (%v)", err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v (%v), want 0600", info.Mode(), err)
	}
	if _, err := createSecretFile(name); err == nil || !strings.Contains(err.Error(), "--secret-file") {
		t.Errorf("creating the file again returned %v", err)
	}
	if err := os.WriteFile(name, []byte("mv_code"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readSecretFile(name); err == nil || !strings.Contains(err.Error(), "one-time key") {
		t.Errorf("another file was read with %v", err)
	}
}
