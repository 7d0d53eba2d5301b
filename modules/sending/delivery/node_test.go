package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node"
)

// numbered is a test node with an ID, which claims until a time.
type numbered struct {
	node.None

	id    int32
	until time.Time
}

func (n numbered) ID() int32              { return n.id }
func (n numbered) ClaimsUntil() time.Time { return n.until }

const testLease = 55 * time.Second // handed-back claims are searched among those that end within a minute

// onNode runs the service on a node with the given number of connections.
func onNode(n numbered, connections int) func(*Params) {
	return func(p *Params) {
		p.Node = n
		p.Lanes = lane.New(lane.Config{Connections: connections, Smarthost: &lane.Set{Name: "peer", Own: true}})
	}
}

// newNode returns another process on the same database, which is not running.
func (f *fixture) newNode(t *testing.T, n numbered) *Service {
	t.Helper()
	p := f.params
	onNode(n, 10)(&p)
	s, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// countOutcomes counts attempts by outcome; those without one count as open.
func (f *fixture) countOutcomes(t *testing.T) map[string]int {
	t.Helper()
	type counted struct {
		outcome string
		n       int
	}
	list, err := db.All(t.Context(), f.DB.SQL, func(c *counted) []any { return []any{&c.outcome, &c.n} },
		`SELECT coalesce(outcome, 'open'), count(*) FROM attempts GROUP BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, c := range list {
		counts[c.outcome] = c.n
	}
	return counts
}

// A node dies, and its claims become due immediately. Of the attempts that it cut off, those that were
// claimed ahead and had not reached their final dot are not started; the others are unknown. Without a record
// of final dots, all are unknown.
func TestDeliveriesOfADeadNodeAreHandedBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(t *testing.T, f *fixture, jobs []Job)
		end    func(t *testing.T, f *fixture, other *Service)
		want   map[string]int
	}{
		"handed back": {want: map[string]int{"unknown": 4, "not_started": 2, "open": 6}},
		"a delivery claimed ahead reaches its final dot": {
			before: func(t *testing.T, f *fixture, jobs []Job) {
				t.Helper()
				lastOf := jobs[slices.IndexFunc(jobs, func(d Job) bool { return d.ahead })]
				if err := f.claimer.begun.recordFinalDot(t.Context(), lastOf.recipientID); err != nil {
					t.Fatal(err)
				}
			},
			want: map[string]int{"unknown": 5, "not_started": 1, "open": 6},
		},
		"the server has crashed since": {
			before: func(t *testing.T, f *fixture, _ []Job) { t.Helper(); f.Exec(t, `TRUNCATE begun_attempts`) },
			want:   map[string]int{"unknown": 6, "open": 6},
		},
		"the leases end first": {
			end: func(t *testing.T, f *fixture, _ *Service) {
				t.Helper()
				f.Exec(t, `UPDATE recipients SET due_at = now()`)
			},
			want: map[string]int{"unknown": 4, "not_started": 2, "open": 6},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, onNode(numbered{id: 7}, 4))
			for i := range 8 {
				f.send(t, simpleMessage(fmt.Sprintf("n%d@example.net", i)))
			}
			jobs, err := f.claimer.claimJobs(t.Context(), 100, testLease)
			if err != nil || len(jobs) != 6 {
				t.Fatalf("claimed %d with 4 connections, %v; want 6", len(jobs), err)
			}
			expect.EventuallyWithin(t, 20*time.Second, "the deliveries at their final dot are recorded",
				func() bool { return f.Count(t, "begun_attempts") == 1 })
			if c.before != nil {
				c.before(t, f, jobs)
			}
			other := f.newNode(t, numbered{id: 8})
			if taken, err := other.claimer.claimJobs(t.Context(), 100, testLease); err != nil || len(taken) != 2 {
				t.Fatalf("another process claimed %d, %v; want the remaining 2", len(taken), err)
			}
			if c.end != nil {
				c.end(t, f, other)
			} else {
				for _, back := range []struct {
					gone int32
					want int64
				}{{99, 0}, {7, 6}, {7, 0}} {
					if n, err := other.claimer.handBackClaimsOf(t.Context(), back.gone); err != nil || n != back.want {
						t.Errorf("handed back %[2]d recipients of node %[1]d, %[3]v; want %[4]d", back.gone, n,
							err, back.want)
					}
				}
			}
			f.Exec(t, `DELETE FROM attempts WHERE node = 8`) // not part of this test
			again, err := other.claimer.claimJobs(t.Context(), 100, testLease)
			if err != nil || len(again) < 6 {
				t.Fatalf("claimed %d afterwards, %v; want the 6", len(again), err)
			}
			f.Exec(t, `DELETE FROM attempts a WHERE node = 8 AND NOT EXISTS (SELECT FROM attempts b WHERE b.node = 7 AND b.recipient_id = a.recipient_id)`)
			if diff := cmp.Diff(c.want, f.countOutcomes(t)); diff != "" {
				t.Errorf("attempts by outcome (-want +got):\n%s", diff)
			}
			if err := f.settler.settleResults(t.Context(),
				[]worker.Result[Job, smtpclient.Outcome]{{Job: jobs[0],
					Value: smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250}}}); err != nil {
				t.Fatal(err)
			}
			var settled int
			if err := f.DB.SQL.QueryRowContext(t.Context(),
				`SELECT count(*) FROM recipients WHERE settled_at IS NOT NULL`).Scan(&settled); err != nil || settled != 0 {
				t.Errorf("the late outcome of the dead node settled %d recipients, %v; want none", settled, err)
			}
		})
	}
}

// A claim that runs after its process may claim takes nothing.
func TestLateClaimTakesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.send(t, simpleMessage("bob@example.net"))
	for _, c := range []struct {
		until time.Duration
		want  int
	}{{-time.Second, 0}, {time.Minute, 1}} {
		if jobs, err := f.newNode(t, numbered{until: time.Now().Add(c.until)}).
			claimer.claimJobs(t.Context(), 10, testLease); err != nil || len(jobs) != c.want {
			t.Errorf("a claim valid until %s from now took %d, %v; want %d", c.until, len(jobs), err, c.want)
		}
	}
}

// A delivery that was claimed ahead is recorded before its final dot. If that fails, it is held back and
// tried again soon, without a delay notice.
func TestDeliveryClaimedAheadIsRecordedBeforeItsFinalDot(t *testing.T) {
	t.Parallel()
	f := newFixture(t, onNode(numbered{id: 7}, 1))
	f.send(t, simpleMessage("a@example.net"))
	f.send(t, simpleMessage("b@example.net"))
	jobs, err := f.claimer.claimJobs(t.Context(), 10, testLease)
	if err != nil || len(jobs) != 2 || jobs[0].ahead == jobs[1].ahead {
		t.Fatalf("claimed %+v, %v; want one of two ahead", jobs, err)
	}
	if jobs[0].ahead {
		jobs[0], jobs[1] = jobs[1], jobs[0]
	}
	refused := errors.New("no room on the disk")
	store := f.claimer.begun.store
	f.claimer.begun.store = func(context.Context, int64, []int64) error { return refused }
	// an expired lease is checked last
	ask := func(d Job) error { return f.beforeFinalDot(t.Context(), d, &worker.Lease{})() }
	if err := ask(jobs[0]); !errors.Is(err, worker.ErrLeaseOver) {
		t.Errorf("the check before the final dot of a delivery with a connection: %v", err)
	}
	out := smtpclient.Outcome{Kind: smtpclient.Temporary,
		Err: fmt.Errorf("%w: %w", smtpclient.ErrHeldBack, ask(jobs[1]))}
	if !errors.Is(out.Err, refused) {
		t.Errorf("beforeFinalDot of a delivery claimed ahead that cannot be recorded: %v", out.Err)
	}
	if v := judgeOutcome(jobs[1], out); v.wait > heldBackWait || v.event != "" || v.state != "deferred" {
		t.Errorf("verdict when held back: %+v, want a retry soon and no notice", v)
	}
	if v := judgeOutcome(Job{attempt: heldBackTries + 1, noticeDue: true}, out); v.wait < time.Minute || v.event == "" {
		t.Errorf("verdict when held back repeatedly: %+v, want the usual wait and notice", v)
	}
	f.claimer.begun.store = store
	if err := ask(jobs[1]); !errors.Is(err, worker.ErrLeaseOver) {
		t.Errorf("beforeFinalDot once it can be recorded: %v", err)
	}
	var noted int
	if err := f.DB.SQL.QueryRowContext(t.Context(),
		`SELECT count(*) FROM begun_attempts WHERE node = 7 AND recipients = ARRAY[$1::bigint]`, jobs[1].recipientID).Scan(&noted); err != nil || noted != 1 {
		t.Errorf("recorded: %d, %v; want 1", noted, err)
	}
	if err := f.settler.settleResults(t.Context(),
		[]worker.Result[Job, smtpclient.Outcome]{{Job: jobs[1],
			Value: smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250}}}); err != nil {
		t.Fatal(err)
	}
	if len(f.claimer.begun.held) != 0 {
		t.Errorf("still recorded after it settled: %v", f.claimer.begun.held)
	}
}

// Deliveries that reach their final dots at the same time share a statement.
func TestDeliveriesAtTheirFinalDotShareAStatement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var rounds [][]int64
		var b begunAttempts
		b.store = func(_ context.Context, round int64, recipients []int64) error {
			if slices.Sort(recipients); round != int64(len(rounds)+1) {
				t.Errorf("round %d after %d", round, len(rounds))
			}
			rounds = append(rounds, recipients)
			<-time.After(5 * time.Millisecond)
			return nil
		}
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				<-time.After(time.Duration(i) * time.Millisecond / 5)
				if err := b.recordFinalDot(t.Context(), int64(i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		last := rounds[len(rounds)-1]
		if len(rounds) > 4 || len(last) != 100 {
			t.Errorf("%d statements, the last for %d recipients; want at most 4 statements, the last for 100",
				len(rounds), len(last))
		}
		<-time.After(time.Second)
	})
}
