package proof_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/automations/proof"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

const (
	account = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	other   = "acc_01kf0m4w7he6x8q2v5b3n9c1tz"
	run     = "run_01kf0m4w7he6x8q2v5b3n9c1ta"
)

func newProver(t *testing.T, keys ...secret.Key) *proof.Prover {
	t.Helper()
	box, err := secret.NewBox(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return proof.New(box)
}

func TestCauseDepth(t *testing.T) {
	t.Parallel()
	old, fresh := secret.NewKey(), secret.NewKey()
	cause := newProver(t, old).Cause(account, run, 3)
	for name, p := range map[string]*proof.Prover{"the same key": newProver(t, old),
		"a rotated key": newProver(t, fresh, old)} {
		if depth, err := p.Depth(account, cause); err != nil || depth != 4 {
			t.Errorf("%s: a cause of depth 3 returned %d (%v), want 4", name, depth, err)
		}
	}
	for name, wrong := range map[string]string{
		"empty": "", "dots": "..", "no signature": run + ".3.", "another depth": strings.Replace(cause, ".3.", ".0.", 1),
		"no run":           strings.TrimPrefix(cause, "run_"),
		"a negative depth": strings.Replace(cause, ".3.", ".-3.", 1), "cut": cause[:len(cause)-1],
	} {
		if depth, err := newProver(t, old).Depth(account, wrong); err == nil {
			t.Errorf("%s: %q was accepted as a cause of depth %d", name, wrong, depth)
		}
	}
	if _, err := newProver(t, old).Depth(other, cause); err == nil {
		t.Error("the cause of one account was accepted from another")
	}
	if _, err := newProver(t, fresh).Depth(account, cause); err == nil {
		t.Error("a cause of another installation was accepted")
	}
}

func TestSignsWithAccountSecret(t *testing.T) {
	t.Parallel()
	old, fresh := secret.NewKey(), secret.NewKey()
	body, now := []byte(`{"a":1}`), time.Now()
	signed := http.Header{}
	newProver(t, fresh, old).Sign(signed, account, "run_1/step", now, body)
	header := signed.Get(webhooksig.Header)
	earlier := strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(newProver(t, fresh).Secret(account).Reveal())
	if err := webhooksig.Verify(earlier, header, body, now); err != nil {
		t.Errorf("with the earlier form of the secret: %v", err)
	}
	for name, key := range map[string]secret.Key{"the old key": old, "the new key": fresh} {
		if err := webhooksig.Verify(newProver(t, key).Secret(account).Reveal(), header, body, now); err != nil {
			t.Errorf("with the secret of %s: %v", name, err)
		}
	}
	if err := webhooksig.Verify(newProver(t, fresh).Secret(other).Reveal(), header, body, now); err == nil {
		t.Error("the secret of another account was accepted")
	}
}

func FuzzDepth(f *testing.F) {
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		f.Fatal(err)
	}
	p := proof.New(box)
	cause := p.Cause(account, run, 3)
	f.Add(cause)
	f.Add(run + ".1.x")
	f.Fuzz(func(t *testing.T, text string) {
		if depth, err := p.Depth(account, text); err == nil && text != cause {
			t.Errorf("%q was accepted as a cause of depth %d", text, depth)
		}
	})
}
