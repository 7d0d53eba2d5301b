package checks

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/postrider/postrider/modules/eventexport/jetstream/jetstreamtest"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/doctor"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// The doctor reports whether the stream of events is replicated, and how far the export is behind.
func TestDoctorChecksEventExport(t *testing.T) {
	t.Parallel()
	broker, d := jetstreamtest.Start(t, nil), dbtest.New(t)
	look := func(to string) string {
		t.Helper()
		cfg, err := config.Load(setting.Tool, "here",
			setting.RawValues{"POSTRIDER_EVENTS_TO": to, "POSTRIDER_EVENTS_REPLICAS": "1"})
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for _, f := range checkExport(Params{Config: cfg, DB: d})(t.Context()) {
			seen = append(seen, f.Check+" "+f.Level.String()+": "+f.Found)
			if f.Level > doctor.OK && f.Do == "" {
				t.Errorf("%+v has no advice", f)
			}
		}
		return strings.Join(seen, "\n")
	}
	if got := look(broker.URL()); got != "export.stream ok: the stream is created with the first event" {
		t.Errorf("before the first start the doctor reports\n%s", got)
	}
	if _, err := d.SQL.ExecContext(t.Context(),
		`INSERT INTO event_exports (name, position, due_at, moved_at, failures, error) VALUES ('nats', $1, now(), now(), 2, 'the stream is full')`,
		id.Since(id.Fact, time.Now().Add(-time.Hour))); err != nil {
		t.Fatal(err)
	}
	if got := look("nats://127.0.0.1:1"); !strings.HasPrefix(got,
		"export.stream error: connect to nats://127.0.0.1:1") ||
		!strings.HasSuffix(got, "\nexport.behind ok: no event is waiting") {
		t.Errorf("without a server the doctor reports\n%s", got)
	}
	if _, err := d.SQL.ExecContext(t.Context(),
		`INSERT INTO facts (id, account_id, type, subject_id, data) VALUES ($1, 'acc_1', 'email.sent', 'msg_1', '{}')`,
		id.Since(id.Fact, time.Now().Add(-10*time.Minute))); err != nil {
		t.Fatal(err)
	}
	if _, err := broker.JetStream().
		AddStream(&nats.StreamConfig{Name: "postrider-facts", Subjects: []string{"postrider.>"},
			Duplicates: time.Hour}); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^export\.stream warning: the stream is on one server\nexport\.behind error: the oldest event has waited for 1[0-2]m\d+s: the stream is full$`)
	if got := look(broker.URL()); !want.MatchString(got) {
		t.Errorf("ten minutes late, the doctor reports\n%s\nwant\n%s", got, want)
	}
}
