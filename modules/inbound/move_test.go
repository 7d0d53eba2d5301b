package inbound

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/worker"
)

// bucket is an in-memory object store that can be unavailable or store different contents than it was sent.
type bucket struct {
	mu      sync.Mutex
	away    error
	spoil   bool
	objects map[string][]byte
	puts    int
}

func (b *bucket) update(f func()) { b.mu.Lock(); defer b.mu.Unlock(); f() }

func (b *bucket) Put(_ context.Context, key string, from io.ReaderAt, size int64) error {
	data, err := io.ReadAll(io.NewSectionReader(from, 0, size))
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away != nil {
		return b.away
	}
	b.puts++
	b.objects[key] = data
	if b.spoil {
		b.objects[key] = b.objects[key][:len(data)-1]
	}
	return nil
}

func (b *bucket) Get(_ context.Context, key string) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, found := b.objects[key]
	if b.away != nil || !found {
		return nil, errors.Join(b.away, errors.New("no such object"))
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (b *bucket) Delete(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, key)
	return b.away
}

func (b *bucket) size() (n int) { b.update(func() { n = len(b.objects) }); return n }

func newBucketWorld(t *testing.T) (*world, *bucket) {
	t.Helper()
	b := &bucket{objects: map[string][]byte{}}
	return newWorld(t, func(p *Params) { p.Objects = b }), b
}

// countStored returns the number of contents that exist only in the object store.
func (w *world) countStored(t *testing.T) int {
	t.Helper()
	return w.count(t, `SELECT count(*) FROM received_contents WHERE data IS NULL AND object_key IS NOT NULL AND due_at IS NULL`)
}

