package bodies_test

import (
	"context"
	"testing"

	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
)

// Whenever an email loses its body, its object is deleted: after the move, during the move, and when a process
// died after writing the object.
func TestDeletesObjectsWithEmails(t *testing.T) {
	t.Parallel()
	for name, deleted := range map[string]func(*world, context.Context, string) error{
		"deleted": func(w *world, ctx context.Context, id string) error {
			return errOf(w.Records.Delete(ctx, sendingtest.Account, []string{id}))
		},
		"purged": func(w *world, ctx context.Context, id string) error {
			return errOf(w.Records.PurgeBodies(ctx, sendingtest.Account, []string{id}))
		},
		"erased": func(w *world, ctx context.Context, _ string) error {
			return errOf(w.Records.Erase(ctx, sendingtest.Account, "bob@example.net"))
		},
		"erased from several": func(w *world, ctx context.Context, _ string) error {
			return errOf(w.Records.Erase(ctx, sendingtest.Account, "carol@example.net"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m := rooms.SimpleMessage("bob@example.net")
			if name == "erased from several" {
				m = rooms.SimpleMessage("bob@example.net", "carol@example.net")
			}
			m.Attachments = []sending.Attachment{{Name: "a.txt", Data: []byte("a")}}
			gone := func(when string) {
				t.Helper()
				if n := w.Count(t, `emails WHERE body_key IS NOT NULL OR text IS NOT NULL OR body_snippet IS NOT NULL`); n != 0 {
					t.Errorf("%s: %d emails still have a body", when, n)
				}
				w.makeMovesDue(t)
				for range 3 { // a deletion starts by waiting for another lease
					w.runMoves(t)
				}
				if n := len(w.store.Objects(t)); n != 0 || w.Count(t, "body_moves") != 0 {
					t.Errorf("%s: %d objects and %d moves are left", when, n, w.Count(t, "body_moves"))
				}
			}
			id := w.deliver(t, m)
			if w.runMoves(t); w.countMoved(t) != 1 {
				t.Fatal("the body was not moved")
			}
			if err := deleted(w, t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if len(w.store.Objects(t)) != 2 || w.Count(t, `body_moves WHERE remove AND due_at > now()`) != 2 {
				t.Error("the object would be deleted without waiting for readers")
			}
			gone("moved before")

			id = w.deliver(t, m)
			if err := w.Mover.Walk(t.Context()); err != nil {
				t.Fatal(err)
			}
			running := w.claim(t)
			if err := deleted(w, t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if n := w.Count(t, `body_moves WHERE remove AND due_at > now() + interval '1 minute'`); n != 2 {
				t.Errorf("%d deletions are waiting for the lease", n)
			}
			if err := w.Mover.SettleMoves(t.Context(), w.Mover.Do(t.Context(), running)); err != nil {
				t.Fatal(err)
			}
			gone("while it was being moved")

			id = w.deliver(t, m)
			if err := w.Mover.Walk(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.Mover.Do(t.Context(), w.claim(t)) // the process dies
			if err := deleted(w, t.Context(), id); err != nil {
				t.Fatal(err)
			}
			gone("written and not settled")

			id = w.deliver(t, m)
			if err := w.Mover.Walk(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := deleted(w, t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if n := w.Count(t, "body_moves"); n != 0 {
				t.Errorf("%d moves are left for an email whose move never began", n)
			}
			gone("before its move began")
		})
	}
}
