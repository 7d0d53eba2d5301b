package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSchemaAndMigrationsAgree runs -check: it fails if ent/schema has changes without a migration, or
// atlas.sum is outdated.
func TestSchemaAndMigrationsAgree(t *testing.T) {
	t.Chdir("../..")
	if err := verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestHashAfterAFileByHand(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../../"+directory)); err != nil {
		t.Fatal(err)
	}
	byHand := filepath.Join(folder, "29991231235959_by_hand.sql")
	if err := os.WriteFile(byHand, []byte("ALTER TABLE plans ADD COLUMN by_hand int;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := write(t.Context(), folder, "next"); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("with an outdated atlas.sum: %v", err)
	}
	if err := writeHash(folder); err != nil {
		t.Fatal(err)
	}
	written, err := write(t.Context(), folder, "next")
	if err != nil || len(written) != 1 {
		t.Fatalf("written = %v, %v; want one file that drops the column", written, err)
	}
	content, err := os.ReadFile(filepath.Join(folder, written[0]))
	if err != nil || !strings.Contains(string(content), `DROP COLUMN "by_hand"`) {
		t.Errorf("reading the file %s returned error %v and\n%s\nwant it to drop the column by_hand", written[0],
			err, content)
	}
}
