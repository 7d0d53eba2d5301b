package rules_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/ent/signinlink"
)

// tokenSources are the places that create tokens, each with its rows in docs/tokens.md. A place that creates
// something else is described after a dash.
var tokenSources = map[string][]string{
	// secret.NewToken and rand.Text, by file
	"modules/accounts/secret.go":           {"API key"},
	"modules/accounts/operatorkey.go":      {"Operator key"},
	"modules/accounts/moves/move.go":       {"Move code"},
	"modules/relay/password.go":            {"SMTP credential"},
	"modules/webhooks/endpoint.go":         {"Webhook signing secret"},
	"modules/webhooks/change.go":           {"Webhook signing secret"},
	"modules/signin/totp.go":               {"Recovery code", "Code of the authenticator app", "Secret of a new authenticator app"},
	"modules/signin/password.go":           {"Session cookie", "Confirmation"},
	"modules/signin/session.go":            {"Session cookie"},
	"modules/signin/person.go":             {"Session cookie"},
	"modules/signin/link.go":               {"Set-up link", "Sign-in link of the operator", "Sign-in link of development mode"},
	"modules/signin/post.go":               {"Reset link", "Sign-up link", "New-address link", "Stop link", "Invitation"},
	"modules/signin/openid/state.go":       {"OpenID Connect state"},
	"modules/domains/add.go":               {"Ownership record"},
	"modules/domains/claim_verify.go":      {"Ownership record"},
	"modules/domains/signing/ring.go":      {"- the selector of a DKIM key, which is public"},
	"modules/devinbox/report.go":           {"- a Message-ID of a simulated report"},
	"modules/devinbox/tenant.go":           {"- a password that this process uses on its own connections"},
	"modules/templates/language/engine.go": {"- a mark within a render"},
	"runtime/app/development/seed.go":      {"API key", "SMTP credential"},
	"rest/pages/dashboard/dashboard.go":    {"- a nonce of the Content-Security-Policy of one answer"},
	"runtime/ops/transfer/base.go":         {"- the id of a base, which is public"},
	"runtime/ops/doctor/dns.go":            {"- a name that DNS does not have"},
	"cmd/postrider/follow/follow.go":       {"- a signing secret of one run of postrider listen"},
	"modules/signin/passkeys/party.go":     {"Passkey challenge"},
	"rest/api/sealed.go":                   {"Stored response of an Idempotency-Key"},
	"known device":                         {"Known-browser cookie"}, // purposes of derived keys from here on
	"sign-in by OpenID Connect":            {"OpenID Connect state"},
	"linkPurpose":                          {"Unsubscribe link"},
	"attachment links":                     {"Attachment link"},
	"tokenPurpose":                         {"Click and open link"},
	"sms links":                            {"Link of a text message's provider"},
	"return path":                          {"Return path"},
	"mark of account files":                {"One-time key"},
	"forwardPurpose":                       {"Signature of a forwarded report"},
	"questionPurpose":                      {"Signature of a question", "Key of a move"},
	"requests between cells":               {"Signature of a request between cells"},
	"domain-claim":                         {"Domain claim"},
	"page cursors":                         {"Page cursor"},
	"report addresses":                     {"Report address"},
	"automation webhook steps":             {"Secret of webhook steps"},
	"automation causes":                    {"Cause of an event"},
	"suppression addresses":                {"- a hash of addresses"},
	"sms numbers":                          {"- a hash of numbers"},
	"automation entries":                   {"- a hash of people"},
	"sign-in failures":                     {"- a hash of what is counted"},
	"mark of backups":                      {"- identifies the installation of a backup"},
	"webhook receiver of development mode": {"- development mode alone"},
	"purpose setup":                        {"Set-up link"}, // purposes of sign-in links from here on
	"purpose sign_up":                      {"Sign-up link"},
	"purpose reset":                        {"Reset link"},
	"purpose email":                        {"New-address link"},
	"purpose email_stop":                   {"Stop link"},
	"purpose sign_in":                      {"Sign-in link of the operator", "Sign-in link of development mode"},
	"column api_keys.hash":                 {"API key"}, // columns with the hash of a token from here on
	"column operator_keys.hash":            {"Operator key"},
	"column smtp_credentials.hash":         {"SMTP credential"},
	"column sessions.token_hash":           {"Session cookie"},
	"column sign_in_links.token_hash":      {"Reset link", "New-address link"},
	"column invitations.token_hash":        {"Invitation"},
	"column sign_in_challenges.browser":    {"OpenID Connect state", "Passkey challenge"},
}

