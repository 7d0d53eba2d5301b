package bounces

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

// Once DNS names the target, reports about emails that the source has sent arrive there. It asks the source, once for
// each report, which of its recipients a return path is for.
func TestReportsArriveAtTarget(t *testing.T) {
	t.Parallel()
	source, target := newWorldWith(t, 7), newWorldWith(t, 8)
	if rcpt, _ := target.talk(t, source.path, ""); !errors.Is(rcpt, replyUnknown) {
		t.Errorf("before the move, the target replied %v, want %v", rcpt, replyUnknown)
	}
	source.side.Move(t, account, target.side)
	if rcpt, stored := target.talk(t, source.path, dsnOf(1)); rcpt != nil || stored != nil {
		t.Fatalf("got the replies %v, %v", rcpt, stored)
	}
	if rows := target.reports(t); len(rows) != 1 || !rows[0].Effective || rows[0].RecipientID != 8 {
		t.Errorf("the target has the reports %+v, want one with an effect", rows)
	}
	forged := strings.Replace(source.path, "@rp.dev.test", "@rp.other.test", 1)
	if rcpt, _ := target.talk(t, forged, ""); !errors.Is(rcpt, replyUnknown) {
		t.Errorf("a forged return path got the reply %v, want %v", rcpt, replyUnknown)
	}
	if n := source.side.Asked.Load(); n != 2 {
		t.Errorf("the source received %d questions, want 2", n)
	}
	if rcpt, stored := target.talk(t, target.path, dsnOf(2)); rcpt != nil || stored != nil || source.side.Asked.Load() != 2 {
		t.Errorf("a return path of the target: %v, %v", rcpt, stored)
	}
	source.side.Close()
	var reply *smtpserver.Reply // the listener replies 451 to other errors
	if rcpt, _ := target.talk(t, source.path, ""); rcpt == nil || errors.As(rcpt, &reply) {
		t.Errorf("while the source does not respond, the reply is %v, want a temporary error", rcpt)
	}
}

// Strangers cannot cause questions without the ID of an email of the account.
func TestUnknownEmailsCauseNoQuestions(t *testing.T) {
	t.Parallel()
	source, target := newWorld(t), newWorld(t)
	source.side.Move(t, account, target.side)
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	paths, err := returnpath.New(box.Derive("return path"))
	if err != nil {
		t.Fatal(err)
	}
	path, err := paths.Address(Mark{EmailID: "msg_01kf0m4w7he6x8q2v5b3n9c1tz", RecipientID: 7}, "dev.test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if rcpt, _ := target.talk(t, path, ""); !errors.Is(rcpt, replyUnknown) || source.side.Asked.Load() != 0 {
		t.Errorf("the reply is %v after %d questions, want %v without a question", rcpt, source.side.Asked.Load(), replyUnknown)
	}
}

// The recipients of an account that has returned have other numbers than in the return paths of earlier emails.
func TestReportsAfterReturn(t *testing.T) {
	t.Parallel()
	here, away := newWorldWith(t, 7), newWorldWith(t, 8)
	here.side.Move(t, account, away.side)
	away.side.Move(t, account, here.side)
	here.mail.number = 9
	for what, path := range map[string]string{"before it left": here.path, "while it was away": away.path} {
		mark, err := here.MarkOf(t.Context(), path)
		if err != nil || mark.EmailID != about || mark.RecipientID != 9 {
			t.Errorf("a return path from %s is for %+v (%v), want recipient 9", what, mark, err)
		}
	}
	here.mail.others = 1
	if _, err := here.MarkOf(t.Context(), here.path); !errors.Is(err, ErrGone) {
		t.Errorf("a return path of an email with several recipients returned %v, want %v", err, ErrGone)
	}
}
