package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// KeyFile reads the master key setting from a file, and creates the file with a new key if it does not
// exist. If two processes start concurrently, both get the key of the first. A file that other users can
// read is refused.
func KeyFile(path string) (String, error) {
	setting, err := readKeyFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return setting, err
	}
	if err := createKeyFile(path, NewKey()); err != nil && !errors.Is(err, fs.ErrExist) {
		return String{}, fmt.Errorf("create master key file: %w", err)
	}
	return readKeyFile(path)
}

func readKeyFile(path string) (String, error) {
	info, err := os.Stat(path)
	if err != nil {
		return String{}, fmt.Errorf("master key file: %w", err)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		return String{}, fmt.Errorf("master key file %s is readable by other users (mode %04o); run chmod 600 on it",
			path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return String{}, fmt.Errorf("master key file: %w", err)
	}
	return New(string(text)), nil
}

// createKeyFile writes a temporary file in the same folder and links it, so that the file appears with the
// whole key or not at all, and never replaces another.
func createKeyFile(path string, key Key) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, ".master-key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(key.Setting().Reveal() + "\n")
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