var (
	madeToken  = regexp.MustCompile(`\b(?:secret\.NewToken|rand\.Text|webhooksig\.NewSecret)\(`)
	derivedKey = regexp.MustCompile(`\.Derive(?:Each|Latest)?\((?:ctx, [\w.]+, )?("[^"]+"|\w+)\)`)
	// Values that are returned sealed.
	sealedBack = regexp.MustCompile(`(?:EncodeToString\(box\.Seal|a\.Body = s\.box\.Seal)\(`)
	hashColumn = regexp.MustCompile(`field\.Bytes\("(hash|token_hash|browser)"\)`)
	tokenRow   = regexp.MustCompile(`(?m)^\| ([A-Z][^|]+) \|([^|]*)\|([^|]*)\|([^|]*)\|$`)
)

// Every token in the product has a row in docs/tokens.md with its lifetime and what ends it. A new place
// that creates tokens, a new derived key, a new purpose of a link or a new column of hashes fails until it
// is in tokenSources and in the document.
func TestEveryTokenIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/tokens.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, row := range tokenRow.FindAllStringSubmatch(string(text), -1) {
		name := strings.TrimSpace(row[1])
		if slices.ContainsFunc(row[2:], func(cell string) bool { return strings.TrimSpace(cell) == "" }) {
			t.Errorf("docs/tokens.md does not describe what %s allows, how long it works and what ends it", name)
		}
		rows[name] = false
	}
	if len(rows) < 20 {
		t.Fatalf("docs/tokens.md has %d tokens, want all: has the form of the table changed?", len(rows))
	}
	found := sourcesOfTokens(t)
	for source, where := range found {
		about, known := tokenSources[source]
		if !known {
			t.Errorf("%s creates a kind of token that is not in tokenSources (%s): add its lifetime and what ends it to docs/tokens.md", where, source)
		}
		for _, name := range about {
			_, listed := rows[name]
			if !listed && !strings.HasPrefix(name, "- ") {
				t.Errorf("docs/tokens.md has no row %q, for %s", name, source)
			}
			if listed {
				rows[name] = true
			}
		}
	}
	for source := range tokenSources {
		if found[source] == "" {
			t.Errorf("code no longer creates a token with %q: remove it from tokenSources", source)
		}
	}
	for name, made := range rows {
		if !made {
			t.Errorf("docs/tokens.md has %s, which no code creates", name)
		}
	}
}

// sourcesOfTokens finds the places that create tokens, by the keys of tokenSources.
func sourcesOfTokens(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, f := range sourceFiles(t, "modules", "rest", "graph", "runtime", "cmd") {
		if f.isGenerated(t) || strings.HasPrefix(f.path, "cmd/bench/") || strings.Contains(f.path, "test/") ||
			strings.HasPrefix(f.path, "runtime/base/secret/") {
			continue
		}
		code := f.readCode(t)
		if madeToken.MatchString(code) || sealedBack.MatchString(code) {
			found[f.path] = f.path
		}
		for _, key := range derivedKey.FindAllStringSubmatch(code, -1) {
			if name := strings.Trim(key[1], `"`); name != "purpose" {
				found[name] = f.path
			}
		}
	}
	for _, purpose := range []signinlink.Purpose{signinlink.PurposeSetup, signinlink.PurposeSignUp,
		signinlink.PurposeReset, signinlink.PurposeEmail, signinlink.PurposeEmailStop, signinlink.PurposeSignIn} {
		found["purpose "+string(purpose)] = "ent/schema/signinlink.go"
	}
	for _, purpose := range regexp.MustCompile(`Enum\("purpose"\)\.Values\(([^)]*)\)`).
		FindStringSubmatch(sourceFile{abs: "../../../ent/schema/signinlink.go"}.readCode(t))[1:] {
		for name := range strings.SplitSeq(purpose, ", ") {
			found["purpose "+strings.Trim(name, `"`)] = "ent/schema/signinlink.go"
		}
	}
	for _, f := range sourceFiles(t, "ent/schema") {
		entity := regexp.MustCompile(`(?m)^type (\w+) struct\{ ent\.Schema \}`).FindStringSubmatch(f.readCode(t))
		for _, column := range hashColumn.FindAllStringSubmatch(f.readCode(t), -1) {
			found["column "+tableOf(t, entity[1])+"."+column[1]] = f.path
		}
	}
	return found
}
