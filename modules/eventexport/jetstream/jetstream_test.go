package jetstream_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/postrider/postrider/modules/eventexport/jetstream"
	"github.com/postrider/postrider/modules/eventexport/jetstream/jetstreamtest"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/work/event"
)

func configOf(t *testing.T, url string) jetstream.Config {
	t.Helper()
	to, err := jetstream.ParseTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	return jetstream.Config{Target: to, Stream: "facts", Prefix: "mail.facts", Replicas: 1, MaxAge: time.Hour,
		Name: "test", Logger: slog.New(slog.DiscardHandler)}
}

func opened(t *testing.T, c jetstream.Config) *jetstream.Stream {
	t.Helper()
	s, err := jetstream.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// A stream is created from the configuration and follows its changes, but keeps a limit that an operator has
// set.
func TestOpenCreatesAndUpdatesStream(t *testing.T) {
	t.Parallel()
	broker := jetstreamtest.Start(t, nil)
	c, js := configOf(t, broker.URL()), broker.JetStream()
	if n, err := jetstream.Replicas(t.Context(), c); err != nil || n != 0 {
		t.Errorf("before the stream exists, %d servers have it, %v; want 0", n, err)
	}
	opened(t, c)
	is, err := js.StreamInfo("facts")
	if err != nil {
		t.Fatal(err)
	}
	if got := is.Config; !slices.Equal(got.Subjects, []string{"mail.facts.>"}) || got.Discard != nats.DiscardNew ||
		got.Storage != nats.FileStorage || got.Duplicates != 10*time.Minute || got.MaxAge != time.Hour {
		t.Errorf("the stream was created as %+v", got)
	}
	limited := is.Config
	limited.MaxMsgs = 7
	if _, err := js.UpdateStream(&limited); err != nil {
		t.Fatal(err)
	}
	c.MaxAge = 2 * time.Hour
	opened(t, c)
	if is, err = js.StreamInfo("facts"); err != nil || is.Config.MaxAge != 2*time.Hour || is.Config.MaxMsgs != 7 {
		t.Errorf("after a change of the configuration, the stream is %+v, %v; want the new age and the operator's "+
			"limit of messages", is.Config, err)
	}
	if n, err := jetstream.Replicas(t.Context(), c); err != nil || n != 1 {
		t.Errorf("%d servers have the stream, %v; want 1", n, err)
	}
}

// A stream created by others is used if it fulfills the guarantees, and is never changed.
func TestOpenChecksForeignStream(t *testing.T) {
	t.Parallel()
	broker := jetstreamtest.Start(t, nil)
	js := broker.JetStream()
	for i, made := range []struct {
		config nats.StreamConfig
		wrong  string // empty: the stream can be used
	}{
		{nats.StreamConfig{Subjects: []string{"a.*.facts.>"}, Duplicates: time.Hour, MaxAge: 3 * time.Hour}, ""},
		{nats.StreamConfig{Subjects: []string{"b.>"}, Duplicates: time.Minute}, "duplicate window is 1m0s"},
		{nats.StreamConfig{Subjects: []string{"c.>"}, Duplicates: time.Hour, Storage: nats.MemoryStorage}, "not memory"},
		{nats.StreamConfig{Subjects: []string{"d.>"}, Duplicates: time.Hour, NoAck: true}, "acknowledges nothing"},
		{nats.StreamConfig{Subjects: []string{"e.mine.facts.*"}, Duplicates: time.Hour}, "but requires e.mine.facts.>"},
	} {
		made.config.Name = fmt.Sprintf("s%d", i)
		if _, err := js.AddStream(&made.config); err != nil {
			t.Fatal(err)
		}
		c := configOf(t, broker.URL())
		c.Stream, c.Prefix = made.config.Name, made.config.Subjects[0][:1]+".mine.facts"
		s, err := jetstream.Open(t.Context(), c)
		if err == nil {
			s.Close()
		}
		if (err == nil) != (made.wrong == "") || err != nil && !strings.Contains(err.Error(), made.wrong) {
			t.Errorf("opening a stream of others with %+v returned %v, want %q", made.config, err, made.wrong)
		}
		if is, err := js.StreamInfo(c.Stream); err != nil || is.Config.MaxAge != made.config.MaxAge {
			t.Errorf("after Open, the stream is %+v, %v; want it unchanged", is, err)
		}
	}
}

// The error for an unusable stream names the setting to change.
func TestOpenExplainsErrors(t *testing.T) {
	t.Parallel()
	broker := jetstreamtest.Start(t, nil)
	closed := jetstreamtest.Start(t, func(o *server.Options) { o.Username, o.Password = "postrider", "s3cret-word" })
	plain := jetstreamtest.Start(t, func(o *server.Options) { o.JetStream = false })
	three := configOf(t, broker.URL())
	three.Replicas = 3
	missing := configOf(t, broker.URL())
	missing.Files.Credentials = "/nowhere/user.creds"
	for want, c := range map[string]jetstream.Config{
		"with 3 replicas":     three,
		"/nowhere/user.creds": missing,
		"uthorization":        configOf(t, strings.Replace(closed.URL(), "nats://", "nats://postrider:wr0ng-word@", 1)),
		"JetStream":           configOf(t, plain.URL()),
		"no servers":          configOf(t, "nats://127.0.0.1:1"),
	} {
		s, err := jetstream.Open(t.Context(), c)
		if err == nil {
			s.Close()
			t.Errorf("Open succeeded, want an error with %q", want)
			continue
		}
		if !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), strings.ToLower(want)) ||
			strings.Contains(err.Error(), "word") {
			t.Errorf("the error is %q, want it to contain %q and no secret", err, want)
		}
	}
	opened(t, configOf(t, strings.Replace(closed.URL(), "nats://", "nats://postrider:s3cret-word@", 1)))
}

