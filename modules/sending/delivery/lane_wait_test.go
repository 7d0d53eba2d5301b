package delivery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
)

// neverSearch disables the claimer's search for lanes, which would hide lanes that it has lost track of.
func (f *fixture) neverSearch() { f.claimer.parking.looked = time.Now().Add(time.Hour) }

// noRoomFor is the outcome of a delivery that its lane turns away.
var noRoomFor = smtpclient.Outcome{Kind: smtpclient.Temporary, Phase: smtpclient.PhaseWait,
	Err: fmt.Errorf("enter: %w", lane.ErrNoRoom)}

// waitingWithRoom returns the parked recipients whose lanes have room.
func (f *fixture) waitingWithRoom(t *testing.T) (addresses []string) {
	t.Helper()
	type row struct{ address, lane string }
	parked, err := db.All(t.Context(), f.DB.SQL, func(r *row) []any { return []any{&r.address, &r.lane} },
		`SELECT address, lane FROM recipients WHERE lane IS NOT NULL`)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range parked {
		way, destination, _ := splitLabel(r.lane)
		if f.claimer.lanes.Capacity(way, destination) > 0 {
			addresses = append(addresses, r.address)
		}
	}
	return addresses
}

// claimDue claims, limit at a time, until a worker would wait for a nudge.
func (f *fixture) claimDue(t *testing.T, limit int) (all []Job) {
	t.Helper()
	nudged := false
	f.claimer.nudge = func() { nudged = true }
	for {
		jobs, err := f.claimer.claimJobs(t.Context(), limit, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) == 0 && !nudged {
			return all
		}
		all, nudged = append(all, jobs...), false
	}
}

// Under random load, with lanes that fill and empty and destinations that share a lane, no recipient waits
// while its lane has room, and each lane is first in, first out.
func TestNoRecipientWaitsWhileItsLaneHasRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	f.neverSearch()
	const domains, shared, rounds = 100, 8, 25
	for i := range shared { // on one provider
		pass, err := f.claimer.lanes.Enter(t.Context(), "", fmt.Sprintf("d%d.test", i), lane.NewSet("mx.shared.test"))
		if err != nil {
			t.Fatal(err)
		}
		pass.Leave(lane.Feedback{})
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, seed))
	var running []Job
	sent, next := 0, map[string]int{} // the number of the next recipient, by destination
	for round := range rounds {
		for range random.IntN(60) {
			d := random.IntN(domains)
			if random.IntN(2) == 0 {
				d = random.IntN(shared) // a few that are always full
			}
			f.send(t, simpleMessage(fmt.Sprintf("n%d@d%d.test", sent, d)))
			sent++
		}
		jobs := f.claimDue(t, 1+random.IntN(30))
		for _, j := range jobs {
			var n int
			if _, err := fmt.Sscanf(j.address, "n%d@", &n); err != nil {
				t.Fatal(err)
			}
			if n < next[j.destination] {
				t.Errorf("seed %d, round %d: %s was claimed after a later recipient of its destination", seed,
					round, j.address)
			}
			next[j.destination] = n
		}
		if waiting := f.waitingWithRoom(t); len(waiting) > 0 {
			t.Fatalf("seed %d, round %d: %d recipients wait although their lanes have room: %v", seed, round,
				len(waiting), waiting)
		}
		running = append(running, jobs...)
		random.Shuffle(len(running), func(i, j int) { running[i], running[j] = running[j], running[i] })
		over := random.IntN(len(running) + 1)
		for _, j := range running[:over] {
			f.claimer.releaseHeld(j)
		}
		f.settleWith(t, running[:over], smtpclient.Outcome{Kind: smtpclient.Delivered, Phase: smtpclient.PhaseDot,
			Code: 250, Reply: "250 OK"})
		running = running[over:]
	}
	for more := true; more; more = len(running) > 0 {
		for _, j := range running {
			f.claimer.releaseHeld(j)
		}
		running = f.claimDue(t, 100)
	}
	if n := f.Count(t, "recipients WHERE attempts = 0"); n > 0 {
		t.Errorf("seed %d: %d of %d recipients were never claimed", seed, n, sent)
	}
}

