package signin_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// In a flood of guesses from many networks, some are hashed and the others are rejected. Rejected attempts
// write no rows, so that the database stays available for mail.
func TestFloodOfGuessesSparesDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const crowd = 400
	var (
		mu   sync.Mutex
		came = map[fault.Kind]int{}
		all  sync.WaitGroup
		gate = make(chan struct{})
	)
	for i := range crowd {
		all.Go(func() {
			<-gate
			_, err := w.SignIn(requestFrom(t, fmt.Sprintf("11.%d.0.1", i%256)),
				signin.Credentials{Email: fmt.Sprintf("guess-%d@example.com", i), Password: adasPassword})
			mu.Lock()
			defer mu.Unlock()
			came[fault.KindOf(err)]++
		})
	}
	close(gate)
	all.Wait()
	rows, err := db.One(t.Context(), w.db.SQL, db.Value[int], `SELECT count(*) FROM sign_in_failures`)
	if err != nil {
		t.Fatal(err)
	}
	hashed := came[fault.Unauthorized]
	// rows per attempt: email, pair, wide pair and two networks, which attempts from one network share
	const most, least = 5, 3
	if hashed == 0 || came[fault.Unavailable] == 0 || hashed+came[fault.Unavailable] != crowd || rows > most*hashed ||
		rows < least*hashed || w.HashCount() != int64(hashed) {
		t.Errorf("%d attempts returned %v and caused %d hashes and %d rows, want rows and hashes only for Unauthorized",
			crowd, came, w.HashCount(), rows)
	}
}

// Sign-ins with unknown and with known emails cost the same queries and the same hash, so response times do
// not reveal which emails are known.
func TestUnknownEmailCostsTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp(t)
	emails := []string{"ada@example.com", "nobody@example.com"}
	try := func(email string) error {
		_, err := w.SignIn(requestFrom(t, "192.0.2.1"), signin.Credentials{Email: email, Password: bobsPassword})
		return err
	}
	for _, email := range emails {
		before := w.HashCount()
		if err := try(email); fault.KindOf(err) != fault.Unauthorized || w.HashCount() != before+1 {
			t.Errorf("%s: %v after %d hashes, want Unauthorized after 1", email, err, w.HashCount()-before)
		}
	}
	for _, table := range []string{"passwords", "second_factors"} {
		if _, err := w.db.SQL.ExecContext(t.Context(), `ALTER TABLE `+table+` RENAME TO gone`); err != nil {
			t.Fatal(err)
		}
		for _, email := range emails {
			if err := try(email); err == nil || fault.KindOf(err) == fault.Unauthorized {
				t.Errorf("%s without table %s: %v, want a database error", email, table, err)
			}
		}
		if _, err := w.db.SQL.ExecContext(t.Context(), `ALTER TABLE gone RENAME TO `+table); err != nil {
			t.Fatal(err)
		}
	}
}
