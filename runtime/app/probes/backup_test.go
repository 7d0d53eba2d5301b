package probes

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func TestAgeOfTheNewestBackupIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gauge := newBackupGauge(dir)
	if got := scrape(t, gauge); !strings.HasSuffix(got, "_timestamp_seconds 0\n") {
		t.Errorf("without a backup the gauge is %s, want 0", got)
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
	const want = "_timestamp_seconds 1.7673984e+09\n" // 2026-01-03
	if got := scrape(t, gauge); !strings.HasSuffix(got, want) {
		t.Errorf("the newest backup was taken at %s, want %s", got, want)
	}
}

// scrape returns the metrics of a collector as they are served.
func scrape(t *testing.T, c prometheus.Collector) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer,
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return answer.Body.String()
}
