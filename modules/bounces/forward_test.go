package bounces

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
)

// A report about an account that has moved is stored where it is, once, and not here.
func TestReportsFollowMovedAccount(t *testing.T) {
	t.Parallel()
	source, target := newWorld(t), newWorld(t)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = target.ReceiveForwarded(r.Context(), body, r.Header.Get(SignatureHeader))
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
	if rows := target.reports(t); len(rows) != 1 || !rows[0].Effective || rows[0].RemoteAddr != "192.0.2.1" {
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
	w := newWorld(t)
	genuine := `{"email_id":"` + about + `","recipient":"` + bob + `","remote_addr":"192.0.2.1","report":""}`
	signature := sign(w.forward.keys[0], []byte(genuine))
	for name, c := range map[string]struct{ body, signature string }{
		"another body": {strings.Replace(genuine, bob, "carol@example.net", 1), signature},
		"no signature": {genuine, ""},
		"another key":  {genuine, sign([]byte("other"), []byte(genuine))},
	} {
		if err := w.ReceiveForwarded(t.Context(), []byte(c.body), c.signature); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s returned %v, want Invalid", name, err)
		}
	}
	if len(w.reports(t)) != 0 {
		t.Error("a forged report was stored")
	}
}
