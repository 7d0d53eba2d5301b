package probes

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestAgeOfTheNewestBackupIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gauge := newBackupGauge(dir)
	if got := testutil.ToFloat64(gauge); got != 0 {
		t.Errorf("without a backup the gauge is %v, want 0", got)
	}
	for name, manifest := range map[string]string{
		"postrider-20260102T000000.000Z": `{"taken_at":"2026-01-02T00:00:00Z"}`,
		"postrider-20260103T000000.000Z": `{"taken_at":"2026-01-03T00:00:00Z"}`,
		"postrider-20260104T000000.000Z": "", // not complete
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if manifest == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name, "backup.json"), []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const want = 1767398400 // 2026-01-03
	if got := testutil.ToFloat64(gauge); got != want {
		t.Errorf("the newest backup was taken at %v, want %d", got, want)
	}
}
