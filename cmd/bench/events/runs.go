package events

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/cmd/bench/postgres"
	"github.com/postrider/postrider/runtime/storage/db"
)

// middle is the median of how long something took.
func middle(took []time.Duration) time.Duration { return nth(took, 50) }

func nth(took []time.Duration, percent int) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[min(len(took)-1, len(took)*percent/100)]
}

// fill is how runs of one of the automations are made.
func (a *automated) fill(event, name string, runs int) Fill {
	return Fill{URL: a.DatabaseURL, AutomationID: a.ids[event], Name: name, Runs: runs}
}

// ended waits until all runs have ended, and says when the first and the last one did.
func (a *automated) ended(ctx context.Context, f Fill) (first, last time.Time, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, withinDelays, fmt.Errorf("%d runs have not ended within %s", f.Runs, withinDelays))
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		first, last, live, err := f.Ended(ctx, a.conn)
		if err != nil || live == 0 {
			return first, last, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return first, last, context.Cause(ctx)
		}
	}
}

// delays lets 10,000 delays end in one second, beside as many that were due already.
func (b Bench) delays(ctx context.Context, a *automated) ([]Ratio, error) {
	t := Ratio{Name: "10,000 delays: last / (1.5 × at full rate + 1 s)", Most: 1}
	b.Progress("%d delays due in one moment, %d rounds", manyDelays, b.Rounds)
	var rates, lasts []float64
	for round := range b.Rounds {
		due := a.fill("bench.delay", fmt.Sprintf("due%d.", round), manyDelays)
		begin := time.Now()
		if err := due.Ready(ctx, 1); err != nil {
			return nil, err
		}
		begin = latest(begin, time.Now()) // they can be seen from here on
		_, last, err := a.ended(ctx, due)
		if err != nil {
			return nil, err
		}
		full := last.Sub(begin)
		moment := time.Now().Add(20 * time.Second).Truncate(time.Second)
		later := a.fill("bench.delay", fmt.Sprintf("later%d.", round), manyDelays)
		if err := later.Due(ctx, moment); err != nil {
			return nil, err
		}
		if time.Now().After(moment) {
			return nil, fmt.Errorf("it took longer than 20 s to store %d delays", manyDelays)
		}
		first, last, err := a.ended(ctx, later)
		if err != nil {
			return nil, err
		}
		if first.Before(moment) {
			return nil, fmt.Errorf("a delay ended %s early", moment.Sub(first))
		}
		took := last.Sub(moment)
		rates, lasts = append(rates, manyDelays/full.Seconds()), append(lasts, took.Seconds())
		t.Reached = append(t.Reached, took.Seconds()/(1.5*full.Seconds()+1))
	}
	fmt.Printf("%-42s %12.0f /s %11.2f s\n", "steps settled; the last of 10,000 delays", median(rates), median(lasts))
	return []Ratio{t}, nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// crowd has a run of one account come due beside 100,000 due runs of another.
func (b Bench) crowd(ctx context.Context, a *automated) ([]Ratio, error) {
	t := Ratio{Name: "a run beside 100,000 of another account / 2 s", Most: 1}
	const other = "acc_01kf0m4w7he6x8q2v5b3n9c1tz"
	lane := laneOf(other)
	if lane == laneOf(a.AccountID) {
		lane = (lane + 1) % 64
	}
	copied, err := a.fill("bench.delay", "", 0).Another(ctx, other, lane)
	if err != nil {
		return nil, err
	}
	b.Progress("a run of another account beside %d due ones, %d rounds", crowd, b.Rounds)
	var lates []float64
	for round := range b.Rounds {
		many := a.fill("bench.delay", fmt.Sprintf("crowd%d.", round), crowd)
		if err := many.Ready(ctx, 1); err != nil {
			return nil, err
		}
		one := Fill{URL: a.DatabaseURL, AutomationID: copied, Name: fmt.Sprintf("one%d.", round), Runs: 1}
		moment := time.Now().Add(500 * time.Millisecond)
		if err := one.Due(ctx, moment); err != nil {
			return nil, err
		}
		_, last, err := a.ended(ctx, one)
		if err != nil {
			return nil, err
		}
		_, _, live, err := many.Ended(ctx, a.conn)
		if err != nil {
			return nil, err
		}
		if live == 0 {
			return nil, fmt.Errorf("the crowd was gone before the other run ended, %s after it was due", last.Sub(moment))
		}
		lates = append(lates, last.Sub(moment).Seconds())
		t.Reached = append(t.Reached, last.Sub(moment).Seconds()/2)
		if _, _, err := a.ended(ctx, many); err != nil {
			return nil, err
		}
	}
	fmt.Printf("%-42s %12.3f s\n", "late beside 100,000 of another account", median(lates))
	return []Ratio{t}, nil
}

// steps compares send steps with POST /emails.
func (b Bench) steps(ctx context.Context, a *automated) ([]Ratio, error) {
	t := Ratio{Name: "emails of send steps / POST /emails, 64", Least: 1}
	b.Progress("send steps beside POST /emails from 64 clients, %d rounds", b.Rounds)
	var steps, accepts []float64
	for round := range b.Rounds {
		accept, err := b.Accepts(ctx, 64, b.Each)
		if err != nil {
			return nil, err
		}
		runs := a.fill("bench.mail", fmt.Sprintf("mail%d.", round), max(b.Messages, manyDelays))
		if err := runs.Ready(ctx, 1); err != nil {
			return nil, err
		}
		begin := time.Now()
		_, last, err := a.ended(ctx, runs)
		if err != nil {
			return nil, err
		}
		rate := float64(runs.Runs) / last.Sub(begin).Seconds()
		steps, accepts, t.Reached = append(steps, rate), append(accepts, accept), append(t.Reached, rate/accept)
	}
	fmt.Printf("%-42s %12.0f /s %11.0f /s\n", "POST /emails from 64 clients; send steps", median(accepts), median(steps))
	return []Ratio{t}, nil
}

// million stores a million waiting runs in one of two databases and compares.
func (b Bench) million(ctx context.Context, few, many *automated) ([]Ratio, error) {
	b.Progress("storing %d waiting runs", waitingRuns)
	if err := many.fill("bench.wait", "w", waitingRuns).Waiting(ctx); err != nil {
		return nil, err
	}
	if err := postgres.Exec(ctx, many.DatabaseURL, `VACUUM ANALYZE automation_works, automation_runs`); err != nil {
		return nil, err
	}
	beside := Ratio{Name: "POST /events, 64: beside 1 million runs / none", Least: 0.9}
	var fewRates, manyRates []float64
	for round := range b.Rounds + 1 {
		beside0, _, err := b.Events(ctx, few.Server, nobodyListens, 64, b.Each)
		if err != nil {
			return nil, err
		}
		beside1, _, err := b.Events(ctx, many.Server, nobodyListens, 64, b.Each)
		if err != nil {
			return nil, err
		}
		if round > 0 {
			fewRates, manyRates, beside.Reached = append(fewRates, beside0), append(manyRates, beside1), append(beside.Reached, beside1/beside0)
		}
	}
	fmt.Printf("%-42s %12.0f /s %11.0f /s\n", "POST /events beside no runs; a million", median(fewRates), median(manyRates))
	p50, p99 := Ratio{Name: "resume beside 1 million: p50 / 50 ms", Most: 1}, Ratio{Name: "resume beside 1 million: p99 / 500 ms", Most: 1}
	for round := range b.Rounds {
		took, err := b.resumes(ctx, many, round)
		if err != nil {
			return nil, err
		}
		fmt.Printf("%-42s %12s %14s\n", "a resume takes (p50, p99)", nth(took, 50).Round(time.Millisecond), nth(took, 99).Round(time.Millisecond))
		p50.Reached, p99.Reached = append(p50.Reached, nth(took, 50).Seconds()/0.05), append(p99.Reached, nth(took, 99).Seconds()/0.5)
	}
	return []Ratio{beside, p50, p99}, nil
}

// resumes posts events that runs wait for, 200 a second, and gives how long each took from the
// event to the end of the next step.
func (b Bench) resumes(ctx context.Context, a *automated, round int) (took []time.Duration, err error) {
	n := int(b.Each.Seconds() * resumeRate)
	tick := time.NewTicker(time.Second / resumeRate)
	defer tick.Stop()
	failed := make(chan error, n)
	for i := range n {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		user := fmt.Sprintf("w%d", round*n+i+1)
		go func() {
			_, err := b.Post(ctx, a.Server, "/events", fmt.Appendf(nil, `{"name": "bench.go", "user_id": %q}`, user))
			failed <- err
		}()
	}
	for range n {
		if err := <-failed; err != nil {
			return nil, err
		}
	}
	seconds, err := db.All(ctx, a.conn, db.Value[float64], resumedSQL, a.ids["bench.wait"], b.Each.Seconds()+5)
	if err != nil {
		return nil, err
	}
	for _, s := range seconds {
		took = append(took, time.Duration(s*float64(time.Second)))
	}
	if len(took) < n*9/10 {
		return nil, fmt.Errorf("%d of %d runs went on within a moment of their event", len(took), n)
	}
	return took, nil
}

// resumedSQL gives the seconds from an event to the end of the step that follows, of the last events.
const resumedSQL = `
SELECT extract(epoch FROM r.ended_at - e.created_at)::float8
  FROM custom_events e JOIN automation_runs r ON r.account_id = e.account_id AND r.user_id = e.user_id
 WHERE r.automation_id = $1 AND r.ended_at IS NOT NULL AND e.name = 'bench.go' AND e.created_at > now() - $2 * interval '1 second'`

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
