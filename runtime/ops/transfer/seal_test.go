package transfer

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/ops/transfer/transfertest"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// secretsOf are the places of secrets in the database, with what binds them there.
var secretsOf = map[string]struct{ query, purpose, plain string }{
	"a signing secret":          {`SELECT secret FROM webhooks`, "webhook secret/wh_acc_1", webhooksig.NewSecret()},
	"an earlier secret":         {`SELECT previous_secret FROM webhooks`, "webhook secret/wh_acc_1", webhooksig.NewSecret()},
	"header fields":             {`SELECT headers FROM webhooks`, "webhook headers/wh_acc_1", `{"Authorization":"Bearer swordfish"}`},
	"a smarthost's password":    {`SELECT password FROM smarthosts`, "smarthosts/sh_1/password", "open sesame"},
	"an SMS provider's token":   {`SELECT credentials FROM sms_settings`, "sms/acc_1/credentials", `{"auth_token":"abracadabra"}`},
	"a second factor":           {`SELECT secret FROM second_factors`, "second factor of usr_acc_1", "JBSWY3DPEHPK3PXP"},
	"a stored response":         {`SELECT body FROM idempotency_keys WHERE key = 'sealed'`, "idempotency/acc_1/sealed", `{"secret":"svc_1"}`},
	"keys of earlier moves":     {`SELECT origins FROM accounts`, "accounts/acc_1/origins", `[{"base_url":"https://old.example","key":"xyzzy"}]`},
	"a signing key of a domain": {`SELECT private_key FROM dkim_keys`, "domains/dom_acc_1/dkim", ""}, // in fillSecrets
}

// fillSecrets adds secrets of each kind to an account of transfertest. It returns the private key of its domain.
func fillSecrets(t *testing.T, d *db.DB, box *secret.Box) ed25519.PrivateKey {
	t.Helper()
	transfertest.Fill(t, d, "acc_1")
	transfertest.FillWork(t, d, "acc_1")
	seal := func(of string) []byte {
		return box.Seal([]byte(secretsOf[of].plain), []byte(secretsOf[of].purpose))
	}
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, d, `UPDATE webhooks SET secret = $1, previous_secret = $2, headers = $3`, seal("a signing secret"),
		seal("an earlier secret"), seal("header fields"))
	dbtest.Exec(t, d, `UPDATE accounts SET origins = $1`, seal("keys of earlier moves"))
	dbtest.Exec(t, d, `INSERT INTO smarthosts (id, account_id, host, port, username, password)
		VALUES ('sh_1', 'acc_1', 'relay.example', 587, 'ada', $1)`, seal("a smarthost's password"))
	dbtest.Exec(t, d, `INSERT INTO sms_settings (id, provider, config, credentials, countries)
		VALUES ('acc_1', 'twilio', '{}', $1, '[]')`, seal("an SMS provider's token"))
	dbtest.Exec(t, d, `INSERT INTO second_factors (id, secret) VALUES ('usr_acc_1', $1)`, seal("a second factor"))
	dbtest.Exec(t, d, `INSERT INTO idempotency_keys (account_id, key, request_hash, status, body, created_at, expires_at)
		VALUES ('acc_1', 'sealed', '\x00', 200, $1, now(), now() + interval '1 day'),
			('acc_1', 'open', '\x00', 200, convert_to('{"id":"1"}', 'UTF8'), now(), now() + interval '1 day')`, seal("a stored response"))
	dbtest.Exec(t, d, `INSERT INTO dkim_keys (id, domain_id, selector, algorithm, public_key, private_key, state)
		VALUES ('dk_1', 'dom_acc_1', 's1', 'ed25519-sha256', 'p', $1, 'active')`,
		box.Seal(encoded, []byte(secretsOf["a signing key of a domain"].purpose)))
	dbtest.Exec(t, d, `INSERT INTO suppressions (id, account_id, address_hash, email, reason, created_at) VALUES
		('sup_1', 'acc_1', 'of the source', 'bob@example.net', 'manual', now()), ('sup_2', 'acc_1', 'erased', NULL, 'manual', now())`)
	dbtest.Exec(t, d, `INSERT INTO sms_opt_outs (account_id, number_hash, number, reason) VALUES ('acc_1', 'of the source', '+15550100', 'reply')`)
	return private
}

func value(t *testing.T, d *db.DB, query string, args ...any) []byte {
	t.Helper()
	got, err := db.One(t.Context(), d.SQL, db.Value[[]byte], query, args...)
	if err != nil {
		t.Fatalf("query %s: %v", query, err)
	}
	return got
}

