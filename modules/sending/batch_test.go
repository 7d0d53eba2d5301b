package sending

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

func batchOf(messages ...Message) Batch {
	b := Batch{Render: renderResults}
	for _, m := range messages {
		b.Items = append(b.Items, BatchItem{Message: m})
	}
	return b
}

// itemOutcomes describes the outcome of each item in one word.
func itemOutcomes(results []BatchResult) []string {
	var out []string
	for _, r := range results {
		switch {
		case r.Err == nil:
			out = append(out, r.Receipt.Status)
		case fault.Classify(r.Err).Code != "":
			out = append(out, fault.Classify(r.Err).Code)
		default:
			out = append(out, "internal")
		}
		if (r.Receipt.ID == "") != (r.Err != nil) {
			out = append(out, fmt.Sprintf("id %q with %v", r.Receipt.ID, r.Err))
		}
	}
	return out
}

func renderResults(results []BatchResult) idempotency.Response {
	var ids []string
	for _, r := range results {
		ids = append(ids, r.Receipt.ID)
	}
	return idempotency.Response{Status: 200, Body: []byte(strings.Join(itemOutcomes(results), " ") + " " +
		strings.Join(ids, " "))}
}

func TestBatchItemsSucceedAndFailIndependently(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Suppressed = map[string]string{"gone@example.net": "bounce"}
	later, withFile, bad := simpleMessage("bob@example.net"), simpleMessage("bob@example.net"), simpleMessage("bob")
	later.ScheduledAt = sendingtest.At(time.Hour)
	withFile.Attachments = []Attachment{{Name: "a.txt", Data: []byte("a")}}
	b := batchOf(simpleMessage("bob@example.net"), bad, simpleMessage("gone@example.net"), later, withFile,
		simpleMessage("carol@example.net"))
	b.Items = append(b.Items, BatchItem{Err: fault.Invalidf("Must be an object, not null")})
	got, err := f.SendBatch(t.Context(), f.Caller(), b)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"sent", fault.CodeValidation, "failed", "scheduled", fault.CodeValidation, "sent",
		fault.CodeValidation}
	if diff := cmp.Diff(want, itemOutcomes(got.Results)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if fields := fault.Classify(got.Results[4].Err).Fields; fields["attachments"] == "" {
		t.Errorf("an item with a file returned %v", got.Results[4].Err)
	}
	if n := f.Count(t, "emails"); n != 4 {
		t.Errorf("%d emails are stored, want the valid ones only", n)
	}
	for _, n := range []int{0, MaxBatch + 1} {
		if _, err := f.SendBatch(t.Context(), f.Caller(),
			batchOf(make([]Message, n)...)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%d items: %v", n, err)
		}
	}
}

// An atomic batch is stored completely or not at all, and a rejected one does not count against the caps.
func TestAtomicBatchSendsAllOrNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left     int
		messages []Message
		code     string // code of the error; empty: all items are stored
	}{
		"good":    {3, []Message{simpleMessage("a@example.net"), simpleMessage("b@example.net")}, ""},
		"invalid": {3, []Message{simpleMessage("a@example.net"), simpleMessage("bob")}, fault.CodeValidation},
		"cap":     {1, []Message{simpleMessage("a@example.net"), simpleMessage("b@example.net")}, fault.CodePlanLimit},
	} {
		for _, key := range []string{"", "k"} {
			f := newFixture(t)
			f.Near.Left = c.left
			b := batchOf(c.messages...)
			b.Atomic = true
			if key != "" {
				claim, _, err := f.Idempotency.Begin(t.Context(), sendingtest.Account, "POST /emails/batch", key, []byte(`{}`))
				if err != nil {
					t.Fatal(err)
				}
				b.Claim = claim
			}
			got, err := f.SendBatch(t.Context(), f.Caller(), b)
			stored := f.Count(t, "emails")
			switch {
			case c.code == "" && (err != nil || len(got.Results) != 2 || stored != 2):
				t.Errorf("%s with key %q returned %v, %v and stored %d emails, want both sent", name, key, got, err, stored)
			case c.code != "" && (fault.Classify(err).Code != c.code || stored != 0):
				t.Errorf("%s with key %q returned %v and stored %d emails, want %s and none", name, key, err, stored, c.code)
			case c.code != "" && f.Near.Left+f.Near.Refunded != c.left:
				t.Errorf("%s with key %q: %d of the cap are left and %d were refunded, want a total of %d", name, key,
					f.Near.Left, f.Near.Refunded, c.left)
			}
			if name == "invalid" && fault.Classify(err).Fields["emails[1].to[0]"] == "" && fault.Classify(err).Fields["emails[1].to"] == "" {
				t.Errorf("the error is %v, want it to name emails[1]", fault.Classify(err).Fields)
			}
		}
	}
}

