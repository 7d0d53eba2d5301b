package bounces

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/runtime/base/fault"
)

// A report about an account that has moved is stored where it is, once, and not here.
func TestReportsFollowMovedAccount(t *testing.T) {
	t.Parallel()
	source, target := newWorldWith(t, 7), newWorldWith(t, 8)
	source.side.Move(t, account, target.side)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = target.ReceiveForwarded(r.Context(), body, r.Header.Get(origins.SignatureHeader))
		}
		switch fault.KindOf(err) {
		case fault.NotFound:
			w.WriteHeader(http.StatusNotFound)
		case fault.Unavailable:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusNoContent)
			if err != nil {
				t.Error(err)
			}
		}
	}))
	t.Cleanup(receiver.Close)

	source.home.at.Frozen = true
	if err := source.receive(t, dsnOf(1)); !errors.Is(err, ErrMoving) {
		t.Errorf("during the move, a report returned %v, want %v", err, ErrMoving)
	}
	source.home.at = accounts.Residence{MovedTo: receiver.URL}
	target.home.at.Frozen = true // a copy that has not started
	if err := source.receive(t, dsnOf(1)); err == nil || IsRefusal(err) {
		t.Errorf("before the copy has started, a report returned %v, want a temporary error", err)
	}
	target.home.at.Frozen = false
	for range 2 { // the reporting server did not receive our reply
		if err := source.receive(t, dsnOf(1)); err != nil {
			t.Fatal(err)
		}
	}
	if rows := target.reports(t); len(rows) != 1 || !rows[0].Effective || rows[0].RecipientID != 8 || rows[0].RemoteAddr != "192.0.2.1" {
		t.Errorf("the target has the reports %v, want one with an effect", rows)
	}
	if rows := source.reports(t); len(rows) != 0 || len(source.mail.bounces) != 0 {
		t.Errorf("the source has %d reports and %d bounces, want none", len(rows), len(source.mail.bounces))
	}
	target.mail.gone = true
	if err := source.receive(t, dsnOf(2)); !errors.Is(err, ErrGone) {
		t.Errorf("a report about an email that the target has deleted returned %v, want %v", err, ErrGone)
	}
}

func TestForgedForwardIsRefused(t *testing.T) {
	t.Parallel()
	source, target := newWorld(t), newWorld(t)
	source.side.Move(t, account, target.side)
	key, err := source.origins.DeriveLatest(t.Context(), account, forwardPurpose)
	if err != nil {
		t.Fatal(err)
	}
	genuine := `{"account_id":"` + account + `","email_id":"` + about + `","recipient":"` + bob + `","remote_addr":"192.0.2.1","report":""}`
	signature := origins.Sign(key, []byte(genuine))
	looping := strings.Replace(genuine, `"report"`, `"hops":5,"report"`, 1)
	others := strings.Replace(genuine, account, other, 1)
	for name, c := range map[string]struct{ body, signature string }{
		"another body":    {strings.Replace(genuine, bob, "carol@example.net", 1), signature},
		"no signature":    {genuine, ""},
		"another key":     {genuine, origins.Sign([]byte("other"), []byte(genuine))},
		"another account": {others, origins.Sign(key, []byte(others))},
		"a loop":          {looping, origins.Sign(key, []byte(looping))},
	} {
		if err := target.ReceiveForwarded(t.Context(), []byte(c.body), c.signature); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s returned %v, want Invalid", name, err)
		}
	}
	// An account that has moved from the same source, too, has another key, and no access to this email.
	source.side.Move(t, other, target.side)
	if key, err = source.origins.DeriveLatest(t.Context(), other, forwardPurpose); err != nil {
		t.Fatal(err)
	}
	if err := target.ReceiveForwarded(t.Context(), []byte(others), origins.Sign(key, []byte(others))); fault.KindOf(err) !=
		fault.NotFound {
		t.Errorf("a report about the email of another account returned %v, want NotFound", err)
	}
	if len(target.reports(t)) != 0 {
		t.Error("a forged report was stored")
	}
}
