package sending

import (
	"bytes"
	"context"
	"crypto/rsa"
	"strings"
	"sync"
	"testing"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/worker"
)

// carrier keeps the messages that it is given.
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

func heavy(to ...string) Message {
	m := simple(to...)
	m.Attachments = []Attachment{{Name: "one.bin", Data: bytes.Repeat([]byte("one\n"), heavyFrom/4)}, {Name: "two.bin", Data: bytes.Repeat([]byte("two\n"), 99)}}
	return m
}

// free tells whether all of the budget is there.
func (f *fixture) free() bool {
	ok := f.memory.TryAcquire(heavyBudget)
	if ok {
		f.memory.Release(heavyBudget)
	}
	return ok
}

func TestHeavyMessageGoesOutWholeAndGivesItsMemoryBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := &carrier{}
	f.transport = c
	m := heavy("bob@example.net", "carol@example.net")
	id := f.send(t, m)
	jobs := f.claimAll(t)
	if len(jobs) != 2 || !jobs[0].heavy() || f.load.held != 2 {
		t.Fatalf("claimed %d, heavy %v, held %d", len(jobs), jobs[0].heavy(), f.load.held)
	}
	_, done, err := f.sign(t.Context(), jobs[0].message)
	if err != nil || f.free() {
		t.Fatalf("while it is composed: %v, budget untouched %v", err, f.free())
	}
	done()
	for _, j := range jobs {
		f.settleWith(t, []delivery{j}, f.deliver(t.Context(), j, &worker.Lease{}))
	}
	if jobs[0].message.signed.raw != nil || !f.free() || f.load.held != 0 {
		t.Errorf("after the delivery: %d octets kept, budget free %v, %d held", len(jobs[0].message.signed.raw), f.free(), f.load.held)
	}
	if e, _, _, _ := f.state(t, id); e.Status != email.StatusDelivered || len(c.messages) != 2 {
		t.Fatalf("status %s, %d messages", e.Status, len(c.messages))
	}
	parsed, err := mime.Parse(bytes.NewReader(c.messages[0]), mime.Limits{DataBytes: 64 << 20})
	if err != nil || !strings.HasPrefix(string(c.messages[0]), "DKIM-Signature:") || len(parsed.Parts) != 2 {
		t.Fatalf("message: %v, %.30q, %d attachments", err, c.messages[0], len(parsed.Parts))
	}
	for i, a := range parsed.Parts {
		if !bytes.Equal(a.Data, m.Attachments[i].Data) {
			t.Errorf("attachment %d came out as %d octets %.20q", i, len(a.Data), a.Data)
		}
	}
	record := dkim.PublicRecord(testKey().(*rsa.PrivateKey))
	seen, err := dkim.Verify(c.messages[0], func(string) ([]string, error) { return []string{record}, nil })
	if err != nil || len(seen) != 1 || seen[0].Err != nil {
		t.Errorf("signatures: %+v, %v", seen, err)
	}
}

func TestHeavyMessagesLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.load.most = 2
	var ids []string
	for range 3 {
		ids = append(ids, f.send(t, heavy("bob@example.net")))
	}
	small := f.send(t, simple("carol@example.net"))
	jobs := f.claimAll(t)
	if len(jobs) != 3 || f.load.held != 2 || jobs[2].emailID != small {
		t.Fatalf("claimed %d, %d of them heavy", len(jobs), f.load.held)
	}
	_, recipients, attempts, _ := f.state(t, ids[2])
	if r := recipients[0]; len(attempts) != 0 || r.Attempts != 0 || r.DueAt == nil {
		t.Errorf("the one put off: %+v, %d attempts", r, len(attempts))
	}
	f.makeDueOnly(t, ids[2])
	if again := f.claimAll(t); len(again) != 0 {
		t.Errorf("%d more were claimed although there is no room", len(again))
	}
	if err := f.release(t.Context(), jobs[:1]); err != nil {
		t.Fatal(err)
	}
	f.load.finish(jobs[1]) // as its delivery would
	f.makeDueOnly(t, ids[2])
	if again := f.claimAll(t); len(again) != 2 || again[0].attempt != 1 || again[1].attempt != 1 {
		t.Errorf("with room again: %d claimed", len(again))
	}
}

func (f *fixture) makeDueOnly(t *testing.T, id string) {
	t.Helper()
	if _, err := f.db.SQL.ExecContext(t.Context(), `UPDATE recipients SET due_at = now() WHERE email_id = $1`, id); err != nil {
		t.Fatal(err)
	}
}