// A full claim leaves parked recipients where they are, and keeps track of their lanes.
func TestFullClaimKeepsTrackOfParkedLanes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	f.sendMany(t, 3, "slow.test")
	f.Exec(t, `UPDATE recipients SET lane = ' slow.test'`)
	f.claimer.parking.add([]string{" slow.test"})
	f.neverSearch()
	f.claimer.parking.backlog = true // so that the claim picks more than it may take
	for i := range 8 {
		f.sendMany(t, 3, fmt.Sprintf("d%d.test", i))
	}
	if jobs, err := f.claimer.claimJobs(t.Context(), 10, time.Minute); err != nil || len(jobs) != 10 {
		t.Fatalf("claimed %v, %v, want 10", countDestinations(jobs), err)
	}
	f.claimDue(t, 10)
	if n := f.countParked(t, " slow.test"); n != 0 {
		t.Errorf("%d recipients are stuck in a lane that has room", n)
	}
}

// A recipient waits for those parked in its lane, however often a single connection becomes free.
func TestLaneIsFirstInFirstOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	f.neverSearch()
	room := f.claimer.lanes.Capacity("", "slow.test")
	f.sendMany(t, room+3, "slow.test")
	running := f.claimDue(t, room+10)
	if len(running) != room || f.countParked(t, " slow.test") != 3 {
		t.Fatalf("claimed %d and parked %d, want %d and 3", len(running), f.countParked(t, " slow.test"), room)
	}
	var order []string
	for i := range 5 {
		f.send(t, simpleMessage(fmt.Sprintf("r%d@slow.test", room+3+i)))
		f.claimer.releaseHeld(running[i])
		jobs := f.claimDue(t, 10)
		if len(jobs) != 1 {
			t.Fatalf("claimed %d after one connection became free, want 1", len(jobs))
		}
		order = append(order, jobs[0].address)
	}
	var want []string
	for i := range 5 {
		want = append(want, fmt.Sprintf("r%d@slow.test", room+i))
	}
	if !slices.Equal(order, want) {
		t.Errorf("claimed %v, want %v", order, want)
	}
}

// A recipient that its lane turns away keeps its place, and so does one that this process releases.
func TestReturnedRecipientKeepsItsPlace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	f.send(t, simpleMessage("first@slow.test"))
	f.send(t, simpleMessage("first@fast.test"))
	jobs := f.claimDue(t, 10)
	f.send(t, simpleMessage("second@slow.test"))
	f.send(t, simpleMessage("second@fast.test"))
	f.Exec(t, `UPDATE recipients SET lane = ' slow.test' WHERE address = 'second@slow.test'`)
	for _, j := range jobs {
		if j.destination == "slow.test" {
			f.settleWith(t, []Job{j}, noRoomFor)
			f.claimer.releaseHeld(j)
		} else if err := f.claimer.releaseJobs(t.Context(), []Job{j}); err != nil {
			t.Fatal(err)
		}
	}
	for _, domain := range []string{"slow.test", "fast.test"} {
		first, err := db.One(t.Context(), f.DB.SQL, db.Value[string], `SELECT address FROM recipients WHERE destination = $1 ORDER BY due_at LIMIT 1`, domain)
		if err != nil || first != "first@"+domain {
			t.Errorf("the next recipient at %s is %s, %v, want the one that was handed back", domain, first, err)
		}
	}
}

// choosing calls a function when a claim chooses ways.
type choosing struct {
	Ways
	call func() error
}

func (c *choosing) Choose(ctx context.Context, questions []outbound.Question) ([]smtpclient.Way, error) {
	if c.call != nil {
		call := c.call
		c.call = nil
		if err := call(); err != nil {
			return nil, err
		}
	}
	return c.Ways.Choose(ctx, questions)
}

