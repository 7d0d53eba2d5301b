package delivery

import (
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/mail/returnpath"
)

// All attempts for a recipient use the envelope sender of the first, because greylisting compares it. Its
// host belongs to the sender's domain.
func TestReturnPathKeepsTheDayOfAcceptance(t *testing.T) {
	t.Parallel()
	paths, err := returnpath.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{returnPaths: paths}
	d := Job{emailID: "msg_01kabm5yq3e0tv2w6z9j7r4d5c", recipientID: 7, age: 71 * time.Hour}
	accepted := time.Now().Add(-d.age)
	for _, domain := range []string{"example.com", "sandbox.postrider.example"} {
		address, err := s.returnPath(d, domains.SigningIdentity{Domain: domain})
		if err != nil || !strings.HasSuffix(address, "@rp."+domain) {
			t.Fatalf("the return path is %s, %v, want an address at rp.%s", address, err, domain)
		}
		got, err := paths.Parse(address, time.Now())
		want := returnpath.Mark{EmailID: d.emailID, RecipientID: d.recipientID, Issued: accepted.UTC().
			Truncate(24 * time.Hour)}
		if err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	if address, err := s.returnPath(Job{emailID: "gone"}, domains.SigningIdentity{Domain: "example.com"}); err == nil {
		t.Errorf("a job without an email has the return path %s, want an error", address)
	}
}
