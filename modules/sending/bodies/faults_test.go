package bodies_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// While the store is unavailable, nothing is lost, and everything that needs no body works. One move at a time
// probes the store, and moves resume when it recovers.
func TestMovesResumeAfterStoreOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.deliver(t, rooms.SimpleMessage("bob@example.net")), w.deliver(t,
		rooms.SimpleMessage("carol@example.net"))
	before := w.readAll(t, first)
	w.failStore()
	if got := w.runMoves(t); !slices.Equal(got, []string{"failed", "failed"}) || w.countMoved(t) != 0 {
		t.Fatalf("moves ended as %v", got)
	}
	if diff := cmp.Diff(before, w.readAll(t, first), sameEmail); diff != "" {
		t.Errorf("with the store unavailable, it reads differently:\n%s", diff)
	}
	w.makeMovesDue(t)
	if moves := w.claim(t); len(moves) != 0 {
		t.Errorf("right after the failures %d moves were claimed", len(moves))
	}
	w.recoverStore()
	expect.EventuallyWithin(t, 20*time.Second, "a move is tried after the wait", func() bool {
		moves := w.claim(t)
		if len(moves) > 1 {
			t.Fatalf("%d moves were claimed to probe the store, want 1", len(moves))
		}
		return len(moves) == 1 && w.Mover.SettleMoves(t.Context(), w.Mover.Do(t.Context(), moves)) == nil
	})
	if w.runMoves(t); w.countMoved(t) != 2 {
		t.Errorf("%d bodies were moved after the store recovered, want 2", w.countMoved(t))
	}

	w.failStore()
	for what, err := range map[string]error{
		"whole":  errOf(w.Records.Detail(t.Context(), sendingtest.Account, first)),
		"bodies": errOf(w.Records.Bodies(t.Context(), sendingtest.Account, first, second)),
		"raw":    errOf(w.Composer.Raw(t.Context(), sendingtest.Account, first)),
		"resend": errOf(w.Sending.Resend(t.Context(), w.Caller(), sending.Resend{EmailID: first})),
	} {
		if fault.KindOf(err) != fault.Unavailable || !strings.Contains(fault.Classify(err).Message, "object store") {
			t.Errorf("%s with the store unavailable: %v, want Unavailable naming the object store", what, err)
		}
	}
	if e, err := w.Records.Get(t.Context(), sendingtest.Account, first); err != nil || e.Status != "delivered" {
		t.Errorf("the record with the store unavailable is %+v, %v", e, err)
	}
	if page, err := w.Records.List(t.Context(), sendingtest.Account,
		records.ListQuery{Page: page.Request{Limit: 10}}); err != nil || len(page.Items) != 2 {
		t.Errorf("the list with the store unavailable has %d emails, %v", len(page.Items), err)
	}
	if snippets, err := w.Records.Snippets(t.Context(), sendingtest.Account, first, second); err != nil ||
		snippets[first] != "Hello" || snippets[second] != "Hello" {
		t.Errorf("the snippets with the store unavailable are %v, %v", snippets, err)
	}
}

func errOf[T any](_ T, err error) error { return err }

// A process that dies between writing the object and the commit loses nothing and leaves no second object. Its
// late result is ignored.
func TestProcessDiesBetweenUploadAndCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.deliver(t, rooms.SimpleMessage("bob@example.net"))
	before := w.readAll(t, id)
	if err := w.Mover.Walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	dead := w.claim(t)
	late := w.Mover.Do(t.Context(), dead)
	if len(w.store.Objects(t)) != 1 || w.countMoved(t) != 0 {
		t.Fatalf("%d objects", len(w.store.Objects(t)))
	}
	if diff := cmp.Diff(before, w.readAll(t, id), sameEmail); diff != "" {
		t.Errorf("between the object and the commit it reads differently:\n%s", diff)
	}
	if again := w.claim(t); len(again) != 0 {
		t.Errorf("the move was claimed twice: %v", again)
	}
	if got := w.runMoves(t); !slices.Equal(got, []string{"stored"}) || w.countMoved(t) != 1 ||
		len(w.store.Objects(t)) != 1 {
		t.Errorf("after the lease expired, the move ended as %v, with %d objects", got, len(w.store.Objects(t)))
	}
	if err := w.Mover.SettleMoves(t.Context(), late); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, w.readAll(t, id), sameEmail); diff != "" || w.Count(t, "body_moves") != 0 ||
		len(w.store.Objects(t)) != 1 {
		t.Errorf("the late result changed the email:\n%s", diff)
	}
	// A result whose commit was not confirmed is stored again.
	next := w.deliver(t, rooms.SimpleMessage("carol@example.net"))
	if err := w.Mover.Walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	results := w.Mover.Do(t.Context(), w.claim(t))
	for range 2 {
		if err := w.Mover.SettleMoves(t.Context(), results); err != nil {
			t.Fatal(err)
		}
	}
	if w.readAll(t, next); w.countMoved(t) != 2 || len(w.store.Objects(t)) != 2 || w.Count(t, "body_moves") != 0 {
		t.Errorf("after settling twice: %d moved, %d objects", w.countMoved(t), len(w.store.Objects(t)))
	}
}

// An email that is purged between the upload and its commit, by a process that does not know of the move,
// leaves no object.
func TestBodyPurgedBeforeCommitLeavesNoObject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deliver(t, rooms.SimpleMessage("bob@example.net"))
	if err := w.Mover.Walk(t.Context()); err != nil {
		t.Fatal(err)
	}
	results := w.Mover.Do(t.Context(), w.claim(t))
	w.Exec(t, `UPDATE emails SET text = NULL, body_purged_at = now()`)
	if err := w.Mover.SettleMoves(t.Context(), results); err != nil {
		t.Fatal(err)
	}
	if got := w.runMoves(t); !slices.Equal(got, []string{"removed"}) || len(w.store.Objects(t)) != 0 ||
		w.Count(t, "body_moves") != 0 {
		t.Errorf("the move ended as %v and %d objects are left", got, len(w.store.Objects(t)))
	}
}

func TestMoveFailsIfStoredObjectDiffers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.deliver(t, rooms.SimpleMessage("bob@example.net"))
	w.store.Fault(func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet {
			rw.Header().Set("Last-Modified", "Sun, 22 Nov 2026 10:00:00 GMT")
			rw.Write([]byte("something else"))
			return
		}
		next.ServeHTTP(rw, r)
	})
	if got := w.runMoves(t); !slices.Equal(got, []string{"failed"}) || w.countMoved(t) != 0 || w.readAll(t, id).
		Snippet != "Hello" {
		t.Errorf("the move ended as %v", got)
	}
}

// A body that the store has lost or changed is an error, and does not read as an email without a body.
func TestLostOrChangedObjectIsUnavailable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, answer := range map[string]func(rw http.ResponseWriter, r *http.Request, next http.Handler){
		"lost": func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
			r.URL.Path += "x" // the signature was verified before
			next.ServeHTTP(rw, r)
		},
		"changed": func(rw http.ResponseWriter, _ *http.Request, _ http.Handler) {
			rw.Header().Set("Last-Modified", "Sun, 22 Nov 2026 10:00:00 GMT")
			rw.Write([]byte("something else"))
		},
	} {
		for kind, m := range everyKind() {
			if kind != "both" && kind != "relayed" {
				continue
			}
			id := w.deliver(t, m)
			w.runMoves(t)
			w.store.Fault(answer)
			if whole, err := w.Records.Detail(t.Context(), sendingtest.Account,
				id); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%s: reading email %s returned %v, %v; want Unavailable", name, kind, whole.HTML, err)
			}
			w.recoverStore()
		}
	}
}
