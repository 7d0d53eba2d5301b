package devinbox

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"strconv"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/lane"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

// The delivery engine names the test tenant of a message by authenticating its connection: the user is the tenant, and
// the password is known only to this process. Each tenant therefore has its own connections and its own lane.

// newPassword returns the password of the sink, which lives as long as the process.
func newPassword() string { return rand.Text() }

// TestWay returns the way by which mail of a test tenant reaches the sink.
func (s *Service) TestWay(tenant string) smtpclient.Way {
	host, port, err := net.SplitHostPort(s.Addr())
	if err != nil {
		panic("devinbox: the address of a listener has no port: " + err.Error())
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		panic("devinbox: the port of a listener is not a number: " + err.Error())
	}
	// The label has no port, because recipients that wait for the lane are stored with it.
	return smtpclient.Way{Label: lane.SmarthostWay("test-mode/" + tenant), Smarthost: &smtpclient.Smarthost{Host: host,
		Port: number, Username: tenant, Password: s.sink.password, InProcess: true}}
}

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth implements smtp.AuthSession.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, tenant, password string) error {
		if subtle.ConstantTimeCompare([]byte(password), []byte(s.inbox.sink.password)) == 0 || !id.Is(id.TestTenant, tenant) {
			return smtp.ErrAuthFailed
		}
		s.tenant = tenant
		return nil
	}), nil
}
