package addressrules

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

const (
	account  = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	stranger = "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
	domainID = "dom_01kf0m4w7he6x8q2v5b3n9c1ta"
)

// registry is a fake of the domains module with a single domain.
type registry struct{}

func (registry) Get(_ context.Context, accountID, id string) (*ent.Domain, error) {
	if accountID != account || id != domainID {
		return nil, fault.NoSuch("domain", id)
	}
	return &ent.Domain{ID: id}, nil
}

func TestBookUsesLatestRules(t *testing.T) {
	t.Parallel()
	b := NewBook(dbtest.New(t), registry{})
	accepts := func(accountID, local string, want bool) {
		t.Helper()
		if got, err := b.HasAddress(t.Context(), accountID, domainID, local); err != nil || got != want {
			t.Errorf("whether %s exists for %s: got %t, %v; want %t", local, accountID, got, err, want)
		}
	}
	accepts(account, "x", true)
	want := Rules{Rules: []shape.AddressRule{{Match: "support*", Action: Accept}}}
	if _, err := b.Put(t.Context(), account, domainID, want); err != nil {
		t.Fatalf("store rules: %v", err)
	}
	accepts(account, "x", false)
	accepts(account, "Support-de", true)
	// The rules do not apply to another account that takes over the domain.
	accepts(stranger, "x", true)
	got, err := b.Get(t.Context(), account, domainID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("stored rules: error %v, diff (-want +got):\n%s", err, diff)
	}
}

func TestBookRejectsOtherAccountsAndInvalidRules(t *testing.T) {
	t.Parallel()
	b := NewBook(dbtest.New(t), registry{})
	if _, err := b.Get(t.Context(), stranger, domainID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("reading the rules from another account returned %v, want not found", err)
	}
	if _, err := b.Put(t.Context(), stranger, domainID, Rules{}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("replacing the rules from another account returned %v, want not found", err)
	}
	if _, err := b.Put(t.Context(), account, domainID,
		Rules{Rules: []shape.AddressRule{{Match: "", Action: Accept}}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("rules with an empty pattern returned %v, want an Invalid error", err)
	}
}
