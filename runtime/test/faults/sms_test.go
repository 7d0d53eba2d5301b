package faults_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// gateway accepts text messages. It counts the posts of each, and can hold back requests after counting them.
type gateway struct {
	mu    sync.Mutex
	asked map[string]int // by the id of the message
	held  int            // requests that wait for the gate
	gate  chan struct{}  // nil: it is open
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var message struct{ ID string }
	if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	g.asked[message.ID]++
	gate := g.gate
	if gate != nil {
		g.held++
	}
	g.mu.Unlock()
	if gate != nil {
		<-gate
	}
	_, _ = w.Write([]byte(`{}`))
}

// shut holds back all further requests.
func (g *gateway) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gate, g.held = make(chan struct{}), 0
}

// open releases the held responses.
func (g *gateway) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.gate)
	g.gate = nil
}

func (g *gateway) holds() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held
}

// counts returns the number of posted messages, and the number of repeated posts.
func (g *gateway) counts() (messages, again int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.asked {
		again += n - 1
	}
	return len(g.asked), again
}

// A server is killed while providers accept its text messages: each run has stored one message,
// each message was posted at most once, and interrupted messages are unknown.
func TestKillsRepeatNoTextMessage(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	runs, kills := lengthOf(40, 2000), lengthOf(3, 100)
	sink := faults.NewSink(t)
	server := faults.Start(t, dbtest.URL(t), outbound(sink.Listen("127.0.0.1:0")))
	texts := &gateway{asked: map[string]int{}}
	provider := httptest.NewServer(texts)
	t.Cleanup(provider.Close)
	if a := server.Do(t.Context(), http.MethodPut, "/api/sms-settings",
		`{"provider": "http", "countries": ["DE"], "daily_cap": 10000, "http": {"url": "`+provider.URL+
			`"}}`); a.Status != http.StatusOK {
		t.Fatalf("set the provider: %d %s", a.Status, a.Body)
	}
	activated(t, server,
		`{"name": "Text", "trigger": {"event": "start"}, "steps": [{"key": "text", "type": "send_sms", "to": "{{event.data.phone}}", "text": "t"}]}`)
	post := func(from, to int) {
		at(4, to-from, func(i int) {
			postUntilTaken(t, server,
				fmt.Sprintf(`{"name": "start", "user_id": "u%d", "data": {"phone": "+49151%08d"}}`, from+i, from+i),
				fmt.Sprint("start", from+i))
		})
	}
	part := runs / (kills + 1)
	for kill := range kills {
		// A run fails after 20 claims without progress, and this loop ends every lease early: let the runs that several
		// kills have hit in a row finish their step.
		expect.Eventually(t, "no run is near the claim limit", func() bool {
			return server.Query(`SELECT count(*) FROM automation_works WHERE claims >= 10`)[0][0] == "0"
		})
		texts.shut()
		var posting sync.WaitGroup
		posting.Go(func() { post(kill*part, (kill+1)*part) })
		expect.Eventually(t, "requests to the provider are under way", func() bool { return texts.holds() > 0 })
		server.Kill()
		texts.open()
		server.Query(`UPDATE automation_works SET due_at = now()`) // as if the leases had expired
		server.Query(`UPDATE sms_messages SET due_at = now() WHERE due_at IS NOT NULL`)
		server.Launch()
		posting.Wait()
	}
	post(kills*part, runs)
	expect.Eventually(t, "every run has begun and ended, and every message is settled", func() bool {
		counts := server.Query(`SELECT count(*), count(*) FILTER (WHERE ended_at IS NULL) + (SELECT count(*) FROM sms_messages WHERE due_at IS NOT NULL) FROM automation_runs`)[0]
		return number(t, counts[0]) >= runs && counts[1] == "0"
	})
	counted := server.Query(`SELECT count(*), count(DISTINCT run_id), count(*) FILTER (WHERE status = 'sent'), count(*) FILTER (WHERE status = 'unknown'), (SELECT count(*) FROM sms_attempts) FROM sms_messages`)[0]
	messages, distinct, sent, unknown, attempts := number(t, counted[0]), number(t, counted[1]), number(t, counted[2]),
		number(t, counted[3]), number(t, counted[4])
	posted, again := texts.counts()
	figure(t, "kills in the middle of requests", kills, "3 short, 100 long")
	figure(t, "runs, messages, attempts", fmt.Sprintf("%d, %d, %d", runs, messages, attempts), "as many of each")
	figure(t, "sent, unknown", fmt.Sprintf("%d, %d", sent, unknown), "all together, some unknown")
	figure(t, "posted again", again, "0")
	if messages != runs || distinct != runs || attempts != runs || sent+unknown != runs || unknown < kills ||
		again != 0 || posted < sent || posted > runs {
		for _, row := range server.Query(`SELECT status, error, count(*) FROM automation_runs r WHERE NOT EXISTS (SELECT FROM sms_messages m WHERE m.run_id = r.id) GROUP BY 1, 2`) {
			t.Errorf("%s runs have no message: %s, %s", row[2], row[0], row[1])
		}
		t.Errorf("%d runs have %d messages (of %d runs) with %d attempts; %d are sent and %d unknown; "+
			"the provider received %d, %d of them repeatedly",
			runs, messages, distinct, attempts, sent, unknown, posted, again)
	}
}
