package events

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"time"
)

// Server is a server under measurement.
type Server struct{ DatabaseURL, AccountID, VerifiedDomain string }

// Ratio is what was reached in each round, and what is wanted.
type Ratio struct {
	Name        string
	Reached     []float64
	Least, Most float64
}

// Bench has what the measurements need of their surroundings.
type Bench struct {
	Each             time.Duration
	Rounds, Messages int

	Few, Many Server
	Progress  func(format string, args ...any)
	Inserts   func(ctx context.Context, clients int, length time.Duration) (float64, error) // of pgbench beside Few
	Accepts   func(ctx context.Context, clients int, length time.Duration) (float64, error) // of POST /emails to Few
	// Post makes one POST to the API of a server and gives the answer.
	Post func(ctx context.Context, s Server, path string, body []byte) ([]byte, error)
	// Events posts one event over and over.
	Events func(ctx context.Context, s Server, event string, clients int, length time.Duration) (float64, []time.Duration, error)
}

const (
	waitingRuns  = 1_000_000
	manyDelays   = 10_000
	crowd        = 100_000 // due runs of one account
	resumeRate   = 200     // events a second
	listeners    = 100     // automations that listen to one event
	withinDelays = 2 * time.Minute
)

// The automations of a server under measurement, by the event that starts them. %s is the
// verified domain.
var definitions = map[string]string{
	"bench.start": `{"name": "Start", "trigger": {"event": "bench.start"}, "steps": [{"type": "delay", "duration": "P300D"}]}`,
	"bench.wait":  `{"name": "Wait", "trigger": {"event": "bench.wait"}, "steps": [{"type": "wait_for_event", "event": "bench.go", "timeout": "P300D"}, {"type": "end"}]}`,
	"bench.delay": `{"name": "Delay", "trigger": {"event": "bench.delay"}, "steps": [{"type": "delay", "duration": "P300D"}, {"type": "end"}]}`,
	"bench.mail": `{"name": "Mail", "trigger": {"event": "bench.mail"}, "steps": [{"type": "delay", "duration": "P300D"}, {"type": "send_email", "from": "Bench <bench@%s>",
		"subject": "Your receipt", "text": "Your receipt: one line of what was bought."}]}`,
}

// automated is a server with automations, and the first run of each.
type automated struct {
	Server

	ids  map[string]string // of automations, by their event
	conn *sql.DB
}

// Measure compares a server with a million waiting runs with one that has none.
func (b Bench) Measure(ctx context.Context) (_ []Ratio, err error) {
	few, err := b.automate(ctx, b.Few)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, few.conn.Close()) }()
	many, err := b.automate(ctx, b.Many)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, many.conn.Close()) }()
	var out []Ratio
	for _, measure := range []func(context.Context, *automated) ([]Ratio, error){b.inside, b.posted, b.listened, b.delays, b.crowd, b.steps} {
		reached, err := measure(ctx, few)
		if err != nil {
			return nil, err
		}
		out = append(out, reached...)
	}
	reached, err := b.million(ctx, few, many)
	return append(out, reached...), err
}

// automate makes the automations of a server and starts one run of each.
func (b Bench) automate(ctx context.Context, s Server) (*automated, error) {
	a := &automated{Server: s, ids: map[string]string{}}
	for event, definition := range definitions {
		if event == "bench.mail" {
			definition = fmt.Sprintf(definition, s.VerifiedDomain)
		}
		id, err := b.activate(ctx, s, definition)
		if err != nil {
			return nil, err
		}
		a.ids[event] = id
		if _, err := b.Post(ctx, s, "/events", fmt.Appendf(nil, `{"name": %q, "user_id": "first", "email": "someone@example.net"}`, event)); err != nil {
			return nil, err
		}
	}
	conn, err := sql.Open("postgres", s.DatabaseURL)
	a.conn = conn
	return a, err
}

func (b Bench) activate(ctx context.Context, s Server, definition string) (string, error) {
	answer, err := b.Post(ctx, s, "/automations", []byte(definition))
	if err != nil {
		return "", err
	}
	var made struct {
		Automation struct {
			ID string `json:"id"`
		} `json:"automation"`
	}
	if err := json.Unmarshal(answer, &made); err != nil {
		return "", err
	}
	_, err = b.Post(ctx, s, "/automations/"+made.Automation.ID, []byte(`{"action": "activate"}`))
	return made.Automation.ID, err
}

