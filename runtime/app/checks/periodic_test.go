package checks

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/app/probes"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/web/clientip"
)

// Findings at the start are logged once, with advice, and reported by GET /readyz: as counts to every
// client, with details to this machine.
func TestFindingsAreLoggedAndReportedByReadyz(t *testing.T) {
	t.Parallel()
	zone := dnsxtest.New(t)
	resolver, err := dnsx.New(dnsx.Config{Server: zone.Addr(), Timeout: 10 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(setting.Serve, "mx1.example.com",
		setting.RawValues{"POSTRIDER_BASE_URL": "https://mail.example.com",
			"POSTRIDER_MASTER_KEY":       "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=",
			"POSTRIDER_PUBLIC_ADDRESSES": "203.0.113.9", "DATABASE_URL": dbtest.URL(t), "POSTRIDER_DATA_DIR": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	v := &periodicChecks{params: Params{Config: cfg, Resolver: resolver, DB: dbtest.New(t)},
		log: slog.New(slog.NewTextHandler(&log, nil))}
	if c, err := v.condition(t.Context()); err != nil || c.Degraded || len(c.Figures) != 0 {
		t.Errorf("before the first run the condition is %+v, %v, want nothing", c, err)
	}
	again, err := v.step(t.Context())
	if err != nil || again != lookSoon {
		t.Errorf("a run with errors is repeated after %s, %v, want %s", again, err, lookSoon)
	}
	const line = `msg="doctor: check dns.spf failed" check=dns.spf found="no SPF record"`
	if !strings.Contains(log.String(), line) || !strings.Contains(log.String(), `v=spf1 ip4:203.0.113.9 -all`) {
		t.Errorf("the log is\n%s\nwant %s and the record to publish", log.String(), line)
	}
	if _, err := v.step(t.Context()); err != nil || strings.Count(log.String(), line) != 1 {
		t.Errorf("after a second run the line is %d times in the log (%v), want once",
			strings.Count(log.String(), line), err)
	}
	metrics := make(chan prometheus.Metric, 100)
	v.Collect(metrics)
	if len(metrics) == 0 {
		t.Error("the metrics contain no check, want one for each that found a problem")
	}
	h := probes.New(probes.Params{DB: answering{}, Stored: func() time.Duration { return 0 }, Draining: &atomic.Bool{},
		Logger: slog.New(slog.DiscardHandler),
		Parts:  []module.Health{{Name: "doctor", Ask: v.condition}}, Local: clientip.IsDirectLocalRequest})
	for host, details := range map[string]bool{"127.0.0.1:8080": true, "mail.example.com": false} {
		r := httptest.NewRequest("GET", "http://"+host+"/readyz", nil)
		r.RemoteAddr = "127.0.0.1:5000"
		w := httptest.NewRecorder()
		h.Ready(w, r)
		got := w.Body.String()
		if w.Code != 200 || !strings.Contains(got, `"doctor":"degraded"`) ||
			!strings.Contains(got, `"doctor_errors":`) || strings.Contains(got, "spf.mail.example.com") != details {
			t.Errorf("GET /readyz at %s returned %d %s, want 200, degraded, the number of errors, and words: %t", host,
				w.Code, got, details)
		}
	}
}

type answering struct{}

func (answering) Ping(context.Context) error { return nil }

func (answering) CheckReplication(context.Context) error { return nil }
