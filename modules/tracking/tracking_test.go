package tracking

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/engagement"
	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/accounts/origins/originstest"
	"github.com/postrider/postrider/modules/tracking/linkrules"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/event"
)

// listener records announcements.
type listener struct {
	mutex sync.Mutex
	told  []event.Email
	types []event.Type
	woken int
	fails error
}

func (l *listener) Announce(_ context.Context, _ db.Execer, seen []Announcement) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.fails != nil {
		return 0, l.fails
	}
	for _, s := range seen {
		e := event.Email{EmailID: s.EmailID}
		s.Fill(&e)
		l.told, l.types = append(l.told, e), append(l.types, s.Type)
	}
	return len(seen), nil
}

func (l *listener) Wake() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.woken++
}

func quietLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

type world struct {
	*Service
	*listener

	db       *db.DB
	home     *originstest.Installation
	ada, eve string // account ids
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, pinnedKey(t))
}

// newWorldWith starts an installation with these master keys, from and to which accounts can move.
func newWorldWith(t *testing.T, box *secret.Box) *world {
	t.Helper()
	w := &world{listener: &listener{}, db: dbtest.New(t), ada: id.New(id.Account), eve: id.New(id.Account)}
	w.home = originstest.New(t, w.db, box)
	rules := linkrules.New(linkrules.Params{Config: linkrules.Config{OwnHosts: []string{"mail.example.org",
		"old.example.org"}, Refresh: time.Nanosecond}, DB: w.db, Logger: quietLogger()})
	var err error
	w.Service, err = New(Params{Rules: rules, Config: Config{BaseURL: testBase}, DB: w.db, Bus: w.listener,
		Announcer: w.listener, Box: box, Origins: w.home.Origins, Logger: quietLogger(), Registry: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	w.home.Witnesses[origins.TrackedLink] = w.Confirm
	return w
}

// addEmail stores an email of the account.
func (w *world) addEmail(t *testing.T, accountID string) string {
	t.Helper()
	emailID := id.New(id.Email)
	_, err := w.db.SQL.ExecContext(t.Context(), `INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", subject, message_id, status, last_event)
		VALUES ($1, $2, 'dom_1', 'a@b.c', 'a@b.c', '["x@y.z"]', 'Hello', $1, 'sent', 'email.sent')`, emailID, accountID)
	if err != nil {
		t.Fatal(err)
	}
	return emailID
}

func (w *world) listStored(t *testing.T) []*ent.Engagement {
	t.Helper()
	rows, err := w.db.Ent.Engagement.Query().Order(ent.Asc(engagement.FieldID)).All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func hitFor(kind TokenKind, accountID, emailID string) hit {
	h := hit{mark: LinkToken{Kind: kind, AccountID: accountID, EmailID: emailID}, ip: "192.0.2.7", agent: "Mail/1.0",
		at: time.Now()}
	if kind == Click {
		h.mark.Target = "https://example.com/a"
	}
	return h
}

func TestRecordsAndAnnouncesVisits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	emailID := w.addEmail(t, w.ada)
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, kind := range []TokenKind{Open, Click} {
		mark := hitFor(kind, w.ada, emailID).mark
		w.Record(Visit{Mark: mark, IP: netip.MustParseAddr("::ffff:192.0.2.7"), UserAgent: "curl/8"})
	}
	expect.EventuallyWithin(t, 20*time.Second, "both visits are announced", func() bool {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		return len(w.told) == 2 && w.woken > 0
	})
	// The announcement has not committed yet; Stop waits for it.
	if err := w.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if w.types[0] != event.EmailOpened || w.types[1] != event.EmailClicked {
		t.Errorf("announced %v, want an open and a click", w.types)
	}
	if got := *w.told[0].Open; got != (event.Open{IP: "192.0.2.7", UserAgent: "curl/8", Machine: true}) {
		t.Errorf("open: %+v", got)
	}
	if got := *w.told[1].Click; got != (event.Click{URL: "https://example.com/a", IP: "192.0.2.7", UserAgent: "curl/8",
		Machine: true}) {
		t.Errorf("click: %+v", got)
	}
	rows := w.listStored(t)
	if len(rows) != 2 || rows[0].URL != nil || *rows[1].URL != "https://example.com/a" || rows[0].Machine != "bot" ||
		rows[1].AccountID != w.ada {
		t.Fatalf("stored %+v", rows)
	}
	// A click is held for a second, but keeps its original time.
	if late := rows[1].CreatedAt.Sub(began); late > burstWindow/2 && late > time.Since(began)-burstWindow/2 {
		t.Errorf("the stored time of the click is %s late", late)
	}
}

func TestIgnoresVisitsOfUnknownEmails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	emailID := w.addEmail(t, w.ada)
	err := w.storeHits(t.Context(), []hit{hitFor(Open, w.ada, id.New(id.Email)), hitFor(Click, w.eve, emailID),
		hitFor(Open, w.ada, emailID)})
	if rows := w.listStored(t); err != nil || len(rows) != 1 || rows[0].EmailID != emailID ||
		rows[0].AccountID != w.ada ||
		len(w.told) != 1 {
		t.Errorf("%v: stored %+v and announced %v; want only the open of Ada's email", err, rows, w.told)
	}
}

func TestLimitsVisitsPerEmail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	emailID, other := w.addEmail(t, w.ada), w.addEmail(t, w.ada)
	for range 5 {
		batch := []hit{hitFor(Open, w.ada, other)}
		for range 240 {
			batch = append(batch, hitFor(Open, w.ada, emailID))
		}
		if err := w.storeHits(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	counts := map[string]int{}
	for _, row := range w.listStored(t) {
		counts[row.EmailID]++
	}
	if counts[emailID] != maxEngagements || counts[other] != 5 || len(w.told) != maxEngagements+5 {
		t.Errorf("%v visits were recorded and %d announced", counts, len(w.told))
	}
}

func TestFailedAnnouncementRecordsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fails = fmt.Errorf("no")
	if err := w.storeHits(t.Context(), []hit{hitFor(Open, w.ada, w.addEmail(t, w.ada))}); err == nil ||
		len(w.listStored(t)) != 0 || w.woken != 0 {
		t.Errorf("recording with a failing announcer returned %v and stored %d visits; want an error and none", err,
			len(w.listStored(t)))
	}
}

func TestConcurrentProcessesRecordSameEmails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := []string{w.addEmail(t, w.ada), w.addEmail(t, w.ada), w.addEmail(t, w.ada)}
	var all sync.WaitGroup
	for process := range 4 {
		all.Go(func() {
			for round := range 10 {
				batch := make([]hit, len(ids))
				for i := range ids {
					batch[i] = hitFor(Open, w.ada, ids[(i+process+round)%len(ids)])
				}
				if err := w.storeHits(t.Context(), batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := len(w.listStored(t)); got != 120 {
		t.Errorf("%d of 120 visits were recorded", got)
	}
}

func TestDeletionIsIsolatedByAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, other, eves := w.addEmail(t, w.ada), w.addEmail(t, w.ada), w.addEmail(t, w.eve)
	if err := w.storeHits(t.Context(), []hit{hitFor(Open, w.ada, mine), hitFor(Click, w.ada, mine),
		hitFor(Open, w.ada, other), hitFor(Open, w.eve, eves)}); err != nil {
		t.Fatal(err)
	}
	if n, err := w.DeleteFor(t.Context(), w.ada, []string{mine, eves, "msg_none"}); n != 2 || err != nil {
		t.Errorf("DeleteFor returned %d, %v; want only the 2 visits of Ada's email", n, err)
	}
	if n, err := w.DeleteFor(t.Context(), w.ada, nil); n != 0 || err != nil {
		t.Errorf("DeleteFor without emails returned %d, %v; want 0", n, err)
	}
	if rows := w.listStored(t); len(rows) != 2 || rows[0].EmailID != other || rows[1].EmailID != eves {
		t.Errorf("%+v remain; want those of the other email and of Eve's", rows)
	}
}

func TestReadsVisitsByEmailAndAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, other, eves := w.addEmail(t, w.ada), w.addEmail(t, w.ada), w.addEmail(t, w.eve)
	machine := hitFor(Click, w.ada, mine)
	machine.machine = "bot"
	if err := w.storeHits(t.Context(), []hit{hitFor(Open, w.ada, mine), hitFor(Open, w.ada, mine), machine,
		hitFor(Click, w.ada, other), hitFor(Open, w.eve, eves)}); err != nil {
		t.Fatal(err)
	}
	counts, err := w.Counts(t.Context(), w.ada, mine, other, eves)
	if err != nil || len(counts) != 2 || counts[mine] != (Counts{Opens: 2, Clicks: 1, MachineClicks: 1}) ||
		counts[other] != (Counts{Clicks: 1}) {
		t.Errorf("Counts returned %+v, %v; want two opens, one click and one machine click, and one click of the other email",
			counts, err)
	}
	groups := []string{"both", "both", "eve's"}
	reach, err := w.GroupReach(t.Context(), w.ada, groups, []string{mine, other, eves})
	if err != nil || len(reach) != 1 || reach["both"] != (Reach{Opened: 1, Clicked: 1}) {
		t.Errorf("GroupReach returned %+v, %v; want one email opened and one clicked, without machines and other accounts",
			reach, err)
	}
	list, err := w.Engagements(t.Context(), w.ada, 2, mine, other, eves)
	if err != nil || len(list) != 2 || len(list[mine]) != 2 || list[mine][0].Machine != "bot" ||
		list[mine][1].Kind != engagement.KindOpen ||
		*list[other][0].URL != "https://example.com/a" || list[other][0].UserAgent != "Mail/1.0" ||
		list[other][0].IP != "192.0.2.7" {
		t.Errorf("Engagements returned %+v, %v; want the latest two of one email, the machine's first, and the click of the other", list, err)
	}
}