// inside posts events without HTTP.
func (b Bench) inside(ctx context.Context, a *automated) (_ []Ratio, err error) {
	inside, err := Open(ctx, a.DatabaseURL, a.AccountID)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, inside.Close()) }()
	none := Ratio{Name: "events without HTTP, no listener / pgbench, 16", Least: 1}
	starts := Ratio{Name: "events without HTTP, one start / pgbench, 16", Least: 0.5}
	var bases, quiet, started []float64
	b.Progress("events without HTTP beside pgbench, %d rounds of %s each", b.Rounds, b.Each)
	for range b.Rounds {
		base, err := b.Inserts(ctx, 16, b.Each)
		if err != nil {
			return nil, err
		}
		q, err := inside.Rate(ctx, "bench.nobody", 128, 0, b.Each)
		if err != nil {
			return nil, err
		}
		s, err := inside.Rate(ctx, "bench.start", 128, 1, b.Each)
		if err != nil {
			return nil, err
		}
		bases, quiet, started = append(bases, base), append(quiet, q), append(started, s)
		none.Reached, starts.Reached = append(none.Reached, q/base), append(starts.Reached, s/base)
	}
	fmt.Printf("%-42s %12.0f /s %11.0f /s %8.0f /s\n", "pgbench; events, no listener; one start", median(bases), median(quiet), median(started))
	return []Ratio{none, starts}, nil
}

const nobodyListens = `{"name": "bench.nobody", "user_id": "u1", "email": "bob@example.net", "data": {"plan": "pro", "amount": 20}}`

func (b Bench) posted(ctx context.Context, a *automated) ([]Ratio, error) {
	t := Ratio{Name: "POST /events, no listener / pgbench, 64", Least: 0.45}
	b.Progress("POST /events from 64 clients beside pgbench, %d rounds of %s each", b.Rounds, b.Each)
	var bases, rates []float64
	for range b.Rounds {
		base, err := b.Inserts(ctx, 64, b.Each)
		if err != nil {
			return nil, err
		}
		rate, _, err := b.Events(ctx, a.Server, nobodyListens, 64, b.Each)
		if err != nil {
			return nil, err
		}
		bases, rates, t.Reached = append(bases, base), append(rates, rate), append(t.Reached, rate/base)
	}
	fmt.Printf("%-42s %12.0f /s %11.0f /s\n", "pgbench; POST /events from 64 clients", median(bases), median(rates))
	return []Ratio{t}, nil
}

// listened compares an event to which a hundred automations listen, whose conditions are
// false, with one to which nobody does.
func (b Bench) listened(ctx context.Context, a *automated) ([]Ratio, error) {
	t := Ratio{Name: "what 100 conditions cost an event / 2 ms", Most: 1}
	b.Progress("an event with %d listeners, %d rounds of %s each", listeners, b.Rounds, b.Each)
	for i := range listeners {
		definition := fmt.Sprintf(`{"name": "Listener %d", "trigger": {"event": "bench.heard", "conditions": "event.data.amount > %d && event.data.plan == 'pro'"}, "steps": [{"type": "end"}]}`, i, 1000+i)
		if _, err := b.activate(ctx, a.Server, definition); err != nil {
			return nil, err
		}
	}
	const heard = `{"name": "bench.heard", "user_id": "u1", "email": "bob@example.net", "data": {"plan": "pro", "amount": 20}}`
	for round := range b.Rounds + 1 {
		_, alone, err := b.Events(ctx, a.Server, nobodyListens, 1, b.Each)
		if err != nil {
			return nil, err
		}
		_, listened, err := b.Events(ctx, a.Server, heard, 1, b.Each)
		if err != nil {
			return nil, err
		}
		if round > 0 { // the first one compiles
			t.Reached = append(t.Reached, (middle(listened)-middle(alone)).Seconds()/0.002)
		}
	}
	return []Ratio{t}, nil
}

// laneOf is the lane of an account, as package runs has it.
func laneOf(accountID string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(accountID)) // a hash fails at nothing
	return int(h.Sum32() % 64)
}