// makeDue makes retries due immediately.
func (w *world) makeDue(t *testing.T) {
	t.Helper()
	if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE received_contents SET due_at = now() WHERE due_at IS NOT NULL`); err != nil {
		t.Fatal(err)
	}
}

// runMoves claims, executes and settles all due work.
func (w *world) runMoves(t *testing.T) {
	t.Helper()
	jobs, err := w.mover.claim(t.Context(), 10, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	results := make([]worker.Result[move, moveResult], 0, len(jobs))
	for _, j := range jobs {
		var m moveResult
		if j.remove {
			m.err = w.contents.objects.Delete(t.Context(), j.key)
		} else {
			m.err = w.mover.upload(t.Context(), j)
		}
		results = append(results, worker.Result[move, moveResult]{Job: j, Value: m})
	}
	if err := w.mover.settle(t.Context(), results); err != nil {
		t.Fatal(err)
	}
}

// Mail is received and read while the store is unavailable. When the store is available again, the running
// service moves the contents there. Deleting mail deletes its object.
func TestMovesContentsToObjectStore(t *testing.T) {
	t.Parallel()
	w, b := newBucketWorld(t)
	b.away = errors.New("connection refused")
	w.mustReceive(t, hello, "support@ada.example", "sales@ada.example")
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, 20*time.Second, "the upload is attempted",
		func() bool { return w.count(t, `SELECT count(*) FROM received_contents WHERE attempts > 0`) == 1 })
	e := w.listRecords(t, ada)[0]
	if w.readRaw(t, e) != hello || w.countStored(t) != 0 {
		t.Error("the content is not in the database")
	}
	b.update(func() { b.away = nil })
	expect.EventuallyWithin(t, 20*time.Second, "the content is in the store",
		func() bool { w.makeDue(t); return w.countStored(t) == 1 })
	if w.readRaw(t, e) != hello || b.size() != 1 {
		t.Errorf("the store has %d objects", b.size())
	}

	b.update(func() { b.away = errors.New("connection refused") })
	if _, err := w.Open(t.Context(), e); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("reading while the store is unavailable returned %v", err)
	}
	for _, e := range w.listRecords(t, ada) {
		if err := w.Delete(t.Context(), ada, e.ID); err != nil {
			t.Fatal(err)
		}
	}
	if w.count(t, `SELECT count(*) FROM received_contents WHERE object_key IS NOT NULL`) != 1 {
		t.Error("the object is not queued for deletion")
	}
	b.update(func() { b.away = nil })
	expect.EventuallyWithin(t, 20*time.Second, "the object and its row are deleted", func() bool {
		w.makeDue(t)
		return b.size() == 0 && w.count(t, `SELECT count(*) FROM received_contents`) == 0
	})
}

// A process that dies between an upload and its record loses nothing. The object that it leaves is deleted with
// the content, although no record of the upload exists.
func TestMoverCrashLosesNothing(t *testing.T) {
	t.Parallel()
	w, b := newBucketWorld(t)
	w.mustReceive(t, hello, "support@ada.example")
	dead, err := w.mover.claim(t.Context(), 10, time.Minute)
	if err != nil || len(dead) != 1 {
		t.Fatalf("claim returned %v, %v; want the one message to move", dead, err)
	}
	if err := w.mover.upload(t.Context(), dead[0]); err != nil {
		t.Fatal(err)
	}
	if again, err := w.mover.claim(t.Context(), 10, time.Minute); err != nil || len(again) != 0 {
		t.Errorf("the second claim returned %v, %v; want none", again, err)
	}
	w.makeDue(t) // the lease has expired
	w.runMoves(t)
	if w.countStored(t) != 1 || b.size() != 1 || w.readRaw(t, w.listRecords(t, ada)[0]) != hello {
		t.Errorf("%d contents are in the store as %d objects", w.countStored(t), b.size())
	}
	// The dead process continues with an outdated fence.
	if err := w.mover.settle(t.Context(),
		[]worker.Result[move, moveResult]{{Job: dead[0], Value: moveResult{errors.New("cut")}}}); err != nil ||
		w.countStored(t) != 1 {
		t.Errorf("settling with an old fence returned %v; want no error and the message still in the store", err)
	}

	// If mail is deleted during its upload, the object is deleted once the lease has expired.
	w.mustReceive(t, hello, "sales@ada.example")
	running, err := w.mover.claim(t.Context(), 10, time.Minute)
	if err != nil || len(running) != 1 {
		t.Fatalf("claim returned %v, %v; want only the second message", running, err)
	}
	if err := w.Delete(t.Context(), ada, w.listRecords(t, ada)[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := w.contents.objects.Put(t.Context(), running[0].key, strings.NewReader(hello),
		int64(len(hello))); err != nil {
		t.Fatal(err)
	}
	if n := w.count(t, `SELECT count(*) FROM received_contents WHERE due_at > now() + interval '1 minute' AND data IS NULL`); n != 1 {
		t.Errorf("%d deletions are waiting for the lease", n)
	}
	if err := w.mover.settle(t.Context(), []worker.Result[move, moveResult]{{Job: running[0]}}); err != nil {
		t.Fatal(err)
	}
	w.makeDue(t)
	w.runMoves(t)
	if b.size() != 1 || w.count(t, `SELECT count(*) FROM received_contents`) != 1 {
		t.Errorf("the store has %d objects", b.size())
	}
}

func TestMoveFailsIfStoredObjectDiffers(t *testing.T) {
	t.Parallel()
	w, b := newBucketWorld(t)
	b.spoil = true
	w.mustReceive(t, hello, "support@ada.example")
	w.runMoves(t)
	if w.countStored(t) != 0 || w.readRaw(t, w.listRecords(t, ada)[0]) != hello || b.puts != 1 {
		t.Errorf("%d contents are in the store after %d uploads", w.countStored(t), b.puts)
	}
	b.spoil = false
	w.makeDue(t)
	w.runMoves(t)
	if w.countStored(t) != 1 {
		t.Error("the content is not in the store")
	}
	// Retention deletes the object and keeps the record.
	if n, _, err := w.PurgeContents(t.Context(), ada, "", time.Now().Add(time.Hour), 10); n != 1 || err != nil {
		t.Errorf("the purge of the stored content returned %d, %v; want 1", n, err)
	}
	w.makeDue(t)
	w.runMoves(t)
	if _, err := w.Open(t.Context(), onlyRecord(t, w.listRecords(t, ada))); !errors.Is(err, ErrPurged) || b.size() != 0 {
		t.Errorf("%v, %d objects", err, b.size())
	}
}

func onlyRecord(t *testing.T, list []*ent.ReceivedEmail) *ent.ReceivedEmail {
	t.Helper()
	if len(list) != 1 {
		t.Fatalf("%d records are stored", len(list))
	}
	return list[0]
}
