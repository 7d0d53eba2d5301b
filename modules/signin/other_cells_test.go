package signin_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/cells"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// keyOfCells signs the requests in these tests.
var keyOfCells = [][]byte{[]byte("the key of all cells")}

// cell is a world that other cells reach.
type cell struct {
	*world

	url   string
	asked atomic.Int64 // requests of other cells
	down  atomic.Bool
}

// startCells starts n cells, of which the first asks all others.
func startCells(t *testing.T, n int) []*cell {
	t.Helper()
	list := make([]*cell, n)
	for i := range list {
		c := &cell{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.asked.Add(1)
			body, err := io.ReadAll(r.Body)
			if err != nil || r.URL.Path != cells.Path || c.down.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			response, err := c.SendResetsFor(r.Context(), body, r.Header.Get(origins.SignatureHeader))
			if err != nil {
				t.Error(err)
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			if _, err := w.Write(response); err != nil {
				t.Error(err)
			}
		}))
		t.Cleanup(server.Close)
		c.url, list[i] = server.URL, c
	}
	for i, c := range list {
		c.world = newWorld(t, func(config *signin.Config) {
			config.BaseURL, config.Cells.Keys = c.url, keyOfCells
			for j, other := range list {
				if i != j {
					config.Cells.Others = append(config.Cells.Others, other.url)
				}
			}
		})
	}
	return list
}

// mailsOf returns "kind to address" of the emails that a cell sends now.
func (c *cell) mailsOf(t *testing.T) (list []string) {
	t.Helper()
	for _, m := range c.sendDueMail(t) {
		list = append(list, string(m.Kind)+" to "+m.To)
	}
	return list
}

func (c *cell) waiting(t *testing.T) int {
	t.Helper()
	return dbtest.Count(t, c.db, `SELECT count(*) FROM sign_in_links WHERE due_at IS NOT NULL`)
}

// A password can be reset at any cell. The email leads to the cell of the user, and an address that no cell knows gets
// none.
func TestPasswordResetAtAnotherCell(t *testing.T) {
	t.Parallel()
	list := startCells(t, 3)
	here, there, third := list[0], list[1], list[2]
	there.setUp(t) // ada@example.com
	for _, email := range []string{"Ada@example.com", "nobody@example.com"} {
		if err := here.RequestPasswordReset(t.Context(), email); err != nil {
			t.Fatal(err)
		}
	}
	if got := here.mailsOf(t); len(got) > 0 || here.waiting(t) > 0 {
		t.Errorf("the cell without the user sent %v, and keeps %d requests", got, here.waiting(t))
	}
	if got := there.mailsOf(t); len(got) != 1 || got[0] != "reset to ada@example.com" {
		t.Fatalf("the cell of the user sent %v, want one reset", got)
	}
	m := there.box.mails[len(there.box.mails)-1]
	if m.BaseURL != there.url {
		t.Errorf("the link leads to %s, want %s", m.BaseURL, there.url)
	}
	if _, err := there.ResetPassword(t.Context(), m.Token.Reveal(), "a completely new password"); err != nil {
		t.Error(err)
	}
	if got := third.mailsOf(t); len(got) > 0 || third.asked.Load() != 1 {
		t.Errorf("the third cell was asked %d times, want once, and sent %v", third.asked.Load(), got)
	}
	if here.asked.Load() > 0 || there.asked.Load() != 1 {
		t.Errorf("the cells were asked %d and %d times, want 0 and 1", here.asked.Load(), there.asked.Load())
	}

	there.sendDueMail(t) // about the new password
	third.down.Store(true)
	if err := here.RequestPasswordReset(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	if a, b := here.mailsOf(t), there.mailsOf(t); len(a) > 0 || len(b) != 1 || here.waiting(t) > 0 {
		t.Errorf("with another cell down, the cells sent %v and %v, and %d requests wait; want one reset", a, b, here.waiting(t))
	}
	dbtest.Exec(t, there.db, `UPDATE users SET disabled_at = now()`)
	if err := here.RequestPasswordReset(t.Context(), "ada@example.com"); err != nil {
		t.Fatal(err)
	}
	if a, b := here.mailsOf(t), there.mailsOf(t); len(a)+len(b) > 0 {
		t.Errorf("a disabled user got %v %v", a, b)
	}
}

// A cell that is down is asked again later, and delays nothing else.
func TestPasswordResetWhileACellIsDown(t *testing.T) {
	t.Parallel()
	list := startCells(t, 2)
	here, there := list[0], list[1]
	there.setUp(t)
	there.down.Store(true)
	for _, email := range []string{"ada@example.com", "bob@example.com"} {
		if err := here.RequestPasswordReset(t.Context(), email); err != nil {
			t.Fatal(err)
		}
	}
	retry := func() { dbtest.Exec(t, here.db, `UPDATE sign_in_links SET due_at = now() WHERE due_at IS NOT NULL`) }
	post := func() {
		if err := here.Post(t.Context()); err != nil {
			t.Fatal(err)
		}
		retry()
	}
	for range 3 {
		post()
	}
	if here.waiting(t) != 2 || there.asked.Load() != 1 {
		t.Errorf("%d requests wait, want 2; the cell was asked %d times, want once before the pause", here.waiting(t), there.asked.Load())
	}
	// No cell is asked forever.
	for range 3 {
		post()
	}
	if n := here.waiting(t); n > 0 {
		t.Errorf("%d requests wait after the last attempt", n)
	}
}

// Only another cell can cause mail this way.
func TestRequestsOfStrangersSendNoResets(t *testing.T) {
	t.Parallel()
	list := startCells(t, 1)
	w := list[0]
	w.setUp(t)
	alone := newWorld(t)
	body := func(age time.Duration, emails ...string) []byte {
		text, err := json.Marshal(map[string]any{"emails": emails, "at": time.Now().Add(-age)})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	sign := func(body []byte) string { return origins.Sign(keyOfCells[0], body) }
	fresh, old := body(0, "ada@example.com"), body(time.Hour, "ada@example.com")
	future, empty := body(-time.Hour, "ada@example.com"), body(0)
	many := body(0, strings.Split(strings.Repeat("ada@example.com,", cells.MaxEmails), ",")...)
	for name, c := range map[string]struct {
		at        *world
		body      []byte
		signature string
		kind      fault.Kind
	}{
		"without a signature":     {w.world, fresh, "", fault.Invalid},
		"with another signature":  {w.world, fresh, sign(old), fault.Invalid},
		"of the past":             {w.world, old, sign(old), fault.Invalid},
		"of the future":           {w.world, future, sign(future), fault.Invalid},
		"with too many addresses": {w.world, many, sign(many), fault.Invalid},
		"without addresses":       {w.world, empty, sign(empty), fault.Invalid},
		"not JSON":                {w.world, []byte("x"), sign([]byte("x")), fault.Invalid},
		"to one without cells":    {alone, fresh, sign(fresh), fault.NotFound},
	} {
		if got, err := c.at.SendResetsFor(t.Context(), c.body, c.signature); fault.KindOf(err) != c.kind {
			t.Errorf("a request %s returned %s, %v; want kind %v", name, got, err, c.kind)
		}
	}
	if got := w.mailsOf(t); len(got) > 0 {
		t.Errorf("these requests sent %v", got)
	}
	if got, err := w.SendResetsFor(t.Context(), fresh, sign(fresh)); err != nil || string(got) != `{"known":["ada@example.com"]}` {
		t.Errorf("a request of a cell returned %s, %v", got, err)
	}
	if got := w.mailsOf(t); len(got) != 1 {
		t.Errorf("a request of a cell sent %v", got)
	}
}
