package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// DefaultProfile is the profile that login writes and other commands read by default.
const DefaultProfile = "default"

// Profile is a server that the user has signed in to.
type Profile struct {
	BaseURL string `json:"base_url"`
	APIKey  string `json:"api_key"`
}

// Profiles is a file of profiles, which only its owner can read.
type Profiles struct {
	path string
	all  map[string]Profile
}

// profilesPath returns the path of the file: POSTRIDER_PROFILES, or postrider/profiles.json in the user's
// configuration folder ($XDG_CONFIG_HOME or ~/.config on Linux).
func profilesPath() (string, error) {
	if path := os.Getenv("POSTRIDER_PROFILES"); path != "" {
		return path, nil
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the configuration folder: %w (set POSTRIDER_PROFILES)", err)
	}
	return filepath.Join(folder, "postrider", "profiles.json"), nil
}

// Path returns the path of the file.
func (p Profiles) Path() string { return p.path }

// OpenProfiles reads the file. If the file does not exist, there are no profiles.
func OpenProfiles() (Profiles, error) {
	path, err := profilesPath()
	if err != nil {
		return Profiles{}, err
	}
	p := Profiles{path: path, all: map[string]Profile{}}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(content, &p.all); err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// Find returns a profile.
func (p Profiles) Find(name string) (Profile, bool) {
	found, ok := p.all[cmp.Or(name, DefaultProfile)]
	return found, ok
}

// Put stores a profile. It replaces a profile with the same name.
func (p Profiles) Put(name string, profile Profile) error {
	p.all[cmp.Or(name, DefaultProfile)] = profile
	return p.save()
}

// Delete deletes a profile, and reports whether it existed.
func (p Profiles) Delete(name string) (bool, error) {
	name = cmp.Or(name, DefaultProfile)
	if _, ok := p.all[name]; !ok {
		return false, nil
	}
	delete(p.all, name)
	return true, p.save()
}

// save replaces the file in one step, so that a crash leaves the old or the new one.
func (p Profiles) save() error {
	content, err := json.MarshalIndent(p.all, "", "  ") //nolint:gosec // the file exists to keep keys
	if err != nil {
		return err
	}
	folder := filepath.Dir(p.path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	written, err := os.CreateTemp(folder, ".profiles-*") // readable by its owner only
	if err != nil {
		return err
	}
	defer os.Remove(written.Name()) // fails after the rename
	if _, err := written.Write(append(content, '\n')); err != nil {
		return errors.Join(err, written.Close())
	}
	if err := written.Close(); err != nil {
		return err
	}
	return os.Rename(written.Name(), p.path)
}
