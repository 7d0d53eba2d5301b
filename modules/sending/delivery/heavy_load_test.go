package delivery

import (
	"bytes"
	"context"
	"crypto/rsa"
	"strings"
	"sync"
	"testing"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/compose"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// carrier records the messages it is given.
type carrier struct {
	mu       sync.Mutex
	messages [][]byte
}

func (c *carrier) Deliver(_ context.Context, _ smtpclient.Envelope, msg []byte, _ func() error) smtpclient.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages = append(c.messages, bytes.Clone(msg))
	return smtpclient.Outcome{Kind: smtpclient.Delivered, Code: 250, Reply: "250 Ok"}
}

func heavyMessage(to ...string) sending.Message {
	m := simpleMessage(to...)
	m.Attachments = []sending.Attachment{{Name: "one.bin", Data: bytes.Repeat([]byte("one\n"), sending.HeavyFrom/4)},
		{Name: "two.bin", Data: bytes.Repeat([]byte("two\n"), 99)}}
	return m
}

// countHeld returns how many slots are taken.
func (l heavyLoad) countHeld() (n int) {
	for _, of := range l.slots.InUse() {
		n += of
	}
	return n
}

// isBudgetFree reports whether none of the budget is held.
func (f *fixture) isBudgetFree() bool { return f.Budget.Usage() == intake.Usage{} }

func TestHeavyMessageIsDeliveredAndReleasesItsMemory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := &carrier{}
	f.transport = c
	m := heavyMessage("bob@example.net", "carol@example.net")
	id := f.send(t, m)
	jobs := f.claimAll(t)
	if len(jobs) != 2 || !jobs[0].isHeavy() || f.claimer.load.countHeld() != 2 {
		t.Fatalf("claimed %d, heavy %v, held %d", len(jobs), jobs[0].isHeavy(), f.claimer.load.countHeld())
	}
	_, done, err := f.composer.Sign(t.Context(), jobs[0].message)
	if held := f.Budget.Usage(); err != nil || held.Spool == 0 || held.Working != 0 || held.Arriving != 0 {
		t.Fatalf("while sending: error %v, held %+v; want only spool bytes held", err, held)
	}
	done()
	for _, j := range jobs {
		f.settleWith(t, []Job{j}, f.deliver(t.Context(), j, &worker.Lease{}))
	}
	if !f.isBudgetFree() || f.claimer.load.countHeld() != 0 {
		t.Errorf("after the delivery: budget free %v, %d held", f.isBudgetFree(), f.claimer.load.countHeld())
	}
	if e, _, _, _ := f.loadState(t, id); e.Status != email.StatusDelivered || len(c.messages) != 2 {
		t.Fatalf("status %s, %d messages", e.Status, len(c.messages))
	}
	parsed, err := message.ReadFull(bytes.NewReader(c.messages[0]), message.Bounds{Contents: 64 << 20})
	if err != nil || !strings.HasPrefix(string(c.messages[0]), "DKIM-Signature:") || len(parsed.Files) != 2 {
		t.Fatalf("message: %v, %.30q, %d attachments", err, c.messages[0], len(parsed.Files))
	}
	for i, content := range parsed.Contents {
		if !bytes.Equal(content, m.Attachments[i].Data) {
			t.Errorf("attachment %d arrived as %d bytes %.20q", i, len(content), content)
		}
	}
	record := dkim.PublicRecord(sendingtest.Key().(*rsa.PrivateKey))
	seen, err := dkim.Verify(c.messages[0], func(string) ([]string, error) { return []string{record}, nil })
	if err != nil || len(seen) != 1 || seen[0].Err != nil {
		t.Errorf("signatures: %+v, %v", seen, err)
	}
}

func TestHeavyMessagesLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.claimer.load = newHeavyLoad(8) // two per account
	var ids []string
	for range 3 {
		ids = append(ids, f.send(t, heavyMessage("bob@example.net")))
	}
	small := f.send(t, simpleMessage("carol@example.net"))
	jobs := f.claimAll(t)
	if len(jobs) != 3 || f.claimer.load.countHeld() != 2 || jobs[2].emailID != small {
		t.Fatalf("claimed %d, %d of them heavy", len(jobs), f.claimer.load.countHeld())
	}
	_, recipients, attempts, _ := f.loadState(t, ids[2])
	if r := recipients[0]; len(attempts) != 0 || r.Attempts != 0 || r.DueAt == nil {
		t.Errorf("the postponed recipient: %+v, %d attempts", r, len(attempts))
	}
	f.makeDueOnly(t, ids[2])
	if again := f.claimAll(t); len(again) != 0 {
		t.Errorf("claimed %d more without a free slot", len(again))
	}
	if err := f.claimer.releaseJobs(t.Context(), jobs[:1]); err != nil {
		t.Fatal(err)
	}
	f.claimer.load.releaseSlots(jobs[1]) // as its delivery would do
	f.makeDueOnly(t, ids[2])
	if again := f.claimAll(t); len(again) != 2 || again[0].attempt != 1 || again[1].attempt != 1 {
		t.Errorf("claimed %d with free slots, want 2", len(again))
	}
}

func (f *fixture) makeDueOnly(t *testing.T, id string) {
	t.Helper()
	if _, err := f.DB.SQL.ExecContext(t.Context(), `UPDATE recipients SET due_at = now() WHERE email_id = $1`, id); err != nil {
		t.Fatal(err)
	}
}

// The heavy messages of one account leave slots for those of others.
func TestAccountGetsAQuarterOfHeavySlots(t *testing.T) {
	t.Parallel()
	l := newHeavyLoad(8)
	of := func(account string, n int) (jobs []Job) {
		for range n {
			jobs = append(jobs, Job{accountID: account, message: &compose.StoredEmail{Size: sending.HeavyFrom}})
		}
		return jobs
	}
	kept, off := l.admitJobs(append(of("a", 5),
		append(of("b", 1), Job{accountID: "a", message: &compose.StoredEmail{}})...))
	if len(kept) != 4 || len(off) != 3 || kept[2].accountID != "b" || kept[3].isHeavy() {
		t.Fatalf("of 5 heavy jobs of one account, 1 of another and 1 light job, %d are kept and %d postponed; want 4 and 3", len(kept), len(off))
	}
	more, _ := l.admitJobs(append(of("a", 1), of("c", 9)...))
	if len(more) != 2 || more[0].accountID != "c" {
		t.Errorf("then %d more got slots, want 2 of another account", len(more))
	}
	l.releaseSlots(append(kept, more...)...)
	if l.countHeld() != 0 {
		t.Errorf("%d slots are held after all jobs finished", l.countHeld())
	}
}