// A claim that fails, or during which recipients are parked, keeps track of the lane.
func TestClaimKeepsTrackOfLanesWithRecipients(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(t *testing.T, f *fixture) error{
		"the claim fails": func(*testing.T, *fixture) error { return errors.New("the database has gone") },
		"a delivery is parked meanwhile": func(t *testing.T, f *fixture) error {
			t.Helper()
			id := f.send(t, simpleMessage("late@slow.test"))
			f.Exec(t, `UPDATE recipients SET lane = ' slow.test' WHERE email_id = $1`, id)
			f.claimer.parking.add([]string{" slow.test"})
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ways := &choosing{}
			f := newFixture(t, func(p *Params) { ways.Ways, p.Ways = p.Ways, ways })
			f.toMX()
			f.neverSearch()
			f.sendMany(t, 2, "slow.test")
			f.Exec(t, `UPDATE recipients SET lane = ' slow.test'`)
			f.claimer.parking.add([]string{" slow.test"})
			ways.call = func() error { return call(t, f) }
			_, _ = f.claimer.claimJobs(t.Context(), 10, time.Minute) // it may fail
			f.claimDue(t, 10)
			if n := f.countParked(t, " slow.test"); n != 0 {
				t.Errorf("%d recipients are stuck in a lane that has room", n)
			}
		})
	}
}

// However many lanes are full, the next claim finds one that has room.
func TestLaneWithRoomIsFoundAmongFullOnes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	f.neverSearch()
	var lanes []string
	for i := range 3 * mostDraws {
		domain := fmt.Sprintf("full%d.test", i)
		pauseLane(t, f.claimer.lanes, domain)
		lanes = append(lanes, laneLabel("", domain))
	}
	f.sendMany(t, 2, "open.test")
	f.Exec(t, `UPDATE recipients SET lane = ' open.test'`)
	f.claimer.parking.add(append(lanes, " open.test"))
	jobs, err := f.claimer.claimJobs(t.Context(), 100, time.Minute)
	if err != nil || countDestinations(jobs)["open.test"] != 2 {
		t.Errorf("claimed %v, %v, want both recipients of the lane with room", countDestinations(jobs), err)
	}
}

// Lanes that turn out to be empty, because another process was faster, do not keep a claim from finding
// recipients.
func TestEmptyLanesDoNotBlockAClaim(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	f.neverSearch()
	var lanes []string
	for i := range 3 * mostDraws {
		lanes = append(lanes, laneLabel("", fmt.Sprintf("empty%d.test", i)))
	}
	f.claimer.parking.add(lanes)
	f.send(t, simpleMessage("r@new.test"))
	f.send(t, simpleMessage("r@parked.test"))
	f.Exec(t, `UPDATE recipients SET lane = ' parked.test' WHERE address = 'r@parked.test'`)
	f.claimer.parking.add([]string{" parked.test"})
	for _, limit := range []int{1, 1, 10} {
		if _, err := f.claimer.claimJobs(t.Context(), limit, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	f.claimDue(t, 10)
	if n := f.Count(t, "recipients WHERE attempts = 0"); n > 0 {
		t.Errorf("%d recipients were not claimed", n)
	}
}

// A recipient that its lane turned away is claimed as soon as the lane has room, even if the lane signaled
// room before the recipient was parked.
func TestRoomSignaledBeforeParkingIsNoticed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.toMX()
	f.send(t, simpleMessage("r@busy.test"))
	jobs := f.claimDue(t, 10)
	nudged := 0
	f.settler.nudge = func() { nudged++ }
	f.claimer.releaseHeld(jobs[0])
	f.settleWith(t, jobs, noRoomFor)
	if nudged != 1 {
		t.Errorf("the worker was nudged %d times, want once", nudged)
	}
	if again := f.claimDue(t, 10); len(again) != 1 {
		t.Errorf("then claimed %d, want the recipient again", len(again))
	}
}