func TestBatchStopsAtCap(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.Left = 2
	got, err := f.SendBatch(t.Context(), f.Caller(),
		batchOf(simpleMessage("a@example.net"), simpleMessage("b@example.net"), simpleMessage("c@example.net")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"sent", "sent", fault.CodePlanLimit}, itemOutcomes(got.Results)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if n := f.Count(t, "emails"); n != 2 {
		t.Errorf("%d emails are stored", n)
	}
}

// refusesPoison makes the database reject a value that passes validation.
func (f *fixture) refusesPoison(t *testing.T) {
	t.Helper()
	if _, err := f.DB.SQL.ExecContext(t.Context(),
		`ALTER TABLE emails ADD CONSTRAINT poison CHECK (subject <> 'poison')`); err != nil {
		t.Fatal(err)
	}
}

func TestItemRejectedByDatabaseDoesNotFailBatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.refusesPoison(t)
	f.Near.Left = 100 // the fake does not roll back
	poison := simpleMessage("bob@example.net")
	poison.Subject = "poison"
	for round := range 2 { // the second time, statements are already prepared
		b := batchOf(simpleMessage("a@example.net"), poison, simpleMessage("b@example.net"))
		claim, _, err := f.Idempotency.Begin(t.Context(), sendingtest.Account, "POST /emails/batch",
			fmt.Sprint("key", round), []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		b.Claim = claim
		got, err := f.SendBatch(t.Context(), f.Caller(), b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"sent", "internal", "sent"}, itemOutcomes(got.Results)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		replay, err := f.Idempotency.Replay(t.Context(), claim)
		if err != nil || string(replay.Body) != string(renderResults(got.Results).Body) {
			t.Errorf("kept: %v %v", replay, err)
		}
	}
	if n := f.Count(t, "emails"); n != 4 {
		t.Errorf("%d emails are stored", n)
	}
	if facts := f.Count(t, "facts"); facts != 4 {
		t.Errorf("%d facts are stored", facts)
	}
	if f.Near.Refunded != 2 {
		t.Errorf("%d refunded", f.Near.Refunded)
	}
}

func TestConcurrentEqualBatchesSendOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const keys, requests, size = 3, 50, 5
	var all sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]map[string]int{}
	for k := range keys {
		for range requests {
			all.Go(func() {
				key := fmt.Sprint("key", k)
				body, err := f.batchWithKey(t, key, size)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if answers[key] == nil {
					answers[key] = map[string]int{}
				}
				answers[key][body]++
			})
		}
	}
	all.Wait()
	for key, bodies := range answers {
		if len(bodies) != 1 {
			t.Errorf("%s got %d different answers", key, len(bodies))
		}
	}
	if n := f.Count(t, "emails"); n != keys*size {
		t.Errorf("%d emails, want %d", n, keys*size)
	}
}

// batchWithKey sends a batch like the API and returns the body of the response.
func (f *fixture) batchWithKey(t *testing.T, key string, size int) (string, error) {
	claim, replay, err := f.Idempotency.Begin(t.Context(), sendingtest.Account, "POST /emails/batch", key, []byte(`{}`))
	if err != nil {
		return "", err
	}
	if replay != nil {
		return string(replay.Body), nil
	}
	b := batchOf()
	for i := range size {
		b.Items = append(b.Items, BatchItem{Message: simpleMessage(fmt.Sprintf("n%d@example.net", i))})
	}
	b.Claim = claim
	receipt, err := f.SendBatch(t.Context(), f.Caller(), b)
	switch {
	case err != nil:
		return "", err
	case receipt.Replay != nil:
		return string(receipt.Replay.Body), nil
	default:
		return string(renderResults(receipt.Results).Body), nil
	}
}

// The response to a batch is stored under its key even if none of its emails were stored.
func TestStoresResponseOfRejectedBatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	claim, _, err := f.Idempotency.Begin(t.Context(), sendingtest.Account, "POST /emails/batch", "k", []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	b := batchOf(simpleMessage("nobody"))
	b.Claim = claim
	if _, err := f.SendBatch(t.Context(), f.Caller(), b); err != nil {
		t.Fatal(err)
	}
	if _, replay, err := f.Idempotency.Begin(t.Context(), sendingtest.Account, "POST /emails/batch", "k",
		[]byte(`{}`)); err != nil || replay == nil || !strings.HasPrefix(string(replay.Body), fault.CodeValidation) {
		t.Errorf("repeating the batch with its key returned %v, %v; want the stored response", replay, err)
	}
}

func TestBatchWithoutDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Near.SenderErr = fault.DatabaseUnavailable(errors.New("no database"))
	if _, err := f.SendBatch(t.Context(), f.Caller(),
		batchOf(simpleMessage("a@example.net"),
			simpleMessage("b@example.net"))); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a batch without a database returned %v, want kind Unavailable", err)
	}
}
