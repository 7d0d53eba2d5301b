package domains

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/postrider/postrider/ent/migrate/migrations"
	"github.com/postrider/postrider/modules/domains/signing"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/dkim/dkimtest"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func TestSealedKeyIsBoundToDomainAndRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.add(t, w.ada, "a.example.com"), w.rotate(t, w.add(t, w.ada, "b.example.com"))
	if signing.ActiveKey(a).Selector == signing.ActiveKey(b).Selector || a.OwnershipToken == b.OwnershipToken {
		t.Errorf("two domains have the selectors %s and %s and the tokens %s and %s, want them to differ",
			signing.ActiveKey(a).Selector, signing.ActiveKey(b).Selector, a.OwnershipToken, b.OwnershipToken)
	}
	// An attacker with write access to the table moves keys.
	mine, next := *a.Edges.Keys[0], *b.Edges.Keys[1]
	mine.PrivateKey = b.Edges.Keys[0].PrivateKey
	if _, err := w.keys.Signer(t.Context(), &mine); !errors.Is(err, secret.ErrNotGenuine) {
		t.Errorf("signing with the key of another domain: %v", err)
	}
	next.PrivateKey = b.Edges.Keys[0].PrivateKey
	if _, err := w.keys.Signer(t.Context(), &next); !errors.Is(err, signing.ErrMoved) {
		t.Errorf("signing with another key of the domain: %v", err)
	}
}

func TestDomainWithoutKeyCannotSend(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]string{
		"no key":               `DELETE FROM dkim_keys WHERE domain_id = $1`,
		"only a retired one":   `UPDATE dkim_keys SET state = 'retired', retired_at = now() WHERE domain_id = $1`,
		"only a pending one":   `UPDATE dkim_keys SET state = 'pending' WHERE domain_id = $1`,
		"the sandbox's":        `UPDATE dkim_keys SET private_key = (SELECT k.private_key FROM dkim_keys k JOIN domains d ON d.id = k.domain_id WHERE d.account_id IS NULL) WHERE domain_id = $1`,
		"no secret":            `UPDATE dkim_keys SET private_key = '' WHERE domain_id = $1`,
		"only the Ed25519 one": `UPDATE dkim_keys SET algorithm = 'ed25519-sha256' WHERE domain_id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if _, err := w.EnsureSandbox(t.Context()); err != nil {
				t.Fatal(err)
			}
			d := w.verified(t, w.ada, "example.com")
			w.exec(t, spoil, d.ID)
			identity, err := w.process(t).Identity(t.Context(), w.ada, mailbox(t, "a@example.com"))
			if err == nil || identity.Key != nil || identity.Domain != "" {
				t.Errorf("Identity returned %+v, %v, want an error", identity, err)
			}
		})
	}
}

// Migrates a database in which a domain's row contained its key, sealed with the id of the domain.
func TestMigratesKeysToTheirOwnTable(t *testing.T) {
	t.Parallel()
	const moved = "20261121104344_domain_keys_in_use.sql"
	old, err := db.Open(t.Context(), db.Config{URL: dbtest.EmptyURL(t), Connections: 8}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := old.Close(); err != nil {
			t.Error(err)
		}
	})
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	apply := func(wanted func(string) bool) {
		for _, name := range names {
			if !wanted(name) {
				continue
			}
			script, err := fs.ReadFile(migrations.Files, name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := old.SQL.ExecContext(t.Context(), string(script)); err != nil {
				t.Fatalf("the migration %s failed: %v", name, err)
			}
		}
	}
	apply(func(name string) bool { return name < moved })

	w := newWorld(t)
	key, err := dkimtest.Key()
	if err != nil {
		t.Fatal(err)
	}
	private, err := dkim.MarshalPrivate(key)
	if err != nil {
		t.Fatal(err)
	}
	const id = "dom_01kf0m4w7he6x8q2v5b3n9c1ta"
	const insert = `INSERT INTO domains (id, name, status, ownership_token, dkim_selector, dkim_private_key, dkim_public_key, records)
		VALUES ($1, 'sandbox.postrider.example', 'verified', 'x', 'pr1old', $2, $3, $4)`
	records := `[{"purpose":"ownership","status":"verified","found":[],"error":""},{"purpose":"dkim","status":"verified","found":["a"],"error":""}]`
	sealed := w.box.Seal(private, []byte("domains/"+id+"/dkim"))
	if _, err := old.SQL.ExecContext(t.Context(), insert, id, sealed, dkim.PublicKey(key), records); err != nil {
		t.Fatal(err)
	}
	apply(func(name string) bool { return name >= moved })

	w.db = old
	s := w.process(t)
	identity, err := s.Identity(t.Context(), w.ada, mailbox(t, "a@sandbox.postrider.example"))
	if err != nil || identity.Selector != "pr1old" || identity.DomainID != id {
		t.Fatalf("after the migration, the identity is %+v, %v, want the domain %s with the selector pr1old",
			identity, err, id)
	}
	signed, err := dkim.Sign([]byte("From: a@sandbox.postrider.example\r\n\r\nx\r\n"), identity.Signers()...)
	if err != nil {
		t.Fatal(err)
	}
	signatures, err := dkim.Verify(signed,
		func(string) ([]string, error) { return []string{dkim.PublicRecord(key)}, nil })
	if err != nil || len(signatures) != 1 || signatures[0].Err != nil {
		t.Errorf("mail signed with a migrated key verifies as %+v, %v, want one valid signature", signatures, err)
	}
	row := old.Ent.Domain.Query().WithKeys(signing.LoadListedKeys).OnlyX(t.Context())
	if key := signing.ActiveKey(row); !key.Ready || key.ActivatedAt == nil || len(row.Records) != 2 ||
		row.Records[0].Selector != "" {
		t.Errorf("after the migration, the key is %+v and the records are %+v, want a ready key with its time and "+
			"two records without selector", key, row.Records)
	}
}
