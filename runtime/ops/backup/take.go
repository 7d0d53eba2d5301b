package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/postrider/postrider/runtime/storage/postgres"
)

// Manifest describes a backup.
type Manifest struct {
	TakenAt    time.Time `json:"taken_at"`       // by the database clock, before the first row was read
	Version    string    `json:"version"`        // version of the program that created the backup
	Schema     string    `json:"schema"`         // the latest migration
	PostgreSQL int       `json:"postgresql"`     // major version of the server
	Bytes      int64     `json:"bytes"`          // describes database.dump
	SHA256     string    `json:"sha256"`         // describes database.dump
	Keys       string    `json:"keys,omitempty"` // identifies the master key; empty if no key was known
}

// Backup is a complete backup.
type Backup struct {
	Folder   string
	Manifest Manifest
}

// Source is the database to back up.
type Source struct {
	URL     string          // URL of the database
	Clients postgres.Config // where to look for pg_dump
	Version string          // version of this program
	Keys    string          // see Manifest
}

const (
	dumpName     = "database.dump"
	manifestName = "backup.json"
)

// Take writes a backup into a new folder in dir, which it creates if necessary. Writers are not blocked. The
// files of a failed backup are removed.
func Take(ctx context.Context, from Source, dir string) (*Backup, error) {
	m, err := describeDatabase(ctx, from.URL)
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	m.Version, m.Keys = from.Version, from.Keys
	folder := filepath.Join(dir, "postrider-"+m.TakenAt.UTC().Format("20060102T150405.000Z"))
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Mkdir(folder, 0o700)); err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	if err := write(ctx, from, folder, &m); err != nil {
		return nil, errors.Join(fmt.Errorf("backup: %w", err), os.RemoveAll(folder))
	}
	return &Backup{Folder: folder, Manifest: m}, nil
}

func write(ctx context.Context, from Source, folder string, m *Manifest) error {
	path := filepath.Join(folder, dumpName)
	dump, err := newClient(ctx, from.Clients, m.PostgreSQL, "pg_dump", from.URL)
	if err != nil {
		return err
	}
	if err := dump.run("--format=custom", "--no-owner", "--no-privileges", "--file", path); err != nil {
		return err
	}
	if m.SHA256, m.Bytes, err = sum(path); err != nil {
		return err
	}
	content, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return writeStored(filepath.Join(folder, manifestName), append(content, '\n'))
}

// writeStored writes a file atomically.
func writeStored(path string, content []byte) error {
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// sum reads a file to its end and syncs it to disk.
func sum(path string) (sha string, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	hash := sha256.New()
	size, err = io.Copy(hash, file)
	err = errors.Join(err, file.Sync(), file.Close())
	return hex.EncodeToString(hash.Sum(nil)), size, err
}

// Newest returns when the newest complete backup in a folder of backups was taken: the zero time if there is none. It
// does not verify checksums.
func Newest(dir string) (taken time.Time, err error) {
	manifests, err := filepath.Glob(filepath.Join(dir, "postrider-*", manifestName))
	if err != nil || len(manifests) == 0 {
		return taken, err
	}
	content, err := os.ReadFile(slices.Max(manifests)) // the names of the folders begin with their time
	if err != nil {
		return taken, fmt.Errorf("newest backup: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(content, &m); err != nil {
		return taken, fmt.Errorf("newest backup: %w", err)
	}
	return m.TakenAt, nil
}

// Open reads the manifest of a backup and verifies its checksum, which reads the whole backup.
func Open(folder string) (*Backup, error) {
	content, err := os.ReadFile(filepath.Join(folder, manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return nil,
			fmt.Errorf("%s is not a complete backup: %s is missing. Specify the folder that `postrider admin backup` printed",
				folder, manifestName)
	}
	if err != nil {
		return nil, fmt.Errorf("open backup: %w", err)
	}
	b := &Backup{Folder: folder}
	if err := json.Unmarshal(content, &b.Manifest); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", filepath.Join(folder, manifestName), err)
	}
	sha, _, err := sum(filepath.Join(folder, dumpName))
	if err != nil {
		return nil, fmt.Errorf("open backup: %w", err)
	}
	if sha != b.Manifest.SHA256 {
		return nil, fmt.Errorf("%s is damaged: its SHA-256 is %s, and %s says %s. Nothing was changed",
			filepath.Join(folder, dumpName), sha, manifestName, b.Manifest.SHA256)
	}
	return b, nil
}