// An installation that does not know the master key of the source uses all secrets of the account, and finds addresses
// by its own hashes.
func TestSecretsMoveWithoutMasterKey(t *testing.T) {
	t.Parallel()
	from, to := dbtest.New(t), dbtest.New(t)
	target := options
	target.Box = transfertest.NewBox()
	private := fillSecrets(t, from, options.Box)
	file, _ := export(t, from, "acc_1", options)
	if _, err := Import(t.Context(), to, bytes.NewReader(file), target); err != nil {
		t.Fatal(err)
	}
	opened := map[string][]byte{}
	for what, s := range secretsOf {
		plain, err := target.Box.Open(value(t, to, s.query), []byte(s.purpose))
		if opened[what] = plain; err != nil || s.plain != "" && string(plain) != s.plain {
			t.Errorf("%s is %q at the target, want %q (%v)", what, plain, s.plain, err)
		}
	}
	if got := value(t, to, `SELECT body FROM idempotency_keys WHERE key = 'open'`); string(got) != `{"id":"1"}` {
		t.Errorf("a response without a secret is %q", got)
	}

	key, err := x509.ParsePKCS8PrivateKey(opened["a signing key of a domain"])
	if signing, is := key.(ed25519.PrivateKey); err != nil || !is ||
		!ed25519.Verify(private.Public().(ed25519.PublicKey), []byte("mail"), ed25519.Sign(signing, []byte("mail"))) {
		t.Errorf("the published key does not verify signatures of the target (%v)", err)
	}
	now := time.Now()
	signature := webhooksig.Sign([]string{string(opened["a signing secret"])}, now, []byte("{}"))
	if err := webhooksig.Verify(secretsOf["a signing secret"].plain, signature, []byte("{}"), now); err != nil {
		t.Errorf("a webhook of the target: %v", err)
	}

	for table, of := range map[string]struct{ query, purpose, clear string }{
		"suppressions": {`SELECT address_hash FROM suppressions WHERE email IS NOT NULL`, "suppression addresses", "bob@example.net"},
		"sms_opt_outs": {`SELECT number_hash FROM sms_opt_outs`, "sms numbers", "+15550100"},
	} {
		h := hmac.New(sha256.New, target.Box.Derive(of.purpose))
		h.Write([]byte(of.clear))
		if got := value(t, to, of.query); !bytes.Equal(got, h.Sum(nil)) {
			t.Errorf("%s has the hash %x, which the target does not find", table, got)
		}
	}
	if got := value(t, to, `SELECT address_hash FROM suppressions WHERE email IS NULL`); string(got) != "erased" {
		t.Errorf("the hash of an erased address became %q", got)
	}
}

// A file contains no secret in clear, nothing that only the master key of the source opens, and no move code.
func TestFileContainsNoOpenSecret(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	private := fillSecrets(t, d, options.Box)
	dbtest.Exec(t, d, `UPDATE accounts SET move_code = 'mv_code'`)
	file, _ := export(t, d, "acc_1", options)
	parts := entriesOf(t, file)
	if len(parts["tables/webhooks/1.jsonl"]) == 0 || len(parts["tables/accounts/1.jsonl"]) == 0 {
		t.Fatal("the file does not contain the tables")
	}
	sealedHere := options.Box.Seal(nil, nil)[:5] // as are all values under this key
	hidden := []string{string(private.Seed()), string(sealedHere), "mv_code", options.Secret.Setting().Reveal()}
	for _, s := range secretsOf {
		if s.plain != "" {
			hidden = append(hidden, s.plain)
		}
	}
	for name, content := range parts {
		for _, text := range hidden {
			if bytes.Contains(content, []byte(text)) || bytes.Contains(content, []byte(hex.EncodeToString([]byte(text)))) {
				t.Errorf("%s contains %q", name, text)
			}
		}
	}
}

// Without the key of the file, nothing is imported. Without the master key of a secret, nothing is exported.
func TestTransferNeedsKeys(t *testing.T) {
	t.Parallel()
	from, to := dbtest.New(t), dbtest.New(t)
	fillSecrets(t, from, options.Box)
	file, _ := export(t, from, "acc_1", options)
	for what, c := range map[string]struct {
		key  secret.Key
		want string
	}{
		"another one-time key": {secret.NewKey(), "not the one-time key of the file"},
		"none":                 {secret.Key{}, "one-time key of the file is missing"},
	} {
		o := options
		o.Secret = c.key
		_, err := Import(t.Context(), to, bytes.NewReader(file), o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %s, the import returned %v", what, err)
		}
		if n := dbtest.Count(t, to, `SELECT count(*) FROM accounts WHERE id = 'acc_1'`); n != 0 {
			t.Errorf("with %s, the import created the account", what)
		}
	}
	o := options
	o.Box = transfertest.NewBox()
	if _, err := Export(t.Context(), from, "acc_1", io.Discard, o); !errors.Is(err, secret.ErrUnknownKey) {
		t.Errorf("with another master key, the export returned %v, want %v", err, secret.ErrUnknownKey)
	}
}
