package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// fakeFacts has one fact of every public type, created at hookTime.
type fakeFacts struct{}

func (fakeFacts) Horizon(context.Context) (time.Time, error) { return hookTime.Add(time.Hour), nil }

func (fakeFacts) Read(_ context.Context, s bus.AccountFeed) (bus.FeedPage, error) {
	if s.AccountID != accountID {
		return bus.FeedPage{}, errors.New("facts of another account are asked for")
	}
	const latest = "evt_01kf0m4w7he6x8q2v5b3n9c1ta"
	read := bus.FeedPage{Next: latest}
	if s.After >= latest {
		return read, nil
	}
	for _, t := range s.Types {
		if len(read.Facts) == s.Limit {
			read.More = true
			break
		}
		entry, _ := event.Lookup(t)
		data, err := json.Marshal(entry.Sample)
		if err != nil {
			return bus.FeedPage{}, err
		}
		read.Facts = append(read.Facts, event.Fact{ID: latest, AccountID: s.AccountID, Type: t, Data: data,
			CreatedAt: hookTime})
	}
	return read, nil
}

// ActiveAccounts finds none: streams query for themselves.
func (fakeFacts) ActiveAccounts(context.Context, time.Time, time.Time, []string) ([]string, error) {
	return nil, nil
}

func TestEventLogAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query, key string
		status     int
	}{
		"event_log":              {"?types=email.bounced,contact.unsubscribed&limit=2", "read", 200},
		"event_log_more":         {"?types=email.bounced,email.opened&limit=1", "", 200},
		"event_log_end":          {"?after=evt_01kf0m4w7he6x8q2v5b3n9c1ta", "", 200},
		"event_log_bad_after":    {"?after=x", "", 400},
		"event_log_bad_type":     {"?types=email.nothing", "", 400},
		"event_log_bad_limit":    {"?limit=101", "", 400},
		"event_log_bad_name":     {"?since=now", "", 400},
		"event_log_unauthorized": {"", "-", 401},
		"event_stream_bad_after": {"/stream?after=x", "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundleFor(t, "/api/event-log")
			got := b.do(t, request{method: "GET", path: "/api/event-log" + c.query, key: c.key})
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}
