package hosts

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/trackinghost"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/event"
)

// registry is a fake of the domains module.
type registry map[string]*ent.Domain

func (r registry) Get(_ context.Context, accountID, domainID string) (*ent.Domain, error) {
	if d := r[domainID]; d != nil && *d.AccountID == accountID {
		return d, nil
	}
	return nil, fault.NoSuch("domain", domainID)
}

func (r registry) add(accountID, name string, status domain.Status) string {
	domainID := id.New(id.Domain)
	r[domainID] = &ent.Domain{ID: domainID, AccountID: &accountID, Name: name, Status: status}
	return domainID
}

const testTarget = "mail.example.org"

type world struct {
	*Service

	registry registry
	zone     *dnsxtest.Server
	db       *db.DB
	ada, eve string // account ids
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{registry: registry{}, zone: dnsxtest.New(t), db: dbtest.New(t), ada: id.New(id.Account),
		eve: id.New(id.Account)}
	resolver, err := dnsx.New(dnsx.Config{Server: w.zone.Addr(), Timeout: 5 * time.Second, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.Service, err = New(Params{Config: Config{BaseURL: "https://mail.example.com", Target: testTarget,
		Own: []string{"our.shop.example"}}, DB: w.db, Domains: w.registry,
		Resolver: resolver, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) setHost(t *testing.T, accountID, domainID, host string) Host {
	t.Helper()
	h, err := w.Set(t.Context(), accountID, domainID, HostInput{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (w *world) verifyHost(t *testing.T, accountID, domainID string) Host {
	t.Helper()
	h, err := w.Verify(t.Context(), accountID, domainID)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (w *world) ageState(t *testing.T, domainID, interval string) {
	t.Helper()
	if _, err := w.db.SQL.ExecContext(t.Context(),
		`UPDATE tracking_hosts SET failing_since = failing_since - $2::interval WHERE domain_id = $1`, domainID, interval); err != nil {
		t.Fatal(err)
	}
}

func TestVerifiesHostByCNAME(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := w.registry.add(w.ada, "shop.example", domain.StatusVerified)
	h := w.setHost(t, w.ada, shop, " Links.Shop.Example. ")
	if h.Host != "links.shop.example" || h.Status != trackinghost.StatusPending || h.Target != testTarget ||
		h.Certificate.Status != CertificateUnavailable || h.DueAt == nil {
		t.Errorf("after Set the host is %+v", h)
	}
	h = w.verifyHost(t, w.ada, shop)
	if h.Status != trackinghost.StatusPending || len(h.Found) != 0 ||
		!strings.Contains(h.Error, "Publish a CNAME record at links.shop.example that points to "+testTarget) ||
		h.LastCheckedAt == nil {
		t.Errorf("without a record the host is %+v", h)
	}
	w.zone.Set(t, "links.shop.example", "links.shop.example. 60 IN CNAME elsewhere.example.")
	if h = w.verifyHost(t, w.ada, shop); h.Status != trackinghost.StatusPending ||
		!cmp.Equal(h.Found, []string{"elsewhere.example"}) ||
		!strings.Contains(h.Error, "It currently points to elsewhere.example") {
		t.Errorf("with another record the host is %+v", h)
	}
	w.zone.Set(t, "elsewhere.example", "elsewhere.example. 60 IN CNAME "+strings.ToUpper(testTarget)+".")
	if h = w.verifyHost(t, w.ada, shop); h.Status != trackinghost.StatusVerified || h.Error != "" ||
		h.VerifiedAt == nil ||
		!cmp.Equal(h.Found, []string{"elsewhere.example", testTarget}) {
		t.Errorf("with a CNAME chain to the target the host is %+v", h)
	}
	// Setting the same host again changes nothing; another host starts over.
	if again := w.setHost(t, w.ada, shop, "links.shop.example"); again.Status != trackinghost.StatusVerified {
		t.Errorf("after setting the same host again it is %+v", again)
	}
	if other := w.setHost(t, w.ada, shop, "go.shop.example"); other.Status != trackinghost.StatusPending ||
		other.VerifiedAt != nil || len(other.Found) != 0 {
		t.Errorf("after setting another host it is %+v", other)
	}
}

// A new host is shown a target of its own. Both targets are accepted, and the one that is published is shown.
func TestHostMayPointToItsOwnTarget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.registry.add(w.ada, "old.example", domain.StatusVerified)
	w.setHost(t, w.ada, old, "links.old.example")
	w.zone.Set(t, "links.old.example", "links.old.example. 60 IN CNAME "+testTarget+".")
	w.verifyHost(t, w.ada, old)
	w.config.OwnTargets = true
	if h := w.verifyHost(t, w.ada, old); h.Status != trackinghost.StatusVerified || h.Target != testTarget {
		t.Errorf("an existing host is %+v, want it verified with the target %s", h, testTarget)
	}
	shop := w.registry.add(w.ada, "shop.example", domain.StatusVerified)
	own := w.setHost(t, w.ada, shop, "links.shop.example").Target
	if !strings.HasSuffix(own, ".t."+testTarget) {
		t.Fatalf("a new host is shown the target %s, want a name below t.%s", own, testTarget)
	}
	if h := w.verifyHost(t, w.ada, shop); !strings.Contains(h.Error, "points to "+own) {
		t.Errorf("without a record, the advice is %q, want the target %s", h.Error, own)
	}
	w.zone.Set(t, "links.shop.example", "links.shop.example. 60 IN CNAME "+own+".")
	if h := w.verifyHost(t, w.ada, shop); h.Status != trackinghost.StatusPending || h.FailingSince != nil ||
		!strings.Contains(h.Error, "operator of this mail service: there is no CNAME record at "+own) {
		t.Errorf("without the wildcard record, the host is %+v, want it pending because of the operator", h)
	}
	w.zone.Add(t, "*.t."+testTarget+". CNAME "+testTarget+".")
	h := w.verifyHost(t, w.ada, shop)
	if h.Status != trackinghost.StatusVerified || h.Target != own || !cmp.Equal(h.Found, []string{own, testTarget}) {
		t.Errorf("with the wildcard record, the host is %+v, want it verified with the target %s", h, own)
	}
	w.zone.Remove("*.t." + testTarget)
	if h = w.verifyHost(t, w.ada, shop); h.Status != trackinghost.StatusVerified || h.FailingSince != nil {
		t.Errorf("after the operator removed the wildcard record, the host is %+v, want it still verified", h)
	}
}

func TestVerifiedHostFailsAfterGracePeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := w.registry.add(w.ada, "shop.example", domain.StatusVerified)
	w.setHost(t, w.ada, shop, "links.shop.example")
	record := "links.shop.example. 60 IN CNAME " + testTarget + "."
	w.zone.Set(t, "links.shop.example", record)
	first := w.verifyHost(t, w.ada, shop)

	w.zone.Fault("links.shop.example", dnsxtest.ServFail)
	if h := w.verifyHost(t, w.ada, shop); h.Status != trackinghost.StatusVerified || h.FailingSince != nil ||
		!h.LastCheckedAt.Equal(*first.LastCheckedAt) || len(h.Found) != 1 || h.Error == "" {
		t.Errorf("after a lookup without an answer the host is %+v", h)
	}
	w.zone.Fault("links.shop.example", 0)
	w.zone.Set(t, "links.shop.example")
	if h := w.verifyHost(t, w.ada, shop); h.Status != trackinghost.StatusVerified || h.FailingSince == nil {
		t.Errorf("with the record missing the host is %+v", h)
	}
	w.ageState(t, shop, "71 hours")
	if h := w.verifyHost(t, w.ada, shop); h.Status != trackinghost.StatusVerified {
		t.Errorf("with the record missing for 71 h the host is %+v", h)
	}
	w.ageState(t, shop, "2 hours")
	w.zone.Fault("links.shop.example", dnsxtest.ServFail)
	if h := w.verifyHost(t, w.ada, shop); h.Status != trackinghost.StatusVerified {
		t.Errorf("a lookup without an answer changed the status to %s", h.Status)
	}
	w.zone.Fault("links.shop.example", 0)
	if h := w.verifyHost(t, w.ada, shop); h.Status != trackinghost.StatusFailed {
		t.Errorf("with the record missing for 73 h the host is %+v", h)
	}
	w.zone.Set(t, "links.shop.example", record)
	if h := w.verifyHost(t, w.ada, shop); h.Status != trackinghost.StatusVerified || h.FailingSince != nil {
		t.Errorf("with the record present again the host is %+v", h)
	}
}

func TestBackgroundCheckVerifiesHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := w.registry.add(w.ada, "shop.example", domain.StatusVerified)
	w.setHost(t, w.ada, shop, "links.shop.example")
	w.zone.Set(t, "links.shop.example", "links.shop.example. 60 IN CNAME "+testTarget+".")
	if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE tracking_hosts SET due_at = now()`); err != nil {
		t.Fatal(err)
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var h Host
	expect.EventuallyWithin(t, 20*time.Second, "the host is verified", func() (done bool) {
		var err error
		if h, err = w.Get(t.Context(), w.ada, shop); err != nil {
			t.Fatal(err)
		}
		return h.Status == trackinghost.StatusVerified
	})
	if next := time.Until(*h.DueAt); next < 10*time.Hour {
		t.Errorf("the next check is due in %s", next)
	}
	if err := w.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// A manual check or a new name overtakes a check in progress.
func TestOvertakenCheckStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := w.registry.add(w.ada, "shop.example", domain.StatusVerified)
	w.setHost(t, w.ada, shop, "links.shop.example")
	claim := func() []job {
		if _, err := w.db.SQL.ExecContext(t.Context(), `UPDATE tracking_hosts SET due_at = now()`); err != nil {
			t.Fatal(err)
		}
		jobs, err := w.claim(t.Context(), 10, time.Minute)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("claim returned %v, %v; want the one due host", jobs, err)
		}
		return jobs
	}
	for name, overtake := range map[string]func(){
		"verify":   func() { w.verifyHost(t, w.ada, shop) },
		"set":      func() { w.setHost(t, w.ada, shop, "go.shop.example") },
		"released": func() {},
	} {
		jobs := claim()
		overtake()
		if name == "released" {
			if err := w.release(t.Context(), jobs); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.storeChecks(t.Context(), []checkedHost{{jobs[0], sighting{points: true}}}); err != nil {
			t.Fatal(err)
		}
		if h, err := w.Get(t.Context(), w.ada, shop); err != nil || h.Status != trackinghost.StatusPending {
			t.Errorf("%s: after an overtaken check the host is %+v, %v, want pending", name, h, err)
		}
	}
}

func TestRefusesInvalidHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop := w.registry.add(w.ada, "shop.example", domain.StatusVerified)
	for host, want := range map[string]string{"": "is required",
		"shop.example": "must be a name below shop.example, such as links.shop.example", "links.other.example": "must be a name below",
		"xshop.example": "must be a name below", "rp.shop.example": "cannot be the return path",
		"our.shop.example": "cannot be a host of this service", "a b.shop.example": "",
		"links.shop.example:8080": "", "https://links.shop.example": "", "*.shop.example": "", "192.0.2.1": "",
		strings.Repeat("a", 64) + ".shop.example": "", "a\nb.shop.example": ""} {
		_, err := w.Set(t.Context(), w.ada, shop, HostInput{Host: host})
		if fields := fault.Classify(err).Fields; fields["host"] == "" || !strings.Contains(fields["host"], want) {
			t.Errorf("Set(%q) returned %v, want an error in field host that contains %q", host, err, want)
		}
	}
	pending := w.registry.add(w.ada, "new.example", domain.StatusPending)
	if _, err := w.Set(t.Context(), w.ada, pending, HostInput{Host: "links.new.example"}); fault.Classify(err).
		Code != fault.CodeDomainNotVerified {
		t.Errorf("Set for an unverified domain returned %v", err)
	}
	w.config.Target = ""
	if _, err := w.Set(t.Context(), w.ada, shop, HostInput{Host: "links.shop.example"}); fault.Classify(err).
		Code != fault.CodeConflict {
		t.Errorf("Set without a configured target returned %v", err)
	}
}

func TestHostsAreIsolatedByAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shop, sub := w.registry.add(w.ada, "shop.example", domain.StatusVerified), w.registry.add(w.eve, "sub.shop.example",
		domain.StatusVerified)
	w.setHost(t, w.ada, shop, "go.sub.shop.example")
	for name, err := range map[string]error{
		"get":    errorOf(w.Get(t.Context(), w.eve, shop)),
		"verify": errorOf(w.Verify(t.Context(), w.eve, shop)),
		"delete": w.Delete(t.Context(), w.eve, shop),
		"set":    errorOf(w.Set(t.Context(), w.eve, shop, HostInput{Host: "x.shop.example"})),
		"none":   errorOf(w.Get(t.Context(), w.eve, sub)),
		"remove": w.Delete(t.Context(), w.eve, sub),
	} {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s of another account's host returned %v, want not found", name, err)
		}
	}
	if _, err := w.Set(t.Context(), w.eve, sub, HostInput{Host: "go.sub.shop.example"}); fault.Classify(err).
		Code != fault.CodeConflict {
		t.Errorf("Set of a taken host returned %v, want a conflict", err)
	}
	// The name is free once its owner's domain is no longer valid.
	w.registry[shop].Status = domain.StatusFailed
	w.setHost(t, w.eve, sub, "go.sub.shop.example")
	if _, err := w.Get(t.Context(), w.ada, shop); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the former owner still has the host: %v", err)
	}
	if err := w.Delete(t.Context(), w.eve, sub); err != nil {
		t.Error(err)
	}
}

func errorOf[T any](_ T, err error) error { return err }

func TestDeletingDomainDeletesHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, typ := range []event.Type{event.DomainDeleted, event.DomainLost} {
		shop := w.registry.add(w.ada, "shop.example", domain.StatusVerified)
		w.setHost(t, w.ada, shop, "links.shop.example")
		fact := event.New(w.ada, typ, time.Now(), event.Domain{DomainID: shop, Name: "shop.example"})
		stranger := event.New(w.eve, typ, time.Now(), event.Domain{DomainID: shop, Name: "shop.example"})
		if err := w.handle(t.Context(), w.db.SQL, stranger); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Get(t.Context(), w.ada, shop); err != nil {
			t.Errorf("%s of another account deleted the host: %v", typ, err)
		}
		if err := w.handle(t.Context(), w.db.SQL, fact); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Get(t.Context(), w.ada, shop); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s did not delete the host: %v", typ, err)
		}
	}
}
