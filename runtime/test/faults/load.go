package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Load is a set of callers of a server: single sends, batches, scheduled emails, and sends with an
// idempotency key that are retried until they get a response.
type Load struct {
	*Ledger

	servers []*Server // in turn
	stop    chan struct{}
	callers sync.WaitGroup

	mu    sync.Mutex
	next  int
	turn  int
	again int // replays of a key with another body
}

// Pace is the pause of a caller between two requests.
const Pace = 15 * time.Millisecond

// Begin starts the given number of callers of each kind.
func Begin(s *Server, sets int) *Load { return BeginOn(Cluster{s}, sets) }

// BeginOn is Begin for several servers: each request goes to the next one.
func BeginOn(servers Cluster, sets int) *Load {
	l := &Load{Ledger: NewLedger(), servers: servers, stop: make(chan struct{})}
	for range sets {
		for _, call := range []func(context.Context, string){l.single, l.batch, l.sendScheduled, l.sendKeyed} {
			l.callers.Go(func() { l.run(call) })
		}
	}
	return l
}

func (l *Load) run(call func(context.Context, string)) {
	pace := time.NewTicker(Pace)
	defer pace.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-pace.C:
			call(context.Background(), l.name())
		}
	}
}

// End stops the callers and waits for them.
func (l *Load) End() {
	close(l.stop)
	l.callers.Wait()
	for _, s := range l.servers {
		s.client.CloseIdleConnections()
	}
}

// server returns the next server.
func (l *Load) server() *Server {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn++
	return l.servers[l.turn%len(l.servers)]
}

// Contradictions returns how many replays of a key had a different response than the first request.
func (l *Load) Contradictions() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.again
}

// name returns a unique recipient.
func (l *Load) name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return fmt.Sprintf("n%d@example.net", l.next)
}

func email(to, more string) string {
	return fmt.Sprintf(`{"from":"ada@dev.test","to":%q,"subject":"s","text":"t"%s}`, to, more)
}

type receipt struct {
	ID   string
	Data []struct{ ID string }
}

func read(a Answer) (r receipt) {
	if a.Status != http.StatusOK || json.Unmarshal(a.Body, &r) != nil {
		return receipt{}
	}
	return r
}

func (l *Load) send(ctx context.Context, to, body string, header ...string) Answer {
	return l.ask(ctx, l.server(), to, body, header...)
}

func (l *Load) single(ctx context.Context, to string) { l.send(ctx, to, email(to, "")) }

func (l *Load) sendScheduled(ctx context.Context, to string) {
	at := time.Now().Add(2 * time.Second).UTC().Format(time.RFC3339Nano)
	l.send(ctx, to, email(to, fmt.Sprintf(`,"scheduled_at":%q`, at)))
}

func (l *Load) batch(ctx context.Context, name string) {
	const size = 4
	to := make([]string, size)
	for i := range size {
		to[i] = fmt.Sprintf("b%d%s", i, name)
	}
	l.SendBatch(ctx, l.server(), to)
}

// SendBatch sends one request with an email for each recipient.
func (l *Ledger) SendBatch(ctx context.Context, s *Server, to []string) Answer {
	items := make([]string, len(to))
	for i := range to {
		items[i] = email(to[i], "")
	}
	a := s.Do(ctx, http.MethodPost, "/api/emails/batch", `{"emails":[`+strings.Join(items, ",")+`]}`)
	var accepted []Accepted
	for i, item := range read(a).Data {
		if item.ID != "" {
			accepted = append(accepted, Accepted{item.ID, to[i]})
		}
	}
	l.recordAnswer(a, accepted...)
	return a
}

// sendKeyed retries until it gets a response, and then once more.
func (l *Load) sendKeyed(ctx context.Context, to string) {
	key, body := "key-"+to, email(to, "")
	var first []byte
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for answers := 0; answers < 2; {
		a := l.send(ctx, to, body, "Idempotency-Key", key)
		if a.Status/100 == 2 {
			if answers++; answers == 1 {
				first = a.Body
			} else if string(first) != string(a.Body) {
				l.mu.Lock()
				l.again++
				l.mu.Unlock()
			}
			continue
		}
		select {
		case <-l.stop:
			return
		case <-pause.C:
		}
	}
}

// Send sends one request, and returns the email's id, or "".
func (l *Ledger) Send(ctx context.Context, s *Server, to string, header ...string) string {
	return read(l.Ask(ctx, s, to, header...)).ID
}

// Ask is Send, but returns the whole response.
func (l *Ledger) Ask(ctx context.Context, s *Server, to string, header ...string) Answer {
	return l.ask(ctx, s, to, email(to, ""), header...)
}

// Schedule is Send for a later time.
func (l *Ledger) Schedule(ctx context.Context, s *Server, to string, at time.Time) string {
	return read(l.ask(ctx, s, to, email(to, fmt.Sprintf(`,"scheduled_at":%q`, at.UTC().Format(time.RFC3339Nano))))).ID
}

func (l *Ledger) ask(ctx context.Context, s *Server, to, body string, header ...string) Answer {
	a := s.Do(ctx, http.MethodPost, "/api/emails", body, header...)
	if r := read(a); r.ID != "" {
		l.recordAnswer(a, Accepted{r.ID, to})
	} else {
		l.recordAnswer(a)
	}
	return a
}
