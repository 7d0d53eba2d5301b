package outbound

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func TestInvalidSourceReportsFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, test := range map[string]struct {
		in     SourceInput
		fields []string
	}{
		"everything":                          {SourceInput{Address: "localhost", Hostname: "mx", Pool: "mine"}, []string{"address", "hostname", "pool"}},
		"nothing":                             {SourceInput{}, []string{"address", "hostname", "pool"}},
		"any address":                         {SourceInput{Address: "::", Hostname: "a.example", Pool: "shared"}, []string{"address"}},
		"a multicast address":                 {SourceInput{Address: "224.0.0.1", Hostname: "a.example", Pool: "shared"}, []string{"address"}},
		"with a zone":                         {SourceInput{Address: "fe80::1%eth0", Hostname: "a.example", Pool: "shared"}, []string{"address"}},
		"dedicated without an account":        {SourceInput{Address: "127.0.0.1", Hostname: "a.example", Pool: "dedicated"}, []string{"account"}},
		"shared, of an account":               {SourceInput{Address: "127.0.0.1", Hostname: "a.example", Pool: "shared", Account: w.free}, []string{"account"}},
		"not an address of this machine":      {SourceInput{Address: "203.0.113.1", Hostname: "a.example", Pool: "shared"}, []string{"address"}},
		"not an IPv6 address of this machine": {SourceInput{Address: "2001:db8::1", Hostname: "a.example", Pool: "shared"}, []string{"address"}},
	} {
		_, err := w.AddSource(t.Context(), test.in)
		refused := fault.Classify(err)
		if err == nil || refused.Kind != fault.Invalid || len(refused.Fields) != len(test.fields) {
			t.Errorf("%s: AddSource returned %v with fields %v, want errors of %v", name, err, refused.Fields,
				test.fields)
		}
		for _, field := range test.fields {
			if refused.Fields[field] == "" {
				t.Errorf("%s: no error for the field %s", name, field)
			}
		}
	}
	if all, err := w.Sources(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%d sources are stored, %v", len(all), err)
	}
}

func TestSourcesAreManagedByAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// With a bound port, and normalized.
	added, err := w.AddSource(t.Context(), SourceInput{Address: "::ffff:127.0.0.1", Hostname: "Out.Example.com",
		Pool: "dedicated", Account: "dedicated@example.com", WarmUp: true})
	if err != nil || added.Address != "127.0.0.1" || added.Hostname != "out.example.com" ||
		*added.AccountID != w.dedicated || added.WarmupStartedAt == nil {
		t.Fatalf("AddSource returned %+v, %v, want 127.0.0.1 as out.example.com, dedicated and warming up", added, err)
	}
	if _, err := w.AddSource(t.Context(), SourceInput{Address: "127.0.0.1", Hostname: "out.example.com",
		Pool: "shared"}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("adding the source twice returned %v", err)
	}
	if _, err := w.AddSource(t.Context(), SourceInput{Address: "127.0.0.2", Hostname: "out.example.com",
		Pool: "dedicated", Account: "nobody@example.com"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a source without an account returned %v", err)
	}
	reread(t, w.Ways)
	count(t, w, w.Ways, []string{"127.0.0.1"})
	for _, name := range []string{added.ID, "127.0.0.1", "::ffff:127.0.0.1"} {
		paused, err := w.PauseSource(t.Context(), name, true)
		if err != nil || paused.PausedAt == nil {
			t.Fatalf("PauseSource of %s returned %v, %v", name, paused, err)
		}
		again, err := w.PauseSource(t.Context(), name, true)
		if err != nil || !again.PausedAt.Equal(*paused.PausedAt) {
			t.Errorf("the source is paused since %v, then %v, %v", paused.PausedAt, again, err)
		}
		if resumed, err := w.PauseSource(t.Context(), name, false); err != nil || resumed.PausedAt != nil {
			t.Errorf("resuming %s returned %v, %v", name, resumed, err)
		}
	}
	if err := w.RemoveSource(t.Context(), "127.0.0.1"); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Count(t, w.db, `SELECT count(*) FROM source_days`); n != 0 {
		t.Errorf("%d counters remain", n)
	}
	for _, unknown := range []string{added.ID, "127.0.0.1", "x", "\x00", "src_\x00"} {
		if err := w.RemoveSource(t.Context(), unknown); fault.KindOf(err) != fault.NotFound {
			t.Errorf("removing the source %q returned %v, want not found", unknown, err)
		}
	}
}

func TestMissingAddressesAreLoggedAtStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(t, SourceInput{Address: "203.0.113.1", Pool: "shared"}, SourceInput{Address: "127.0.0.1", Pool: "shared"},
		SourceInput{Address: "203.0.113.2", Pool: "shared"})
	if _, err := w.PauseSource(t.Context(), "203.0.113.2", true); err != nil {
		t.Fatal(err)
	}
	w.process(t, Config{})
	if log := w.logged.String(); !strings.Contains(log, "address=203.0.113.1 ") ||
		strings.Count(log, "no machine has a source address") != 1 {
		t.Errorf("the log is %s", log)
	}
}
