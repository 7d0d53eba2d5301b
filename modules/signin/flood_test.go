package signin_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Of a crowd that tries passwords from everywhere, some are hashed for and the others are sent away. What
// those cost is no row, so that mail goes on.
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
			_, err := w.SignIn(requestFrom(t, fmt.Sprintf("11.%d.0.1", i%256)), signin.Credentials{Email: fmt.Sprintf("guess-%d@example.com", i), Password: adasPassword})
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
	const most, least = 5, 3 // of an email, of a pair and a wide one; two who are of one network share its two
	if hashed == 0 || came[fault.Unavailable] == 0 || hashed+came[fault.Unavailable] != crowd || rows > most*hashed || rows < least*hashed || w.Hashes() != int64(hashed) {
		t.Errorf("%d attempts came to %v, with %d hashes and %d rows; want wrong passwords and refusals for want of room, with rows and a hash for the former alone", crowd, came, w.Hashes(), rows)
	}
}

// Who signs in with an email that nobody has gets the same questions asked, and the same hash, as who is known:
// time does not tell them apart.
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
		before := w.Hashes()
		if err := try(email); fault.KindOf(err) != fault.Unauthorized || w.Hashes() != before+1 {
			t.Errorf("%s: %v after %d hashes, want unauthorized after one", email, err, w.Hashes()-before)
		}
	}
	for _, table := range []string{"passwords", "second_factors"} {
		if _, err := w.db.SQL.ExecContext(t.Context(), `ALTER TABLE `+table+` RENAME TO gone`); err != nil {
			t.Fatal(err)
		}
		for _, email := range emails {
			if err := try(email); err == nil || fault.KindOf(err) == fault.Unauthorized {
				t.Errorf("%s without the table %s: %v, want it to be asked", email, table, err)
			}
		}
		if _, err := w.db.SQL.ExecContext(t.Context(), `ALTER TABLE gone RENAME TO `+table); err != nil {
			t.Fatal(err)
		}
	}
}