// After a failure, publishing stops for the account: no fact is published after an unacknowledged one.
func TestPublishKeepsOrderWithinAccount(t *testing.T) {
	t.Parallel()
	broker := jetstreamtest.Start(t, nil)
	s := opened(t, configOf(t, broker.URL()))
	var facts []event.Fact
	for i := range 30 {
		facts = append(facts, event.Fact{ID: id.New(id.Fact), AccountID: fmt.Sprintf("acc_%d", i%3),
			Type: event.EmailSent, Data: []byte(`{}`)})
	}
	facts[10].Data = []byte("no JSON") // belongs to acc_1
	acked, err := s.Publish(t.Context(), facts, func() error { return nil })
	if err == nil || !strings.Contains(err.Error(), facts[10].ID) {
		t.Errorf("publishing an invalid fact returned %v, want an error with its id", err)
	}
	there := map[string]bool{}
	for _, m := range jetstreamtest.Messages(t, broker.JetStream(), "facts") {
		there[m.ID] = true
	}
	for i, f := range facts {
		if acked[i] != there[f.ID] {
			t.Errorf("fact %d was reported as acknowledged: %t, want %t", i, acked[i], there[f.ID])
		}
		if i >= 10 && f.AccountID == "acc_1" && there[f.ID] {
			t.Errorf("fact %d of the account was published after an unacknowledged one", i)
		}
	}
	facts[10].Data = []byte(`{}`)
	refusal := errors.New("lease lost")
	if acked, err := s.Publish(t.Context(), facts, func() error { return refusal }); !errors.Is(err, refusal) ||
		slices.Contains(acked, true) {
		t.Errorf("without the lease, Publish returned %v, %v; want no facts and the reason", acked, err)
	}
	if _, err := s.Publish(t.Context(), facts, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	stored, err := s.StoredIDs(t.Context(), facts[19].ID, 5)
	if err != nil || len(stored) > 5 || len(stored) == 0 {
		t.Errorf("Stored among the last 5 messages returned %v, %v", stored, err)
	}
	if stored, err = s.StoredIDs(t.Context(), facts[19].ID, 1000); err != nil || len(stored) != 10 {
		t.Errorf("Stored returned %d messages, %v; want 10", len(stored), err)
	}
}

func TestParseTarget(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"nats://a.example":                                   {"nats://a.example:4222"},
		"nats://u:p%40w@a.example:4223, b.example":           {"nats://a.example:4223", "nats://b.example:4222"},
		"tls://tok3n@[::1]:4222,tls://b.example:1,127.0.0.1": {"tls://[::1]:4222", "tls://b.example:1", "tls://127.0.0.1:4222"},
	} {
		got, err := jetstream.ParseTarget(text)
		if err != nil || !slices.Equal(got.Servers, want) {
			t.Errorf("ParseTarget(%s) returned the servers %v, %v; want %v", text, got.Servers, err, want)
		}
	}
	both, err := jetstream.ParseTarget("nats://u:p%40w@a.example")
	if err != nil || both.User != "u" || both.Password.Reveal() != "p@w" || !both.Token.IsZero() {
		t.Errorf("ParseTarget returned the user %q and the password %q, %v", both.User, both.Password.Reveal(), err)
	}
	if token, err := jetstream.ParseTarget("nats://tok3n@a.example"); err != nil || token.User != "" ||
		token.Token.Reveal() != "tok3n" {
		t.Errorf("ParseTarget returned the token %q, %v", token.Token.Reveal(), err)
	}
	if shown := fmt.Sprintf("%+v", both); strings.Contains(shown, "p@w") {
		t.Errorf("the text of a target contains its password: %s", shown)
	}
	for text, want := range map[string]string{
		"":                                  "must begin with nats://",
		"kafka://a.example":                 "not supported",
		"a.example:4222":                    "must begin with nats://",
		"nats://":                           "must contain a server",
		"nats://s3cret:s3cret%zz@a":         "invalid address",
		"nats://a_b":                        "not a host name",
		"nats://a.example/path":             "more than host and port",
		"nats://a.example,s3cret@b.example": "after the first server",
	} {
		_, err := jetstream.ParseTarget(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("ParseTarget(%q) returned %v, want it to contain %q and no secret", text, err, want)
		}
	}
}
